// /docs.md: the API reference as Markdown, for programs that read documentation.

import { type AnswerOf, apiReference, type Block, type ShownExample } from './reference.ts';
import { sampleOf } from './samples.ts';

/** A bar would end the cell. */
const cellText = (text: string) => text.replaceAll('|', '\\|');

const tableText = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cellText).join(' | ')} |`).join('\n');

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
      return block.rows.length === 0
        ? []
        : [
            tableText(
              ['Parameter', 'Required', 'Default', 'Meaning'],
              block.rows.map(({ name, isRequired, default: otherwise, text }) => [
                `\`${name}\``,
                isRequired ? 'yes' : 'no',
                otherwise === null ? '' : `\`${otherwise}\``,
                text,
              ]),
            ),
          ];
    case 'table':
      return [
        tableText(
          block.head,
          block.rows.map(({ cells }) => cells),
        ),
      ];
    case 'section':
      return [...block.blocks.flatMap(renderBlock), ...block.examples.flatMap(renderExample)];
  }
}

/** The whole document, with a mark for the origin. */
export const docsMarkdown = (answerOf?: AnswerOf): string =>
  `${apiReference(answerOf).flatMap(renderBlock).join('\n\n')}\n`;
