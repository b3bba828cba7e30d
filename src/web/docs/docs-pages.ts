// Which page of the reference has what: /docs the guide, an index of the operations and the problems, and a page for each group of
// operations.

import { MAX_QUESTIONS } from '../../api/batch-operation.ts';
import type { Example } from '../../api/examples.ts';
import type { OperationBase } from '../../api/operation.ts';
import { apiReference, type Chapter, type Section } from './reference.ts';

export interface DocsPage {
  readonly path: string;
  readonly title: string;
  /** What all of its operations have in common. */
  readonly about: string;
  readonly sections: readonly Section[];
}

const GROUPS = [
  ['any', 'Both registries', 'A grant in either registry counts. Lists, history and changes can be of several chains.'],
  [
    'batches',
    'Many at once',
    `One \`POST\` with up to ${MAX_QUESTIONS.toLocaleString('en')} questions, or with many wallets. Each chain is answered as of one block.`,
  ],
  [
    'votes',
    'Votes',
    'Scores for votes, as Snapshot asks for them: everything that an owner has counts for one address.',
  ],
  ['v2', 'Registry v2', 'Registry v2 alone, as its contract answers, and who alone acts for a vault or a token.'],
  ['v1', 'Registry v1', 'Registry v1 alone, as its contract answers.'],
] as const;

export const FRONT = '/docs';
const pathOf = (name: string) => `${FRONT}/${name}`;
export const GROUP_PATHS = GROUPS.map(([name]) => pathOf(name));

function groupOf({ kind, tag }: OperationBase): string {
  if (kind === 'batch' || kind === 'wallet-batch') return 'batches';
  return kind === 'votes' ? 'votes' : tag;
}

/** The first is /docs. */
export function docsPages(chapters: readonly Chapter[]): readonly [DocsPage, ...DocsPage[]] {
  const sections = chapters.flatMap((chapter) => chapter.sections);
  const front = sections.filter(({ operation }) => operation === undefined);
  const groups = GROUPS.map(([name, title, about]) => ({
    path: pathOf(name),
    title,
    about,
    sections: sections.filter(({ operation }) => operation !== undefined && groupOf(operation) === name),
  }));
  return [{ path: FRONT, title: 'Guide', about: '', sections: front }, ...groups];
}

/** What the page at a path has an answer to. */
export const examplesAt = (path: string): readonly Example[] =>
  docsPages(apiReference())
    .filter((page) => page.path === path)
    .flatMap(({ sections }) => sections.flatMap(({ examples = [] }) => examples.map(({ example }) => example)));

/** Where a section is, as a link from a page. An operation is also found by its id. */
export function hrefOf(id: string, from: DocsPage, pages: readonly DocsPage[]): string {
  const names = [id, `operation-${id}`];
  for (const { path, sections } of pages) {
    const found = sections.find((section) => names.includes(section.id));
    if (found !== undefined) return `${path === from.path ? '' : path}#${found.id}`;
  }
  return `#${id}`;
}
