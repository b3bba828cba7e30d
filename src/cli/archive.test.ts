import { expect, test } from 'bun:test';
import { temporaryPath } from '../../test/support/engines.ts';
import { readLines } from './archive.ts';

test('reads every line of a file, also with a slow reader, and splits no character', async () => {
  const lines = Array.from({ length: 20_000 }, (_, turn) => `${turn} ${'ä€😀'.repeat(turn % 7)}`);
  for (const end of ['', '\n']) {
    const path = temporaryPath('lines.txt');
    await Bun.write(path, lines.join('\n') + end);
    const reading = readLines(path);
    await Bun.sleep(50);
    const found: string[] = [];
    for await (const line of reading) found.push(line);
    expect(found).toEqual(lines);
  }
});
