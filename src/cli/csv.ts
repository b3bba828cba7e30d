// CSV as it comes: a stream of bytes becomes batches of rows, and never more than a batch is in memory. Bytes stay what they
// are: a text has a character for each of them, whatever encoding they are in.

import { UsageError } from '../service/usage-error.ts';

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
const LONGEST_LINE = 1_000_000;
/** A quoted cell of more lines is one that somebody forgot to close. */
const MOST_LINES = 1000;
/** The UTF-8 byte order mark, which Excel and PowerShell put first. */
const BOM = '\xef\xbb\xbf';

export async function* readCsv(stream: AsyncIterable<Uint8Array>): AsyncGenerator<CsvBatch> {
  let [rest, bytes] = ['', 0];
  let rows: CsvRow[] = [];
  /** Lines of a row whose quoted cell goes on. */
  let open: string[] = [];
  let isFirst = true;

  const add = (line: string) => {
    const text = open.length === 0 ? line : `${open.join('\n')}\n${line}`;
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    const content = isFirst && whole.startsWith(BOM) ? whole.slice(BOM.length) : whole;
    const cells = content.includes('"') ? quotedCells(content) : content.split(',');
    if (cells === null) {
      open.push(line);
      if (open.length > MOST_LINES) throw new UsageError('The CSV has a quote that is never closed.');
      return;
    }
    open = [];
    isFirst = false;
    if (content !== '') rows.push({ text: whole, cells });
  };

  for await (const chunk of stream) {
    if (bytes === 0 && chunk[0] === 0xff && chunk[1] === 0xfe)
      throw new UsageError('The CSV is in UTF-16: save it as UTF-8.');
    bytes += chunk.length;
    const lines = (rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      add(line);
      if (rows.length < BATCH) continue;
      yield { rows, bytes };
      rows = [];
    }
    if (rest.length > LONGEST_LINE) throw new UsageError('The CSV has a line of more than a million characters.');
  }
  add(rest);
  if (open.length > 0) throw new UsageError('The CSV ends within a quoted cell.');
  if (rows.length > 0) yield { rows, bytes };
}

/** The cells of a row with quotes; null where one is still open. A quote counts only where a cell begins. */
function quotedCells(text: string): string[] | null {
  const cells: string[] = [];
  for (let at = 0; ; ) {
    if (text[at] === '"') {
      let end = text.indexOf('"', at + 1);
      while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
      if (end < 0) return null;
      const comma = text.indexOf(',', end);
      cells.push(text.slice(at + 1, end).replaceAll('""', '"') + text.slice(end + 1, comma < 0 ? undefined : comma));
      at = comma < 0 ? -1 : comma + 1;
    } else {
      const comma = text.indexOf(',', at);
      cells.push(text.slice(at, comma < 0 ? undefined : comma));
      at = comma < 0 ? -1 : comma + 1;
    }
    if (at < 0) return cells;
  }
}

/** A cell as it stands in a file. */
export const quoteCell = (value: string): string =>
  /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What the bytes of a cell say in UTF-8; null where they are not UTF-8. */
export function decodeCell(cell: string): string | null {
  if (!/[\x80-\xff]/.test(cell)) return cell;
  try {
    return UTF8.decode(Buffer.from(cell, 'latin1'));
  } catch {
    return null;
  }
}

/** A text of ours as one of bytes, beside those of the file. */
export const asBytes = (text: string): string => Buffer.from(text).toString('latin1');
