// What programs and language models read: /docs.md and /llms.txt.

import { EXAMPLES, type Example } from '../../api/examples.ts';
import { API_INFO } from '../../api/openapi.ts';
import { CHECKS, OPERATIONS } from '../../api/operations.ts';
import { type AnswerOf, apiReference, INTRODUCTION, parametersOf, type Section } from './reference.ts';
import { ORIGIN, sampleOf } from './samples.ts';

/** A bar would end the cell. */
const cellText = (text: string) => text.replaceAll('|', '\\|');

/** No rows are no table. */
function tableText(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cellText).join(' | ')} |`);
  return rows.length === 0 ? [] : [lines.join('\n')];
}

const PARAMETER_HEAD = ['Parameter', 'Required', 'Default', 'Meaning'];

const code = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

function renderSection({ title, paragraphs, table, examples = [], operation }: Section): readonly string[] {
  const parameters = operation === undefined ? [] : parametersOf(operation);
  const cells = parameters.map(({ name, isRequired, default: otherwise, text }) => [
    `\`${name}\``,
    isRequired ? 'yes' : 'no',
    otherwise === null ? '' : `\`${otherwise}\``,
    text,
  ]);
  return [
    ...(operation === undefined ? [`## ${title}`] : [`### ${title}`, `\`${operation.method} ${operation.path}\``]),
    ...paragraphs,
    ...tableText(table?.head ?? [], table?.rows.map((row) => row.cells) ?? []),
    ...tableText(PARAMETER_HEAD, cells),
    ...examples.flatMap(({ example, answer }) => [
      `#### ${example.summary}`,
      code('sh', sampleOf('sh', example) ?? ''),
      code('json', answer),
    ]),
  ];
}

/** /docs.md: the API reference as Markdown, with a mark for the origin. */
export function docsMarkdown(answerOf?: AnswerOf): string {
  const chapters = apiReference(answerOf).flatMap(({ title, isRegistry, sections }) => [
    ...(isRegistry ? [`## ${title}`] : []),
    ...sections.flatMap(renderSection),
  ]);
  return `${[`# ${INTRODUCTION.title}`, INTRODUCTION.text, ...chapters].join('\n\n')}\n`;
}

const RULES = [
  'Anything but a 200 means unknown, not no. A problem (`application/problem+json`) says why; retry a 429 or 503 after `Retry-After` seconds.',
  '`from` (or `vault`) is the cold wallet that granted. `to` (or `delegate`) is the hot wallet that wants to act.',
  'To decide whether a wallet may act, use a check, not a list.',
  '`X-Block-Number`, `X-Block-Hash` and `X-Block-Timestamp` name the block of an answer. `block=` and `timestamp=` ask about the past.',
  'Token ids and balances have up to 78 digits. Use `numbers=string` where JSON numbers are rounded.',
];

/** A check of the examples, as a command. */
const EXAMPLE = EXAMPLES.find(({ operation }) => operation === CHECKS.any.contract.id) as Example;

const DOCUMENTS = [
  ['API reference', '/docs.md', 'every operation with its parameters, examples and problems'],
  ['OpenAPI 3.1', '/openapi.json', 'as JSON'],
  ['OpenAPI 3.1', '/openapi.yaml', 'as YAML'],
  ['Networks', '/networks', 'the served chains, with their newest block'],
] as const;

const lines = (items: readonly string[]) => items.map((item) => `- ${item}`).join('\n');

/** /llms.txt: a short description of the service, with every operation and where to read more, and a mark for the origin. */
export const llmsText = (): string => `# ${API_INFO.title}

> ${API_INFO.summary} ${API_INFO.description}

${lines([`Paths are below ${ORIGIN}. Example: \`${sampleOf('sh', EXAMPLE)}\``, ...RULES])}

## Documents

${lines(DOCUMENTS.map(([name, path, about]) => `[${name}](${path}): ${about}`))}

## Operations

${lines(OPERATIONS.map(({ method, path, summary }) => `\`${method} ${path}\`: ${summary}`))}
`;
