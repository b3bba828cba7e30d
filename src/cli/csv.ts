// Parses a CSV byte stream into batches of rows; only one batch is in memory. Text is latin1, one character per byte, so that
// rows are written back unchanged whatever their encoding.

import { UsageError } from '../service/terminal.ts';

export interface CsvRow {
  /** The row as in the file, without its line ending. */
  readonly text: string;
  readonly cells: readonly string[];
}

const ROWS_PER_BATCH = 2048;
const MAX_LINE_LENGTH = 1_000_000;
/** A quoted cell with more lines is assumed to miss its closing quote. */
const MAX_CELL_LINES = 1000;
/** The UTF-8 byte order mark, which Excel and PowerShell write. */
const BOM = '\xef\xbb\xbf';

export async function* readCsv(stream: AsyncIterable<Uint8Array>) {
  let rest = '';
  /** Read so far. */
  let bytes = 0;
  let rows: CsvRow[] = [];
  /** Lines of a row whose quoted cell is not closed yet. */
  let open: string[] = [];
  let isFirst = true;
  /** A comma, a semicolon or a tab: what separates the names in the first row. */
  let separator = ',';

  const add = (line: string) => {
    const text = open.length === 0 ? line : `${open.join('\n')}\n${line}`;
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    const content = isFirst && whole.startsWith(BOM) ? whole.slice(BOM.length) : whole;
    if (isFirst) separator = separatorOf(content);
    const cells = content.includes('"') ? quotedCells(content, separator) : content.split(separator);
    if (cells === null) {
      open.push(line);
      if (open.length > MAX_CELL_LINES) throw new UsageError('Invalid CSV: a quoted cell is never closed.');
      return;
    }
    open = [];
    isFirst = false;
    if (content !== '') rows.push({ text: whole, cells });
  };

  for await (const chunk of stream) {
    if (bytes === 0 && chunk[0] === 0xff && chunk[1] === 0xfe)
      throw new UsageError('The CSV is encoded as UTF-16. Save it as UTF-8.');
    bytes += chunk.length;
    const lines = (rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      add(line);
      if (rows.length < ROWS_PER_BATCH) continue;
      yield { rows, separator, bytes };
      rows = [];
    }
    if (rest.length > MAX_LINE_LENGTH) throw new UsageError('Invalid CSV: a line is longer than 1,000,000 characters.');
  }
  add(rest);
  if (open.length > 0) throw new UsageError('Invalid CSV: the file ends inside a quoted cell.');
  if (rows.length > 0) yield { rows, separator, bytes };
}

/** Null if the last cell is not closed yet. A quote has a meaning only at the start of a cell. */
function quotedCells(text: string, separator: string): string[] | null {
  const cells: string[] = [];
  for (let at = 0; ; ) {
    let quoted = '';
    if (text[at] === '"') {
      let end = text.indexOf('"', at + 1);
      while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
      if (end < 0) return null;
      quoted = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
    }
    const next = text.indexOf(separator, at);
    cells.push(quoted + text.slice(at, next < 0 ? undefined : next));
    if (next < 0) return cells;
    at = next + 1;
  }
}

/** Spreadsheets write semicolons where a comma separates decimals. Names of columns contain none of the three. */
const separatorOf = (names: string): string => [',', ';', '\t'].find((one) => names.includes(one)) ?? ',';

/** Quotes a cell if it needs it. */
export const quoteCell = (value: string): string =>
  /[",;\t\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes the bytes of a cell as UTF-8; null if they are not valid UTF-8. */
export function decodeCell(cell: string): string | null {
  if (!/[\x80-\xff]/.test(cell)) return cell;
  try {
    return UTF8.decode(Buffer.from(cell, 'latin1'));
  } catch {
    return null;
  }
}

/** Encodes text as UTF-8 in the one-character-per-byte form. */
export const asBytes = (text: string): string => Buffer.from(text).toString('latin1');
