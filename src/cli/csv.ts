// CSV as it comes: a stream of bytes becomes batches of rows, and never more than a batch is in memory.

import { UsageError } from './command.ts';

export interface CsvRow {
  /** As it stood in the file, without the end of the line. */
  readonly text: string;
  readonly cells: readonly string[];
}

export interface CsvBatch {
  readonly rows: readonly CsvRow[];
  /** Bytes of the file that were read so far. */
  readonly bytes: number;
}

const BATCH = 2048;
/** A line that is longer is no line: somebody forgot to close a quote. */
const LONGEST_ROW = 1_000_000;

export async function* readCsv(stream: AsyncIterable<Uint8Array>): AsyncGenerator<CsvBatch> {
  const decoder = new TextDecoder();
  let [rest, bytes] = ['', 0];
  let rows: CsvRow[] = [];
  /** Lines of a row whose quoted cell goes on. */
  let open: string[] = [];
  let openLength = 0;

  const add = (line: string) => {
    const turns = hasOddQuotes(line);
    if (open.length === 0 && !turns) return addRow(rows, line);
    open.push(line);
    openLength += line.length + 1;
    if (openLength > LONGEST_ROW) throw new UsageError('The CSV has a quote that is never closed.');
    if (open.length === 1 || !turns) return;
    addRow(rows, open.join('\n'));
    [open, openLength] = [[], 0];
  };

  for await (const chunk of stream) {
    bytes += chunk.length;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      add(line);
      if (rows.length < BATCH) continue;
      yield { rows, bytes };
      rows = [];
    }
    if (rest.length > LONGEST_ROW) throw new UsageError('The CSV has a line of more than a million characters.');
  }
  add(rest + decoder.decode());
  if (open.length > 0) throw new UsageError('The CSV ends within a quoted cell.');
  if (rows.length > 0) yield { rows, bytes };
}

const hasOddQuotes = (line: string) => line.includes('"') && (line.split('"').length - 1) % 2 === 1;

function addRow(rows: CsvRow[], line: string): void {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (text !== '') rows.push({ text, cells: text.includes('"') ? quotedCells(text) : text.split(',') });
}

const CELL = /(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g;

function quotedCells(text: string): string[] {
  return [...text.matchAll(CELL)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
}

/** A cell as it stands in a file. */
export const cellOf = (value: string): string => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
