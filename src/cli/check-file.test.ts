// check --csv gives the same answers as single checks, all at one block.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { ENGINES, temporaryPath } from '../../test/support/engines.ts';
import { address, block, COLD, CONTRACT, granted, HOT, timeOf } from '../../test/support/fixtures.ts';
import { PROGRAM, runCommand } from '../../test/support/serve-process.ts';
import { admissionOf, appOf, serving } from '../../test/support/serving.ts';
import type { RunningServer } from '../http/server/listener.ts';
import type { Bytes32 } from '../registry/delegation.ts';
import { rightsOf } from '../registry/rights.ts';
import { openStore } from '../store/open.ts';
import type { BlockInput, Store } from '../store/store.ts';

const rights = (text: string) => rightsOf(text) as Bytes32;
const PAIR = `${COLD},${HOT}`;
/** Rights with UTF-8 sequences of every length; the last byte of à is a space in latin1. */
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
  describe(`check --csv equals single checks, on ${engine.name}`, () => {
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
    });
    afterAll(async () => {
      await served.stop();
      await store.close();
    });

    const onStore = (...args: string[]) => runCommand(['check', ...args, '--block', '102'], { DATABASE_URL: url });
    const onService = (...args: string[]) => runCommand(['check', ...args, '--block', '102', '--url', served.url]);
    const sources = [['a store', onStore] as const, ['a service', onService] as const];

    // A service asks its store in the same way on both engines.
    for (const [source, check] of engine === ENGINES[0] ? sources : sources.slice(0, 1)) {
      test(`a v1 check on a chain without v1 is an error of its row, from ${source}`, async () => {
        const single = await check('--from', COLD, '--to', HOT, '--v1', '--chain', '8453');
        expect([single.code, single.stderr]).toEqual([2, '--chain 8453 has no v1 registry\n']);
        const why = 'chainId 8453 has no v1 registry';
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
      });

      test(`a cell that is too long is an error of its row, and a column check is copied, from ${source}`, async () => {
        const rows = `from,to,check,tokenId\n${PAIR},mine,\n${PAIR},mine,${'1'.repeat(5000)}\n${PAIR},,\n`;
        const { code, stdout, stderr } = await check('--csv', fileOf(rows), '--rights', 'vote');
        expect([code, answersOf(stdout)]).toEqual([
          2,
          [
            ['true', ''],
            ['', 'tokenId is too long'],
            ['true', ''],
          ],
        ]);
        expect(stderr).toContain('Columns copied unchanged: check\n');
      });

      test(`both registries can be checked, by option and by column, from ${source}`, async () => {
        // A v1 grant has no right, and counts for every right.
        const single = await check('--from', COLD, '--to', HOT, '--any', '--rights', 'mint');
        expect([single.code, single.stdout]).toEqual([0, expect.stringContaining('  v1 ALL, since block 101')]);
        const rows = `from,to,version,type,contract,rights\n${PAIR},any,,,\n${PAIR},2,,,\n${PAIR},ANY,erc20,${CONTRACT},\n`;
        const byColumn = await check('--csv', fileOf(rows));
        const unlimited = String(2n ** 256n - 1n);
        expect([byColumn.code, answersOf(byColumn.stdout)]).toEqual([
          0,
          [
            ['true', ''],
            ['false', ''],
            [unlimited, ''],
          ],
        ]);
        for (const args of [[], ['--rights', 'mint']]) {
          const byOption = await check('--csv', fileOf(`from,to\n${PAIR}\n${HOT},${COLD}\n`), '--any', ...args);
          expect([byOption.code, answersOf(byOption.stdout)]).toEqual([
            0,
            [
              ['true', ''],
              ['false', ''],
            ],
          ]);
        }
        const both = await check('--csv', fileOf(`from,to\n${PAIR}\n`), '--any', '--v1');
        expect([both.code, both.stderr]).toEqual([2, '--any and --v1 cannot be combined.\n']);
      });

      test(`rights in any script equal those of a single check, as column and as option, from ${source}`, async () => {
        const column = await check(
          '--csv',
          fileOf(`from,to,rights\n${TEXTS.map((text) => `${PAIR}, ${text} \n`).join('')}`),
        );
        expect([column.code, answersOf(column.stdout)]).toEqual([0, TEXTS.map(() => ['true', ''])]);
        for (const text of TEXTS) {
          expect([text, (await check('--from', COLD, '--to', HOT, '--rights', text)).code]).toEqual([text, 0]);
          const option = await check('--csv', fileOf(`from,to\n${PAIR}\n`), '--rights', text);
          expect([text, option.code, answersOf(option.stdout)]).toEqual([text, 0, [['true', '']]]);
        }
        const typed = await check('--csv', fileOf(`from,to,type\n${PAIR},all\n`), '--rights', TEXTS[1] as string);
        expect([typed.code, answersOf(typed.stdout)]).toEqual([0, [['true', '']]]);
      });

      test(`invalid UTF-8 is an error of its row, and errors quote the input unchanged, from ${source}`, async () => {
        const latin1 = Buffer.from(`from,to,rights\n${PAIR},\xe9\n`, 'latin1');
        const { code, stdout } = await check('--csv', fileOf(latin1));
        expect([code, answersOf(stdout)]).toEqual([2, [['', 'rights is not valid UTF-8']]]);
        const odd = await check('--csv', fileOf(`from,to,version,größe\n${PAIR},zwölf,1\n`));
        expect(odd.stdout).toContain(',"version must be 1, 2 or any, got zwölf"\n');
        expect(odd.stderr).toContain('Columns copied unchanged: größe');
      });

      test(`hex rights are case-insensitive, and invalid ones are an error, from ${source}`, async () => {
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
        expect(single.stderr).toContain(
          'rights must be a bytes32 (0x and 64 hex digits) or a text such as text:vote, not "0x1234"',
        );
        for (const rows of [`from,to\n${PAIR}\n`, `from,to,rights\n${PAIR},vote\n`]) {
          const bad = await check('--csv', fileOf(rows), '--rights', '0x1234');
          expect([bad.code, bad.stdout, bad.stderr]).toEqual([2, '', single.stderr]);
        }
      });
    }

    test('semicolons and tabs separate too, and columns may have plain names', async () => {
      for (const separator of [';', '\t']) {
        const line = (...cells: string[]) => `${cells.join(separator)}\n`;
        const file = fileOf(
          line('Hot', 'note', 'Cold') + line(HOT, '"a;b\tc"', COLD) + line('0x12', 'x', COLD) + line(HOT, '1,5', COLD),
        );
        const args = ['check', '--csv', file, '--block', '102', '--rights', 'vote'];
        const { code, stdout } = await runCommand(args, { DATABASE_URL: url });
        const [names, ...rows] = stdout.split('\n');
        expect([code, names]).toEqual([2, ['Hot', 'note', 'Cold', 'result', 'error'].join(separator)]);
        expect(rows[0]).toBe([HOT, '"a;b\tc"', COLD, 'true', ''].join(separator));
        expect(rows[1]).toContain('to must be an address');
        expect(rows[2]).toBe([HOT, '1,5', COLD, 'true', ''].join(separator));
      }
    });

    test('a byte order mark before a quoted header is ignored', async () => {
      const file = fileOf(`\ufeff"from","to"\r\n"${COLD}","${HOT}"\r\n`);
      const { code, stdout } = await runCommand(['check', '--csv', file, '--block', '102', '--rights', 'vote'], {
        DATABASE_URL: url,
      });
      expect([code, stdout]).toEqual([0, `"from","to",result,error\n"${COLD}","${HOT}",true,\n`]);
    });
  });

  /** Direct checks of a store use the machine's clock. */
  const NOW = Math.floor(Date.now() / 1000);
  const now = (...args: Parameters<typeof block>): BlockInput => ({ ...block(...args), timestamp: NOW });

  describe(`a reorg during check --csv, on ${engine.name}`, () => {
    /** A grant for every row in the head, block 102, and a way to go on from there. */
    async function growing(hots: readonly `0x${string}`[], { before = [now(100), now(101)] } = {}) {
      const url = await engine.fresh();
      const store = await openStore(url);
      const { epoch } = await store.claim(1, 100);
      const tip = now(
        102,
        hots.map((to) => granted('ALL', { to })),
      );
      let state = await store.apply({ chainId: 1, epoch, after: null, blocks: [...before, tip], head: tip });
      const grow = async (blocks: readonly BlockInput[], more: { rollbackTo?: number; verified?: number } = {}) => {
        const head = blocks.at(-1) as BlockInput;
        state = await store.apply({ chainId: 1, epoch, after: state.head, blocks, head, ...more });
      };
      return { url, store, grow };
    }

    /** Checks the wallets over HTTP, and does something to the chain before one of the requests. */
    async function checkDuring(
      { store }: { store: Store },
      hots: readonly string[],
      { at, change, args = [] }: { at?: string; change: () => Promise<unknown>; args?: string[] },
    ) {
      const app = appOf(store, NOW);
      const requests: Record<string, number> = {};
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        async fetch(request) {
          const turn = (requests[request.method] ?? 0) + 1;
          requests[request.method] = turn;
          if (`${request.method} ${turn}` === at) await change();
          return app.fetch(request);
        },
      });
      const file = fileOf(`from,to\n${hots.map((hot) => `${COLD},${hot}\n`).join('')}`);
      const done = await runCommand(['check', '--csv', file, '--url', String(server.url), ...args]);
      await server.stop(true);
      await store.close();
      return { ...done, answers: answersOf(done.stdout).map(([result]) => result) };
    }

    const HOTS = Array.from({ length: 3000 }, (_, turn) => address(0x1000 + turn));
    /** Batches of rows come between the request for the chosen block and the one that confirms it. */
    const MIDWAY = 'POST 2';
    const AFTER_THE_LAST_ROW = 'GET 3';
    const REORG = 'Chain 1 had a reorg at block 102 while the file was being checked.';

    test('midway stops the command: two branches are never mixed', async () => {
      const world = await growing(HOTS);
      const change = () => world.grow([now(102, [], 1)], { rollbackTo: 101 });
      const { code, stderr, answers } = await checkDuring(world, HOTS, { at: MIDWAY, change });
      expect(code).toBe(2);
      expect(answers.length).toBeLessThan(HOTS.length);
      expect(answers.filter((result) => result !== 'true')).toEqual([]);
      expect(stderr).toContain(`${REORG} Discard the output and run the command again.`);
    });

    test('that leaves no hash of the block also stops it', async () => {
      const world = await growing(HOTS);
      const change = () => world.grow([now(103, [], 1)], { rollbackTo: 101 });
      const { code, stderr } = await checkDuring(world, HOTS, { at: MIDWAY, change });
      expect([code, stderr.includes(REORG)]).toEqual([2, true]);
    });

    test('after the last row is detected', async () => {
      const world = await growing(HOTS);
      const change = () => world.grow([now(102, [], 1)], { rollbackTo: 101 });
      const { code, stderr, answers } = await checkDuring(world, HOTS, { at: AFTER_THE_LAST_ROW, change });
      expect([code, stderr.includes(REORG)]).toEqual([2, true]);
      expect(answers).toEqual(HOTS.map(() => 'true'));
    });

    test('to a lower head is also an error', async () => {
      const world = await growing(HOTS);
      const change = () => world.grow([now(101, [], 1)], { rollbackTo: 100 });
      const { code, stderr } = await checkDuring(world, HOTS, { at: AFTER_THE_LAST_ROW, change });
      expect(code).toBe(2);
      expect(stderr).toContain('Block 102 of chain 1 could not be confirmed after the last row');
      expect(stderr).toContain('Discard the output and run the command again.');
    });

    test('is not reported if the block became final and lost its stored hash', async () => {
      const world = await growing([], { before: [now(100), now(101, [granted('ALL', { to: HOT })])] });
      const change = () => world.grow([now(103)], { verified: 103 });
      const rows = HOTS.map(() => HOT);
      const { code, stderr, answers } = await checkDuring(world, rows, { at: MIDWAY, change });
      expect([code, stderr.includes('reorg')]).toEqual([0, false]);
      expect(answers).toEqual(rows.map(() => 'true'));
    });

    test('cannot be detected at a block that is neither final nor stored with its hash, so the block is rejected', async () => {
      const world = await growing([], { before: [now(100)] });
      const { code, stdout, stderr } = await checkDuring(world, HOTS, {
        change: async () => {},
        args: ['--block', '101'],
      });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('Block 101 of chain 1 is not final and the service does not know its hash');
    });

    test('is not the only way in which answers change: a repair of the block also stops it', async () => {
      for (const at of [MIDWAY, AFTER_THE_LAST_ROW]) {
        const world = await growing(HOTS);
        const change = async () => {
          const { epoch = 0 } = (await world.store.chain(1)) ?? {};
          await world.store.repair({ chainId: 1, epoch, blocks: [now(101, [granted('ALL')])] });
        };
        const { code, stderr } = await checkDuring(world, HOTS, { at, change });
        expect(code).toBe(2);
        expect(stderr).toContain(
          'History up to block 102 of chain 1 changed while the file was being checked. Discard',
        );
      }
    });

    for (const [when, more] of [
      ['midway', 3000],
      ['after the last row', 0],
    ] as const) {
      test(`${when} stops a check directly on a store`, async () => {
        const { url, store, grow } = await growing([HOT]);
        const child = Bun.spawn([...PROGRAM, 'check', '--csv', '-'], {
          env: { ...process.env, DATABASE_URL: url, MAX_LAG_1: '86400' },
          stdin: 'pipe',
          stdout: 'pipe',
          stderr: 'pipe',
        });
        // With the header, as many rows as are answered at once.
        child.stdin.write(`from,to\n${`${PAIR}\n`.repeat(2047)}`);
        await child.stdin.flush();
        const output = child.stdout.getReader();
        // The first rows are out.
        expect(new TextDecoder().decode((await output.read()).value)).toContain(`${PAIR},true,\n`);
        await grow([now(102, [], 1)], { rollbackTo: 101 });
        child.stdin.write(`${PAIR}\n`.repeat(more));
        await child.stdin.end();
        while (!(await output.read()).done);
        expect(await child.exited).toBe(2);
        const stderr = await new Response(child.stderr).text();
        expect(stderr).toContain(`${REORG} Discard the output and run the command again.`);
        await store.close();
      });
    }
  });
}

describe('a service without batches', () => {
  test('is named as the reason, and no row is answered', async () => {
    for (const status of [404, 405]) {
      const problem = { type: `/docs#problem-${status === 404 ? 'not-found' : 'method-not-allowed'}`, detail: 'No.' };
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: ({ method, url }) =>
          method === 'POST' || url.includes('/changes')
            ? Response.json(problem, { status })
            : new Response('false', { headers: { 'x-block-number': '9', 'x-block-hash': `0x${'9'.repeat(64)}` } }),
      });
      const file = fileOf(`from,to\n${PAIR}\n`);
      const { code, stdout, stderr } = await runCommand(['check', '--csv', file, '--url', String(server.url)]);
      await server.stop(true);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('The service at --url does not have POST /registry/any/check. Update the service');
    }
  });
});

describe('the rate limit of the service', () => {
  test('decides how many rows are sent at once: each counts as a request', async () => {
    const store = await openStore(`sqlite:${temporaryPath('small-batches.db')}`);
    const { epoch } = await store.claim(1, 100);
    const head = block(101, [granted('ALL')]);
    await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
    const admission = admissionOf(20, {}, 1);
    const app = appOf(store, timeOf(101), { admission });
    let [inFlight, most] = [0, 0];
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        most = Math.max(most, ++inFlight);
        // Long enough for another that does not wait for this one.
        await Bun.sleep(50);
        inFlight--;
        return app.fetch(request, () => '127.0.0.1');
      },
    });
    const file = fileOf(`from,to\n${`${PAIR}\n`.repeat(45)}`);
    const { code, stdout } = await runCommand(['check', '--csv', file, '--url', String(server.url)]);
    await server.stop(true);
    await store.close();
    expect([code, answersOf(stdout)]).toEqual([0, Array.from({ length: 45 }, () => ['true', ''])]);
    // They do not take the limit from each other.
    expect(most).toBe(1);
  });

  test('is waited for, also by the first and the last request', async () => {
    const store = await openStore(`sqlite:${temporaryPath('limited.db')}`);
    const { epoch } = await store.claim(1, 100);
    const head = block(101, [granted('ALL')]);
    await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
    const app = appOf(store, timeOf(101));
    let requests = 0;
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      // Every second request exceeds the limit.
      fetch: (request) =>
        ++requests % 2 === 1
          ? new Response(null, { status: 429, headers: { 'retry-after': '1' } })
          : app.fetch(request),
    });
    const file = fileOf(`from,to\n${PAIR}\n`);
    const { code, stdout } = await runCommand(['check', '--csv', file, '--url', String(server.url)]);
    await server.stop(true);
    await store.close();
    expect([code, stdout, requests]).toEqual([0, `from,to,result,error\n${PAIR},true,\n`, 10]);
  });
});
