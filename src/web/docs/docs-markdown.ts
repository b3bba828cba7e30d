// /docs.md: the API reference as Markdown, for programs that read documentation.

import { type AnswerOf, apiReference, type Block, type Parameter, type Row, type ShownExample } from './reference.ts';
import { sampleOf } from './samples.ts';

/** A bar would end the cell. */
const cellText = (text: string) => text.replaceAll('|', '\\|');

const tableText = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cellText).join(' | ')} |`).join('\n');

const PARAMETER_HEAD = ['Parameter', 'Required', 'Default', 'Meaning'];
const parameterCells = ({ name, isRequired, default: otherwise, text }: Parameter) => [
  `\`${name}\``,
  isRequired ? 'yes' : 'no',
  otherwise === null ? '' : `\`${otherwise}\``,
  text,
];

const cellsOf = ({ cells }: Row) => cells;

const code = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

const renderExample = ({ example, answer }: ShownExample): readonly string[] => [
  `#### ${example.summary}`,
  code('sh', sampleOf('sh', example) ?? ''),
  code('json', answer),
];

function renderBlock(block: Block): readonly string[] {
  switch (block.kind) {
    case 'heading':
      return [`${'#'.repeat(block.level)} ${block.text}`];
    case 'paragraph':
      return [block.text];
    case 'path':
      return [`\`${block.method} ${block.path}\``];
    case 'parameters':
      return block.rows.length === 0 ? [] : [tableText(PARAMETER_HEAD, block.rows.map(parameterCells))];
    case 'table':
      return [tableText(block.head, block.rows.map(cellsOf))];
    case 'section':
      return [...block.blocks.flatMap(renderBlock), ...block.examples.flatMap(renderExample)];
  }
}

/** The whole document, with a mark for the origin. */
export const docsMarkdown = (answerOf?: AnswerOf): string =>
  `${apiReference(answerOf).flatMap(renderBlock).join('\n\n')}\n`;
