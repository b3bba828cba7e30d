// The querying commands as people and scripts use them: on a database and on a service.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { address, block, COLD, CONTRACT, ended, granted, HOT } from '../../test/support/fixtures.ts';
import { createRandom } from '../../test/support/random.ts';
import { PROGRAM, runCommand, type ServeProcess, startServe } from '../../test/support/serve-process.ts';
import { answer, type Question } from '../registry/check.ts';
import { checksummed } from '../registry/checksum.ts';
import { NO_RIGHTS } from '../registry/delegation.ts';
import { openStore } from '../store/open.ts';
import { type Command, helpOf } from './command.ts';
import { COMMANDS } from './commands.ts';

const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;
const STRANGER = address(77);
const folder = mkdtempSync(join(tmpdir(), 'delegations-cli-'));
const url = `sqlite:${join(folder, 'asked.db')}`;
let served: ServeProcess;

beforeAll(async () => {
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const now = Math.floor(Date.now() / 1000);
  const blocks = [
    block(101, [granted('ALL')]),
    block(102, [granted('ERC20', { to: address(9), amount: 2n ** 200n })]),
    block(103, [granted('ERC721', { to: address(5), tokenId: 7n, rights: VOTE })]),
    block(104, [granted('ALL', { version: 1, to: address(6) })]),
    block(105, [ended('ALL')]),
    block(106, [granted('ALL')]),
  ].map((one) => ({ ...one, timestamp: now - 60 + one.number - 100 }));
  const head = blocks.at(-1) as (typeof blocks)[number];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head, verified: 105 });
  await store.close();
  served = await startServe(url, { MAX_LAG_1: '86400' });
});
afterAll(async () => {
  await served.stop();
  rmSync(folder, { recursive: true, force: true });
});

const onStore = (...args: string[]) => runCommand(args, { DATABASE_URL: url, MAX_LAG_1: '86400' });
const onService = (...args: string[]) =>
  runCommand([...args, '--url', served.url], { DATABASE_URL: 'sqlite:/nowhere/x.db' });

for (const [where, run] of [
  ['a store', onStore],
  ['a service', onService],
] as const) {
  describe(`on ${where}`, () => {
    test('a check prints yes or no and sets its exit code', async () => {
      const yes = await run('check', '--from', COLD, '--to', HOT);
      expect([yes.code, yes.stderr]).toEqual([0, '']);
      expect(yes.stdout).toMatch(/^yes \(at block 106, .*Z\)\n {2}ALL, since block 106, .*Z\n$/);
      const no = await run('check', '--from', COLD, '--to', STRANGER);
      expect([no.code, no.stderr, no.stdout.startsWith('no (at block 106')]).toEqual([1, '', true]);
      const then = await run('check', '--from', COLD, '--to', HOT, '--block', '105');
      expect([then.code, then.stdout.startsWith('no (at block 105')]).toEqual([1, true]);
    });

    test('vaults and delegates list wallets of both registries, and set their exit code', async () => {
      const found = await run('vaults', HOT);
      expect([found.code, found.stderr]).toEqual([0, '']);
      expect(found.stdout).toMatch(new RegExp(`^CHAIN .*\\n1 +${checksummed(COLD)} +v2 +ALL .* 106, `));
      expect((await run('vaults', address(6))).stdout).toContain(`${checksummed(COLD)}  v1`);
      const none = await run('vaults', STRANGER);
      expect([none.code, none.stdout]).toEqual([1, 'No vaults.\n']);
      const token = ['vaults', address(5), '--contract', CONTRACT, '--token-id', '7', '--rights', 'vote'];
      expect((await run(...token)).stdout).toMatch(/v2 +ERC721 .* 7 +vote/);
      const both = await run('delegates', COLD, '--json');
      expect(JSON.parse(both.stdout).delegates).toHaveLength(2);
      const wrong = await run('delegates', COLD, '--token-id', '7');
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--contract is required')]);
      const chain = await run('vaults', HOT, '--chain', '1,x');
      expect([chain.code, chain.stderr]).toEqual([2, expect.stringContaining('--chain must be chain ids')]);
    });

    test('history lists every grant with its end, the newest first', async () => {
      const found = await run('history', COLD);
      expect([found.code, found.stderr]).toEqual([0, '']);
      const [names, ...rows] = found.stdout.trimEnd().split('\n');
      expect(names).toMatch(/^CHAIN .* SINCE +UNTIL$/);
      expect(rows.map((row) => [...row.matchAll(/ (\d+), \S+Z/g)].map(([, number]) => number))).toEqual([
        ['106'],
        ['104'],
        ['103'],
        ['102'],
        ['101', '105'],
      ]);
      expect(rows[0]).toMatch(new RegExp(`^1 +to +${checksummed(HOT)} +v2 +ALL`));
      const json = await run('history', HOT, '--json', '--block', '105');
      const lines = json.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines).toMatchObject([{ since: { block: 101 }, until: { block: 105 } }]);
      expect((await run('history', HOT, '--direction', 'outgoing')).stdout).toBe('No grants.\n');
      expect((await run('history', STRANGER, '--json')).code).toBe(1);
      const chain = await run('history', COLD, '--chain', '137');
      expect([chain.code, chain.stderr]).toEqual([2, expect.stringContaining('137 is not served')]);
    });

    test('changes are lines of text or JSON, and continue from a cursor', async () => {
      const found = await run('changes');
      expect(found.code).toBe(0);
      const lines = found.stdout.trimEnd().split('\n');
      expect(lines.map((line) => line.split(/ {2,}/).slice(0, 3).join(' '))).toEqual([
        'began chain 1 block 101.0',
        'began chain 1 block 102.0',
        'began chain 1 block 103.0',
        'began chain 1 block 104.0',
        'ended chain 1 block 105.0',
        'began chain 1 block 106.0',
      ]);
      expect(lines[1]).toContain(`amount ${2n ** 200n}`);
      expect([lines[4]?.endsWith('not final'), lines[5]?.endsWith('not final')]).toEqual([false, true]);
      const [, cursor = ''] = /To continue: --cursor (\S+)\n$/.exec(found.stderr) ?? [];
      const rest = await run('changes', '--cursor', cursor);
      expect([rest.code, rest.stdout]).toEqual([0, '']);
      const json = await run('changes', '--json', '--final', '--to', HOT);
      const entries = json.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(entries).toMatchObject([{ type: 'began' }, { type: 'ended', final: true }, { type: 'cursor' }]);
      const next = await run('changes', '--json', '--final', '--to', HOT, '--cursor', entries[2].cursor);
      expect(next.stdout).toBe('');
      expect((await run('changes', '--start', 'head')).stdout).toBe('');
      const other = await run('changes', '--cursor', entries[2].cursor);
      expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('--cursor is not a cursor of this feed')]);
      const wrong = await run('changes', '--wallet', '0x12');
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('wallet must be an address')]);
    });

    test('every scope, rights as text, the v1 registry, and balances with every digit', async () => {
      const token = [
        'check',
        '--from',
        COLD,
        '--to',
        address(5),
        '--contract',
        CONTRACT,
        '--token-id',
        '7',
        '--type',
        'erc721',
      ];
      expect((await run(...token)).code).toBe(1);
      const vote = await run(...token, '--rights', 'vote');
      expect([vote.code, vote.stdout.split('\n')[1]?.trim().startsWith('TOKEN for vote')]).toEqual([0, true]);
      const amount = await run('check', '--from', COLD, '--to', address(9), '--contract', CONTRACT, '--type', 'erc20');
      expect([amount.code, amount.stdout.split(' ')[0]]).toEqual([0, String(2n ** 200n)]);
      expect((await run('check', '--from', COLD, '--to', address(6), '--v1')).code).toBe(0);
      expect((await run('check', '--from', COLD, '--to', address(6))).code).toBe(1);
    });

    test('--json prints JSON', async () => {
      const { stdout, code } = await run('check', '--from', COLD, '--to', HOT, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        result: true,
        block: { number: 106 },
        delegations: [{ type: 'ALL' }],
      });
    });

    test('an error is one sentence, with exit code 2 and nothing on standard output', async () => {
      for (const [args, why] of [
        [['check', '--from', COLD], '--from and --to are required'],
        [['check', '--from', '0x12', '--to', HOT], 'from must be an address'],
        [['check', '--from', COLD, '--to', HOT, '--token-id', '7'], 'erc721 or erc1155'],
        [['check', '--from', COLD, '--to', HOT, '--type', 'nft'], '--type must be one of all, contract'],
        [
          ['check', '--from', COLD, '--to', HOT, '--type', 'erc20', '--v1'],
          '--type erc20 does not exist in v1. Use one of all, contract, token',
        ],
        [
          ['check', '--from', COLD, '--to', HOT, '--type', 'all', '--contract', CONTRACT],
          '--contract is not allowed in a check of type all',
        ],
        [['check', '--from', COLD, '--to', HOT, '--block', '99'], 'from block 100 on'],
        [['check', '--from', COLD, '--to', HOT, '--chain', '137'], '137 is not served'],
        [['check', '--from', COLD, '--to', HOT, '--form', COLD], 'Unknown option: --form. Did you mean --from?'],
        [['check', '--from', COLD, '--to', HOT, '--rights', 'x'.repeat(33)], 'longer than 32 bytes'],
        [['check', '--csv', '/nowhere.csv'], 'File not found: /nowhere.csv'],
        [['list', 'nobody'], 'wallet must be an address'],
        [['list'], 'Missing argument. Usage: delegations list <wallet>'],
        [['list', COLD, HOT], 'Unexpected argument'],
      ] as const) {
        const { code, stdout, stderr } = await run(...args);
        expect([args.join(' '), code, stdout]).toEqual([args.join(' '), 2, '']);
        expect(stderr).toContain(why);
      }
    });

    test('a list is a table, or streamed JSON', async () => {
      const { stdout, code } = await run('list', checksummed(COLD));
      expect(code).toBe(0);
      expect(stdout.split('\n')[0]).toMatch(/WALLET +TYPE +CONTRACT +TOKEN +AMOUNT +RIGHTS +SINCE/);
      expect(stdout).toMatch(new RegExp(`to +${checksummed(address(5))} +ERC721 .* 7 .* vote`));
      const none = await run('list', STRANGER);
      expect([none.code, none.stdout]).toEqual([1, 'No delegations.\n']);
      const json = await run('list', COLD, '--json', '--direction', 'outgoing', '--v1');
      expect([json.code, JSON.parse(json.stdout).length]).toEqual([0, 1]);
      expect((await run('list', STRANGER, '--json')).code).toBe(1);
    });

    test('networks are a table, or JSON', async () => {
      const { stdout, code } = await run('networks');
      expect(code).toBe(0);
      expect(stdout).toMatch(/CHAIN +NAME +READY[^\n]*\n1 +Ethereum +yes +106 +105 /);
      expect(JSON.parse((await run('networks', '--json')).stdout)).toMatchObject([{ chainId: 1, ready: true }]);
    });

    test('--csv answers every row at one block, and gives a reason for each invalid row', async () => {
      const file = join(folder, `in-${where.length}.csv`);
      writeFileSync(
        file,
        [
          'id,vault,delegate,type,contract,tokenId,rights,version',
          `1,${COLD},${HOT},,,,,`,
          `2,${checksummed(COLD)},${STRANGER},all,,,,2`,
          `"3, quoted",${COLD},${address(5)},erc721,${CONTRACT},7,vote,`,
          `4,${COLD},${address(9)},erc20,${CONTRACT},,,`,
          `5,${COLD},${address(6)},,,,,v1`,
          `6,0x12,${HOT},,,,,`,
          `7,${COLD},${HOT},,,7,,`,
          '',
        ].join('\r\n'),
      );
      const { stdout, stderr, code } = await run('check', '--csv', file, '--block', '106');
      const rows = stdout.trimEnd().split('\n');
      expect(rows[0]).toBe('id,vault,delegate,type,contract,tokenId,rights,version,result,error');
      expect(rows.slice(1, 6).map((row) => row.split(',').at(-2))).toEqual([
        'true',
        'false',
        'true',
        String(2n ** 200n),
        'true',
      ]);
      expect(rows[3]?.startsWith('"3, quoted",')).toBe(true);
      expect(rows[6]).toContain('from must be an address');
      expect(rows[7]).toContain('erc721 or erc1155');
      expect([code, stderr.includes('2 of 7 rows failed')]).toEqual([2, true]);
    });
  });
}

describe('check --csv', () => {
  test('a wrong address is told before a database that is not there', async () => {
    const nowhere = { DATABASE_URL: 'sqlite:/nowhere/delegations.db' };
    for (const args of [
      ['check', '--from', '0x12', '--to', HOT],
      ['check', '--from', COLD, '--to', HOT, '--contract', '0x12'],
      ['list', '0x12'],
      ['history', '0x12'],
      ['vaults', '0x12'],
      ['changes', '--to', '0x12'],
    ]) {
      const { code, stderr } = await runCommand(args, nowhere);
      expect([args[0], code, stderr]).toEqual([args[0], 2, expect.stringContaining('must be an address')]);
      expect(stderr).not.toContain('nowhere');
    }
  });

  test('an invalid file is rejected before any output', async () => {
    const file = join(folder, 'bad.csv');
    for (const [text, why] of [
      ['', 'The CSV is empty'],
      ['wallet,other\n1,2\n', 'lacks from and to. It is: wallet,other. Name the cold wallet from'],
      ['hot,name\n1,2\n', 'lacks from. It is: hot,name.'],
      [`from,to,vault\n`, 'two columns for from'],
    ] as const) {
      writeFileSync(file, text);
      const { code, stdout, stderr } = await onStore('check', '--csv', file, '--block', '106');
      expect([text, code, stdout]).toEqual([text, 2, '']);
      expect(stderr).toContain(why);
    }
  });

  test('a store without a follower answers at a block, but not at its head', async () => {
    const file = join(folder, 'stale.csv');
    writeFileSync(file, `from,to\n${COLD},${HOT}\n`);
    const run = (...args: string[]) => runCommand(args, { DATABASE_URL: url, MAX_LAG_1: '1' });
    const now = await run('check', '--csv', file);
    expect([now.code, now.stdout]).toEqual([2, '']);
    expect(now.stderr).toContain('seconds old');
    const then = await run('check', '--csv', file, '--block', 'finalized');
    expect([then.code, then.stdout]).toEqual([0, `from,to,result,error\n${COLD},${HOT},false,\n`]);
  });

  test('columns have aliases, and a parameter that a check does not take is an error of its row', async () => {
    const file = join(folder, 'names.csv');
    const rows = [
      'From,TO,Chain ID,token-id,Contract,type,rights,version,note,constructor',
      `${COLD},${HOT},1,,,,,,é,x`,
      `${COLD},${HOT},137,,,,,,,`,
      `${COLD},${HOT},1,,${CONTRACT},all,,,,`,
      `${COLD},${HOT},1,7,${CONTRACT},contract,,,,`,
      `${COLD},${HOT},1,,,all,vote,1,,`,
      `${COLD},${HOT}`,
      `${COLD},${HOT},1,,,,,,,,,,,`,
    ];
    writeFileSync(file, rows.join('\n'));
    const { stdout, stderr, code } = await onStore('check', '--csv', file, '--block', '106');
    expect(code).toBe(2);
    expect(stderr).toContain('Columns copied unchanged: note, constructor');
    const lines = stdout.trimEnd().split('\n').slice(1);
    expect(lines[0]).toBe(`${COLD},${HOT},1,,,,,,é,x,true,`);
    const faults = [
      '137 is not served',
      'contract is not allowed',
      'token-id is not allowed',
      'rights are not supported',
    ];
    for (const [turn, fault] of faults.entries()) expect(lines[turn + 1]).toContain(fault);
    // A short row is padded, so that the answer is in its column.
    expect(lines[5]).toBe(`${COLD},${HOT}${','.repeat(8)},true,`);
    expect(lines[6]).toContain('the row has 14 cells');
  });

  test('rejects options that do not go with --csv, two points in time, and a directory', async () => {
    const file = join(folder, 'plain.csv');
    writeFileSync(file, `from,to\n${COLD},${HOT}\n`);
    for (const [args, why] of [
      [['--csv', file, '--json'], '--json cannot be combined with --csv'],
      [['--csv', file, '--from', COLD], '--from cannot be combined with --csv'],
      [['--csv', file, '--block', '1', '--time', '2026-01-01'], '--block and --time'],
      [['--csv', folder], 'is a directory'],
    ] as const) {
      const { code, stdout, stderr } = await onStore('check', ...args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(why);
    }
  });

  test('over HTTP all rows are answered at the block of the first', async () => {
    const blocks = new Set<string | null>();
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        const { pathname, search, searchParams } = new URL(request.url);
        blocks.add(searchParams.get('block'));
        const { method, headers, body } = request;
        return fetch(served.url + pathname + search, { method, headers, body });
      },
    });
    const file = join(folder, 'http.csv');
    writeFileSync(file, `from,to\n${`${COLD},${HOT}\n`.repeat(40)}`);
    const { code, stderr } = await runCommand(['check', '--csv', file, '--url', String(proxy.url)]);
    await proxy.stop(true);
    expect([code, stderr.includes('at block 106')]).toEqual([0, true]);
    expect(blocks).toEqual(new Set([null, '106']));
    const beyond = await onService('check', '--csv', file, '--block', '99999999');
    expect([beyond.code, beyond.stdout]).toEqual([2, '']);
    expect(beyond.stderr).toContain('is indexed up to block 106');
  });

  test('within a limit it says at once how long it takes, and writes rows as they come', async () => {
    const limited = await startServe(url, { MAX_LAG_1: '86400', ANONYMOUS_LIMIT: '25/1s' });
    const firstRows = Promise.withResolvers<void>();
    let answered = 0;
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      async fetch({ method, url, headers, body }) {
        const { pathname, search } = new URL(url);
        // The second batch is answered only after the rows of the first were printed.
        if (method === 'POST' && answered > 0) await firstRows.promise;
        const response = await fetch(limited.url + pathname + search, { method, headers, body });
        if (method === 'POST' && response.ok) answered++;
        return response;
      },
    });
    const file = join(folder, 'limited.csv');
    writeFileSync(file, `from,to\n${`${COLD},${HOT}\n`.repeat(90)}`);
    const child = Bun.spawn([...PROGRAM, 'check', '--csv', file, '--url', String(proxy.url)], {
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const stderr = new Response(child.stderr).text();
    let lines = 0;
    for await (const chunk of child.stdout) {
      lines += Buffer.from(chunk).toString().split('\n').length - 1;
      if (lines >= 2) firstRows.resolve();
    }
    expect([await child.exited, lines]).toEqual([0, 91]);
    expect(await stderr).toContain(
      'The service answers 25 rows in 1 s, so 1,000 rows take about 1 min. With an API key it is faster: --key.',
    );
    await proxy.stop(true);
    await limited.stop();
  });

  test('many rows come through a pipe in order, equal to single checks', async () => {
    const random = createRandom(5);
    const wallets = [COLD, HOT, STRANGER, address(5), address(6), address(9)];
    const pick = () => wallets[Math.floor(random() * wallets.length)] as `0x${string}`;
    const pairs = Array.from({ length: 10_000 }, () => [pick(), pick()] as const);
    const file = join(folder, 'many.csv');
    writeFileSync(file, `from,to\n${pairs.map((pair) => pair.join(',')).join('\n')}`);
    const { stdout, code } = await onStore('check', '--csv', file, '--block', '104');
    expect(code).toBe(0);
    const rows = stdout.trimEnd().split('\n').slice(1);
    const store = await openStore(url, { readOnly: true });
    const truths = new Map<string, string>();
    for (const [from, to] of pairs) {
      const question: Question = { version: 2, scope: 'all', from, to, rights: NO_RIGHTS };
      const known = truths.get(`${from},${to}`);
      truths.set(`${from},${to}`, known ?? String(answer(question, (await store.check(1, question, 104)).granting)));
    }
    await store.close();
    expect(rows).toEqual(pairs.map(([from, to]) => `${from},${to},${truths.get(`${from},${to}`)},`));
    expect(new Set(truths.values())).toEqual(new Set(['true', 'false']));
  });
});

describe('failures', () => {
  const one = ['check', '--from', COLD, '--to', HOT];

  test('a server that is not a delegations service is an error, never an answer', async () => {
    for (const body of ['{}', 'true', 'null', '<html>hello</html>', '{"result":"maybe"}']) {
      const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(body) });
      for (const args of [one, [...one, '--json'], ['list', COLD], ['list', COLD, '--json'], ['networks']]) {
        const { code, stdout, stderr } = await runCommand([...args, '--url', String(other.url)]);
        expect([body, args[0], code, stdout]).toEqual([body, args[0], 2, '']);
        expect(stderr).toContain('not a delegations service');
      }
      await other.stop(true);
    }
  });

  test('a service that dies while it responds is an error', async () => {
    const broken = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"result":');
          socket.flush();
          setTimeout(() => socket.terminate(), 50);
        },
      },
    });
    for (const args of [one, ['list', COLD, '--json'], ['networks']]) {
      const { code, stderr } = await runCommand([...args, '--url', `http://127.0.0.1:${broken.port}`]);
      expect([args[0], code]).toEqual([args[0], 2]);
      expect(stderr).not.toContain('Internal error');
    }
    broken.stop(true);
  });

  test('a reader that closes the pipe is not an error: the exit code is the result', async () => {
    const main = PROGRAM.join(' ');
    for (const [command, code] of [
      [`check --from ${COLD} --to ${HOT}`, 0],
      [`check --from ${HOT} --to ${COLD}`, 1],
      [`list ${COLD}`, 0],
      [`list ${COLD} --json`, 0],
      ['networks', 0],
      ['keys list', 0],
      ['completion bash', 0],
      ['--help', 0],
      // The key would be lost.
      ['keys create --label lost', 2],
    ] as const) {
      // The reader is gone before anything is written.
      const script = `sleep 0.3; ${main} ${command}; echo "$?" >&2`;
      const child = Bun.spawn(['bash', '-c', `(${script}) | true`], {
        env: { ...process.env, DATABASE_URL: url, MAX_LAG_1: '86400' },
        stderr: 'pipe',
      });
      const lines = (await new Response(child.stderr).text()).trim().split('\n');
      expect([command, Number(lines.at(-1))]).toEqual([command, code]);
    }
  });

  test('a closed pipe and a full disk are errors where the output must be complete', async () => {
    const file = join(folder, 'piped.csv');
    writeFileSync(file, `from,to\n${`${COLD},${HOT}\n`.repeat(50_000)}`);
    const main = PROGRAM.join(' ');
    for (const command of [
      `${main} check --from ${COLD} --to ${HOT} > /dev/full`,
      `${main} list ${COLD} > /dev/full`,
      `${main} networks > /dev/full`,
      `${main} export --chain 1 > /dev/full`,
      `${main} check --csv ${file} --block 106 > /dev/full`,
      `${main} check --csv ${file} --block 106 2>/dev/null | head -1 > /dev/null; exit \${PIPESTATUS[0]}`,
      `${main} export --chain 1 | true; exit \${PIPESTATUS[0]}`,
    ]) {
      const child = Bun.spawn(['bash', '-c', command], {
        env: { ...process.env, DATABASE_URL: url, MAX_LAG_1: '86400' },
        stderr: 'pipe',
        timeout: 120_000,
      });
      expect([command.replaceAll(main, 'delegations'), await child.exited]).toEqual([
        command.replaceAll(main, 'delegations'),
        2,
      ]);
      expect(await new Response(child.stderr).text()).not.toContain('Internal error');
    }
  });
});

describe('every command', () => {
  test('has help with examples', async () => {
    for (const command of COMMANDS) {
      const help = helpOf(command);
      expect(help).toStartWith(`Usage: delegations ${command.name}`);
      expect(command.examples.length).toBeGreaterThan(0);
      for (const example of command.examples) expect(help).toContain(example);
    }
    for (const words of [
      ['check', '--help'],
      ['check', '-h'],
      ['help', 'check'],
    ]) {
      const { stdout, code } = await runCommand(words);
      expect([code, stdout]).toEqual([0, helpOf(COMMANDS.find(({ name }) => name === 'check') as Command)]);
    }
  });

  test('has bash completion for its options and values', async () => {
    const script = join(folder, 'completion.bash');
    writeFileSync(script, (await runCommand(['completion', 'bash'])).stdout);
    const complete = (...words: string[]) => {
      const program = `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _delegations; echo "\${COMPREPLY[@]}"`;
      return Bun.spawnSync(['bash', '-c', program]).stdout.toString().trim();
    };
    expect(complete('delegations', 'ch')).toBe('check changes');
    expect(complete('delegations', 'changes', '--start', 'h')).toBe('head');
    expect(complete('delegations', 'check', '--tok')).toBe('--token-id');
    expect(complete('delegations', 'check', '--type', 'erc')).toBe('erc721 erc1155 erc20');
    expect(complete('delegations', 'list', '--direction', 'in')).toBe('incoming');
    expect(complete('delegations', 'keys', 'r')).toBe('revoke rotate');
    for (const shell of ['zsh', 'fish']) expect((await runCommand(['completion', shell])).stdout).toContain('token-id');
    expect((await runCommand(['completion', 'csh'])).code).toBe(2);
  });

  test('can be run from any directory with the launcher', () => {
    const launcher = join(import.meta.dir, '../../delegations');
    expect(readFileSync(launcher, 'utf8')).toStartWith('#!/bin/sh');
    const { exitCode, stdout } = Bun.spawnSync([launcher, 'check', '--help'], { cwd: folder });
    expect([exitCode, stdout.toString().startsWith('Usage: delegations check')]).toEqual([0, true]);
  });
});
