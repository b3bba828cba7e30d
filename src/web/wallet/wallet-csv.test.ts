import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { csvCell, csvRow } from './wallet-csv.ts';

test.each([
  ['vote', 'vote'],
  ['', ''],
  ['a,b', '"a,b"'],
  ['say "yes"', '"say ""yes"""'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', '"\'\t\'=1"'],
  ['a;=1', '"a;\'=1"'],
  ['a, =1', '"a,\' =1"'],
  ['a",=1', '"a"",\'=1"'],
  ['a=1-2', 'a=1-2'],
])('%p is written as %p', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

test('no cell begins like a formula, however a spreadsheet splits it', () => {
  const text = fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n,;|"\' ab') });
  fc.assert(
    fc.property(text, (value) => {
      for (const part of csvCell(value).split(/[,;|\t\r\n"]/)) expect(part).not.toMatch(/^\s*[=+\-@]/);
    }),
  );
});

test('a row ends with CR LF', () => {
  expect(csvRow(['a', 'b,c'])).toBe('a,"b,c"\r\n');
});
