// The CSV parser, with input in chunks of any size.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { asBytes, type CsvRow, quoteCell, readCsv } from './csv.ts';

async function* piecesOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function read(text: string, size = 7): Promise<CsvRow[]> {
  const rows: CsvRow[] = [];
  for await (const batch of readCsv(piecesOf(text, size))) rows.push(...batch.rows);
  return rows;
}
const cells = async (text: string) => (await read(text)).map((row) => row.cells);

describe('CSV', () => {
  test('rows with either line ending; empty lines are skipped, the last line ending is optional', async () => {
    expect(await cells('a,b\n1,2\r\n\n3,\n,4')).toEqual([
      ['a', 'b'],
      ['1', '2'],
      ['3', ''],
      ['', '4'],
    ]);
    expect(await cells('')).toEqual([]);
  });

  test('quotes, commas and line breaks inside a cell', async () => {
    expect(await cells('"a,1","say ""no""",c\n"x\ny",2,3\n')).toEqual([
      ['a,1', 'say "no"', 'c'],
      ['x\ny', '2', '3'],
    ]);
  });

  test('an empty cell before a quoted one, and quotes inside a cell are literal', async () => {
    expect(await cells(',"a","b"\n"","",c\n1,5" screen,x\n2,6" screen,y\n')).toEqual([
      ['', 'a', 'b'],
      ['', '', 'c'],
      ['1', '5" screen', 'x'],
      ['2', '6" screen', 'y'],
    ]);
  });

  test('bytes are preserved in any encoding but UTF-16', async () => {
    const bytes = new Uint8Array([0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72, 0x2c, 0x80]);
    const rows: CsvRow[] = [];
    for await (const batch of readCsv(
      (async function* () {
        yield bytes;
      })(),
    ))
      rows.push(...batch.rows);
    expect(Buffer.from(rows[0]?.text ?? '', 'latin1')).toEqual(Buffer.from(bytes));
    const wide = (async function* () {
      yield new Uint8Array([0xff, 0xfe, 0x61, 0]);
    })();
    await expect(readCsv(wide).next()).rejects.toThrow('UTF-16');
  });

  test('a byte order mark stays in the text of the first row, but not in its cells', async () => {
    for (const size of [1, 2, 100]) {
      const [names, row] = await read('\ufeff"a\n1","b"\n\ufeffx,2\n', size);
      expect(names).toEqual({ text: asBytes('\ufeff"a\n1","b"'), cells: ['a\n1', 'b'] });
      expect(row?.cells).toEqual([asBytes('\ufeffx'), '2']);
    }
    expect(await cells('\ufeff')).toEqual([]);
    expect(await cells('\ufeff\na,b')).toEqual([['a', 'b']]);
  });

  test('an unclosed quote is an error, and is not buffered without bound', async () => {
    await expect(read('a,b\n"never,closed\n1,2\n')).rejects.toThrow('inside a quoted cell');
    await expect(read(`a,b\n"${'x\n'.repeat(600_000)}`, 100_000)).rejects.toThrow('never closed');
    await expect(read('x'.repeat(2_000_000), 100_000)).rejects.toThrow('longer than 1,000,000');
  });

  test('round trip: what is written is read, in chunks of any size', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '0', ',', '"', '\n', 'é', ' ') });
    const rows = fc.array(fc.tuple(fc.constantFrom('x', 'y'), cell, cell), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 20 }), async (written, size) => {
        const text = written.map((row) => row.map(quoteCell).join(',')).join('\n');
        const found = await read(text, size);
        expect(found.map((row) => [...row.cells])).toEqual(written.map((row) => row.map(asBytes)));
        expect(found.map((row) => row.text).join('\n')).toBe(asBytes(text));
      }),
    );
  });
});
