// /docs.md: the API reference as Markdown, for programs that read documentation.

import { apiReference, type Block } from './reference.ts';

/** A bar would end the cell. */
const cellText = (text: string) => text.replaceAll('|', '\\|');

const tableText = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cellText).join(' | ')} |`).join('\n');

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
    case 'code':
      return [`\`\`\`${block.language}\n${block.text}\n\`\`\``];
    case 'form':
      return [];
    case 'section':
      return block.blocks.flatMap(renderBlock);
  }
}

/** The whole document, made once. */
export const docsMarkdown = (): string => `${apiReference().flatMap(renderBlock).join('\n\n')}\n`;
