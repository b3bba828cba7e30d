// A file of questions has the answers of single checks, and all of them of one block.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { ENGINES, temporaryPath } from '../../test/engines.ts';
import { block, COLD, granted, HOT, timeOf } from '../../test/fixtures.ts';
import { runCommand } from '../../test/serve-process.ts';
import { serving } from '../../test/serving.ts';
import type { RunningServer } from '../http/running.ts';
import type { Bytes32 } from '../registry/delegation.ts';
import { rightsOf } from '../registry/rights.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

const rights = (text: string) => rightsOf(text) as Bytes32;
const PAIR = `${COLD},${HOT}`;
/** A right of every length of UTF-8; the last byte of à is a blank of its own in other encodings. */
const TEXTS = ['vote', 'é', 'à', '投票', '🗳️'];

function fileOf(content: string | Uint8Array): string {
  const file = temporaryPath('in.csv');
  writeFileSync(file, content);
  return file;
}

/** The last two cells of each row: result and error. */
const answersOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => row.split(',').slice(-2));

for (const engine of ENGINES) {
  describe(`a file of questions as single checks have them, on ${engine.name}`, () => {
    let [url, store, served] = ['', {} as Store, {} as RunningServer];

    beforeAll(async () => {
      url = await engine.fresh();
      store = await openStore(url);
      for (const chainId of [1, 8453]) {
        const { epoch } = await store.claim(chainId, 100);
        const blocks = [
          block(101, [
            ...TEXTS.map((text) => granted('ALL', { rights: rights(text) })),
            granted('ALL', { version: 1 }),
          ]),
          block(102),
        ];
        await store.apply({ chainId, epoch, after: null, blocks, head: block(102), verified: 102 });
      }
      served = serving(store, timeOf(102), { chainIds: new Set([1, 8453]) });
    }, 60_000);
    afterAll(async () => {
      await served.stop();
      await store.close();
    });

    const sources: readonly (readonly [string, (...args: string[]) => ReturnType<typeof runCommand>])[] = [
      ['a store', (...args) => runCommand(['check', ...args, '--block', '102'], { DATABASE_URL: url })],
      ['a service', (...args) => runCommand(['check', ...args, '--block', '102', '--url', served.url])],
    ];

    for (const [source, check] of sources) {
      test(`a v1 question on a chain without that registry has an error and no answer, from ${source}`, async () => {
        const single = await check('--from', COLD, '--to', HOT, '--v1', '--chain', '8453');
        const why = single.stderr.trim();
        expect([single.code, why]).toEqual([2, 'chainId 8453 has no v1 registry']);
        const rows = `from,to,version,chainId\n${PAIR},1,8453\n${PAIR},1,1\n${PAIR},2,8453\n`;
        const byColumn = await check('--csv', fileOf(rows));
        expect(answersOf(byColumn.stdout)).toEqual([
          ['', why],
          ['true', ''],
          ['false', ''],
        ]);
        expect(byColumn.code).toBe(2);
        const byOption = await check('--csv', fileOf(`from,to\n${PAIR}\n`), '--v1', '--chain', '8453');
        expect([byOption.code, answersOf(byOption.stdout)]).toEqual([2, [['', why]]]);
      }, 30_000);

      test(`a right in any script is that of the single check, in a column and by option, from ${source}`, async () => {
        const column = await check(
          '--csv',
          fileOf(`from,to,rights\n${TEXTS.map((text) => `${PAIR}, ${text} \n`).join('')}`),
        );
        expect([column.code, answersOf(column.stdout)]).toEqual([0, TEXTS.map(() => ['true', ''])]);
        for (const text of TEXTS) {
          expect([text, (await check('--from', COLD, '--to', HOT, '--rights', text)).code]).toEqual([text, 0]);
          for (const rows of [`from,to\n${PAIR}\n`, `from,to,type\n${PAIR},all\n`]) {
            const option = await check('--csv', fileOf(rows), '--rights', text);
            expect([text, option.code, answersOf(option.stdout)]).toEqual([text, 0, [['true', '']]]);
          }
        }
      }, 60_000);

      test(`what is not UTF-8 is an error of its row, and an error shows a text as it was written, from ${source}`, async () => {
        const latin1 = Buffer.from(`from,to,rights\n${PAIR},\xe9\n`, 'latin1');
        const { code, stdout } = await check('--csv', fileOf(latin1));
        expect([code, answersOf(stdout)]).toEqual([2, [['', 'rights is not valid UTF-8']]]);
        const odd = await check('--csv', fileOf(`from,to,version,größe\n${PAIR},zwölf,1\n`));
        expect(odd.stdout).toContain(',version is neither 1 nor 2: zwölf\n');
        expect(odd.stderr).toContain('Only copied: größe.');
      }, 30_000);

      test(`rights in hex are in capitals as good as in small letters, and bad ones a usage error, from ${source}`, async () => {
        const capitals = `0x${rights('é').slice(2).toUpperCase()}`;
        for (const args of [
          ['--csv', fileOf(`from,to\n${PAIR}\n`), '--rights', capitals],
          ['--csv', fileOf(`from,to,type\n${PAIR},all\n`), '--rights', capitals],
          ['--csv', fileOf(`from,to,rights\n${PAIR},${capitals}\n`)],
        ]) {
          const { code, stdout } = await check(...args);
          expect([args, code, answersOf(stdout)]).toEqual([args, 0, [['true', '']]]);
        }
        const single = await check('--from', COLD, '--to', HOT, '--rights', '0x1234');
        expect(single.stderr).toContain('rights is not 0x and 64 hex digits: "0x1234"');
        for (const rows of [`from,to\n${PAIR}\n`, `from,to,rights\n${PAIR},vote\n`]) {
          const bad = await check('--csv', fileOf(rows), '--rights', '0x1234');
          expect([bad.code, bad.stdout, bad.stderr]).toEqual([2, '', single.stderr]);
        }
      }, 30_000);
    }

    test('a byte order mark may stand before a quoted header', async () => {
      const file = fileOf(`\ufeff"from","to"\r\n"${COLD}","${HOT}"\r\n`);
      const { code, stdout } = await runCommand(['check', '--csv', file, '--block', '102', '--rights', 'vote'], {
        DATABASE_URL: url,
      });
      expect([code, stdout]).toEqual([0, `"from","to",result,error\n"${COLD}","${HOT}",true,\n`]);
    });
  });
}
