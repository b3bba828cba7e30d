// The fenced code blocks of the documentation.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';

const ROOT = join(import.meta.dir, '../..');

/** All documentation of the repository. */
export const PAGES: readonly string[] = ['*.md', 'client/*.md', 'deploy/**/*.md', 'docs/*.md']
  .flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)])
  .sort();

export interface CodeBlock {
  readonly page: string;
  /** Of the opening fence, counted from 1. */
  readonly line: number;
  /** Empty if the fence names none. */
  readonly language: string;
  readonly text: string;
}

export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { line: number; language: string; lines: string[] } | null = null;
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    const [, language] = /^\s*```(.*)$/.exec(line) ?? [];
    if (language === undefined) open?.lines.push(line);
    else if (open === null) open = { line: index + 1, language, lines: [] };
    else {
      blocks.push({ page, line: open.line, language: open.language, text: `${open.lines.join('\n')}\n` });
      open = null;
    }
  }
  if (open !== null) throw new Error(`${page}:${open.line}: the code block has no end.`);
  return blocks;
}

/** The block of a page that contains a text. */
export function codeBlock(page: string, text: string): CodeBlock {
  const [found, ...others] = codeBlocks(page).filter((block) => block.text.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`${page} must have one code block with: ${text}`);
  return found;
}

export interface CurlExample {
  readonly command: CodeBlock;
  readonly answer: CodeBlock;
  readonly url: string;
  readonly init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string };
}

/** A block with one curl command, and the block with its answer. */
export function curlExamples(page: string): CurlExample[] {
  const blocks = codeBlocks(page);
  return blocks.flatMap((command, index) => {
    const answer = blocks[index + 1];
    if (command.language !== 'sh' || answer?.language !== 'json') return [];
    const [, , header, value, url, , body] =
      /^curl( -H '([^:]+): ([^']+)')? '([^']+)'( -H 'Content-Type: application\/json' -d '([^']+)')?\n$/.exec(
        command.text,
      ) ?? [];
    if (url === undefined) throw new Error(`${page}:${command.line}: not a single curl command.`);
    const headers: Record<string, string> = header === undefined ? {} : { [header]: value ?? '' };
    if (body === undefined) return [{ command, answer, url, init: { method: 'GET', headers } }];
    headers['Content-Type'] = 'application/json';
    return [{ command, answer, url, init: { method: 'POST', headers, body } }];
  });
}

export interface CopiedDelegation {
  readonly version: 1 | 2;
  readonly from: string;
  readonly to: string;
}

interface DocumentedCopy {
  update(url: string): Promise<void>;
  heldAt(block: number): CopiedDelegation[];
}

/** `fetch` answers the requests of the code. */
export function documentedCopy(fetch: (url: string) => Promise<Response>): DocumentedCopy {
  const { text } = codeBlock('docs/integrating.md', 'const copy = ');
  return new Function('fetch', `${text}\nreturn { update, heldAt };`)(fetch);
}
