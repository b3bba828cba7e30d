// The commands that ask, as people and scripts use them: on a store, and on a service.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { address, block, COLD, CONTRACT, ended, granted, HOT } from '../../test/fixtures.ts';
import { createRandom } from '../../test/random.ts';
import { runCommand, type ServeProcess, startServe } from '../../test/serve-process.ts';
import { checksummed } from '../http/checksum.ts';
import { answer, type Question } from '../registry/check.ts';
import { NO_RIGHTS } from '../registry/delegation.ts';
import { openStore } from '../store/open.ts';
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
}, 60_000);
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
    test('a check says yes or no, for people and by its exit code', async () => {
      const yes = await run('check', '--from', COLD, '--to', HOT);
      expect([yes.code, yes.stderr]).toEqual([0, '']);
      expect(yes.stdout).toMatch(/^yes \(at block 106, .*Z\)\n {2}ALL, since block 106, .*Z\n$/);
      const no = await run('check', '--from', COLD, '--to', STRANGER);
      expect([no.code, no.stderr, no.stdout.startsWith('no (at block 106')]).toEqual([1, '', true]);
      const then = await run('check', '--from', COLD, '--to', HOT, '--block', '105');
      expect([then.code, then.stdout.startsWith('no (at block 105')]).toEqual([1, true]);
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

    test('JSON for machines', async () => {
      const { stdout, code } = await run('check', '--from', COLD, '--to', HOT, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        result: true,
        block: { number: 106 },
        delegations: [{ type: 'ALL' }],
      });
    });

    test('trouble is told in a sentence, with exit code 2 and nothing on standard output', async () => {
      for (const [args, why] of [
        [['check', '--from', COLD], '--from and --to are needed'],
        [['check', '--from', '0x12', '--to', HOT], 'from is not an address'],
        [['check', '--from', COLD, '--to', HOT, '--token-id', '7'], 'erc721 or erc1155'],
        [['check', '--from', COLD, '--to', HOT, '--type', 'nft'], 'not one of all, contract'],
        [['check', '--from', COLD, '--to', HOT, '--type', 'erc20', '--v1'], 'v1 has all, contract, token'],
        [['check', '--from', COLD, '--to', HOT, '--block', '99'], 'from block 100 on'],
        [['check', '--from', COLD, '--to', HOT, '--chain', '137'], '137 is not served'],
        [['check', '--from', COLD, '--to', HOT, '--form', COLD], "Unknown option '--form'"],
        [['check', '--from', COLD, '--to', HOT, '--rights', 'x'.repeat(33)], 'longer than 32 bytes'],
        [['check', '--csv', '/nowhere.csv'], 'There is no file /nowhere.csv'],
        [['list', 'nobody'], 'wallet is not an address'],
        [['list'], 'list needs <wallet>'],
        [['list', COLD, HOT], 'does not take'],
      ] as const) {
        const { code, stdout, stderr } = await run(...args);
        expect([args.join(' '), code, stdout]).toEqual([args.join(' '), 2, '']);
        expect(stderr).toContain(why);
      }
    });

    test('a list is a table, or JSON as it comes', async () => {
      const { stdout, code } = await run('list', checksummed(COLD));
      expect(code).toBe(0);
      expect(stdout.split('\n')[0]).toMatch(/WALLET +WHAT +CONTRACT +TOKEN +AMOUNT +RIGHTS +SINCE/);
      expect(stdout).toMatch(new RegExp(`to +${checksummed(address(5))} +ERC721 .* 7 .* vote`));
      const none = await run('list', STRANGER);
      expect([none.code, none.stdout]).toEqual([1, 'None.\n']);
      const json = await run('list', COLD, '--json', '--direction', 'outgoing', '--v1');
      expect([json.code, JSON.parse(json.stdout).length]).toEqual([0, 1]);
      expect((await run('list', STRANGER, '--json')).code).toBe(1);
    });

    test('networks are a table, or JSON', async () => {
      const { stdout, code } = await run('networks');
      expect(code).toBe(0);
      expect(stdout).toMatch(/CHAIN +NAME +ANSWERS[^\n]*\n1 +Ethereum +yes +106 +105 /);
      expect(JSON.parse((await run('networks', '--json')).stdout)).toMatchObject([{ chainId: 1, ready: true }]);
    });

    test('a file of questions: every row answered as of one block, the faulty ones with why', async () => {
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
      expect(rows[6]).toContain('from is not an address');
      expect(rows[7]).toContain('erc721 or erc1155');
      expect([code, stderr.includes('2 of 7 rows have no answer')]).toEqual([2, true]);
    });
  });
}

describe('a file of questions', () => {
  test('what cannot be a file of questions is refused before anything is answered', async () => {
    const file = join(folder, 'bad.csv');
    for (const [text, why] of [
      ['', 'The CSV is empty'],
      ['wallet,hot\n1,2\n', 'from and to is missing in: wallet,hot'],
      [`from,to,vault\n`, 'names two columns from'],
    ] as const) {
      writeFileSync(file, text);
      const { code, stdout, stderr } = await onStore('check', '--csv', file, '--block', '106');
      expect([text, code, stdout]).toEqual([text, 2, '']);
      expect(stderr).toContain(why);
    }
  });

  test('a store that nobody follows answers for a block, and not for now', async () => {
    const file = join(folder, 'stale.csv');
    writeFileSync(file, `from,to\n${COLD},${HOT}\n`);
    const run = (...args: string[]) => runCommand(args, { DATABASE_URL: url, MAX_LAG_1: '1' });
    const now = await run('check', '--csv', file);
    expect([now.code, now.stdout]).toEqual([2, '']);
    expect(now.stderr).toContain('seconds old');
    const then = await run('check', '--csv', file, '--block', 'finalized');
    expect([then.code, then.stdout]).toEqual([0, `from,to,result,error\n${COLD},${HOT},false,\n`]);
  });

  test('many rows come through a pipe in order, each as a single check has it', async () => {
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

describe('every command', () => {
  test('has help with an example that it understands', async () => {
    for (const { name, examples } of COMMANDS) {
      const { stdout, code } = await runCommand([name, '--help']);
      expect([name, code]).toEqual([name, 0]);
      expect(stdout).toStartWith(`Usage: delegations ${name}`);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect(stdout).toContain(example);
    }
  });

  test('is completed by bash, with its options and their values', async () => {
    const script = join(folder, 'completion.bash');
    writeFileSync(script, (await runCommand(['completion', 'bash'])).stdout);
    const complete = (...words: string[]) => {
      const program = `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _delegations; echo "\${COMPREPLY[@]}"`;
      return Bun.spawnSync(['bash', '-c', program]).stdout.toString().trim();
    };
    expect(complete('delegations', 'ch')).toBe('check');
    expect(complete('delegations', 'check', '--tok')).toBe('--token-id');
    expect(complete('delegations', 'check', '--type', 'erc')).toBe('erc721 erc20 erc1155');
    expect(complete('delegations', 'list', '--direction', 'in')).toBe('incoming');
    for (const shell of ['zsh', 'fish']) expect((await runCommand(['completion', shell])).stdout).toContain('token-id');
    expect((await runCommand(['completion', 'csh'])).code).toBe(2);
  });

  test('can be called from any folder by the launcher', () => {
    const launcher = join(import.meta.dir, '../../delegations');
    expect(readFileSync(launcher, 'utf8')).toStartWith('#!/bin/sh');
    const { exitCode, stdout } = Bun.spawnSync([launcher, 'check', '--help'], { cwd: folder });
    expect([exitCode, stdout.toString().startsWith('Usage: delegations check')]).toEqual([0, true]);
  });
});
