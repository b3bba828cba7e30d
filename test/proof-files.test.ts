// Files of proofs: made by check --prove from a service on a real EVM, verified by the verify command, and refused if anything in them is
// changed. PROOF_ROWS=10000 asks more.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { encodeMulticall, type RegistryCall } from '../src/registry/registry-call.ts';
import { type Evm, startEvm } from '../src/sandbox/evm.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { fund, send } from './support/evm-wallets.ts';
import { createRandom } from './support/random.ts';
import { runCommand, type ServeProcess, startServe } from './support/serve-process.ts';
import { MAINNET } from './support/vectors.ts';

const ROWS = Number(process.env['PROOF_ROWS'] ?? 300);
const PER_TRANSACTION = 50;
const random = createRandom(12);
const randomAddress = () =>
  `0x${Array.from({ length: 40 }, () => Math.floor(random() * 16).toString(16)).join('')}` as const;
const VAULTS = Array.from({ length: Math.ceil(ROWS / PER_TRANSACTION) }, randomAddress);
const [CONTRACT, LINK, NOBODY] = [randomAddress(), randomAddress(), randomAddress()];
const FOREVER = `0x${'0'.repeat(54)}ffffffffff`;

let evm: Evm;
let served: ServeProcess;
let blockHash: string;
let database = { DATABASE_URL: '', RPC_URL_1: '', MAX_LAG_1: '' };
/** The last wallet to which each vault has granted something. */
const lastOf = new Map<string, string>();
/** Pairs of wallets: every second one has a grant. */
const pairs: (readonly [from: string, to: string, isGranted: boolean])[] = [];

beforeAll(async () => {
  // A second for each block: the newest must not be in the future.
  evm = await startEvm({ since: new Date(Date.now() - 2000 * ROWS) });
  await fund(evm.rpc, VAULTS);
  for (const from of VAULTS) {
    const hot = Array.from({ length: PER_TRANSACTION }, randomAddress);
    const calls = hot.map((to): RegistryCall => ['v2', from, 'delegateContract', [to, CONTRACT, NO_RIGHTS, true]]);
    lastOf.set(from, hot.at(-1) as string);
    const data = encodeMulticall(calls as [RegistryCall, ...RegistryCall[]]);
    await evm.rpc.call('eth_sendTransaction', [{ from, to: MAINNET.registries[2], data, gas: '0xf42400' }]);
    for (const [turn, to] of hot.entries())
      pairs.push(turn % 2 === 0 ? [from, to, true] : [from, randomAddress(), false]);
  }
  // A wallet that has revoked, so that the words of v1 depend on others.
  await send(evm.rpc, [['v1', VAULTS[0] as string, 'delegateForAll', [CONTRACT, true]]]);
  await send(evm.rpc, [['v1', VAULTS[0] as string, 'revokeAllDelegates', []]]);
  await send(evm.rpc, [['v2', VAULTS[1] as string, 'delegateAll', [LINK, FOREVER, true]]]);
  const { number, hash } = (await evm.rpc.call('eth_getBlockByNumber', ['latest', false])) as {
    number: string;
    hash: string;
  };
  blockHash = hash;
  database = { DATABASE_URL: `sqlite:${temporaryPath('proofs.db')}`, RPC_URL_1: evm.url, MAX_LAG_1: '86400' };
  served = await startServe(database.DATABASE_URL, {
    RPC_URL_1: evm.url,
    START_BLOCK_1: '0',
    FINALITY_1: '5 blocks',
    POLL_INTERVAL_1: '200',
    MAX_LAG_1: '86400',
    PROOFS: 'on',
  });
  await eventually('indexed', async () => {
    const question = `${served.url}/registry/v2/check/all?to=${CONTRACT}&from=${CONTRACT}&block=${Number(number)}`;
    return (await fetch(question)).status === 200;
  });
});
afterAll(async () => {
  await served.stop();
  await evm.stop();
});

const run = (...args: string[]) => runCommand(args, { DELEGATIONS_URL: served.url });
const verify = (path: string, ...how: string[]) =>
  run('verify', path, ...(how.length > 0 ? how : ['--block-hash', blockHash]));

function fileOf(name: string, content: string): string {
  const path = temporaryPath(name);
  writeFileSync(path, content);
  return path;
}

const lineOf = async (path: string) => JSON.parse(await Bun.file(path).text());

describe('one answer', () => {
  test.each(['--any', '--v1', null])('%s is verified offline, by a hash or by a node', async (registry) => {
    for (const [from, to, isGranted] of pairs.slice(0, 2)) {
      const options = registry === null ? [] : [registry];
      const proved = await run('check', '--from', from, '--to', to, '--contract', CONTRACT, ...options, '--prove');
      const mayAct = isGranted && registry !== '--v1';
      expect([proved.code, proved.stderr]).toEqual([mayAct ? 0 : 1, '']);
      const file = fileOf('answer.json', proved.stdout);
      for (const how of [
        ['--block-hash', blockHash],
        ['--rpc', evm.url],
      ]) {
        const { code, stdout } = await verify(file, ...how);
        expect([code, stdout]).toEqual([0, expect.stringContaining(`proven: 1 answer (${mayAct ? 1 : 0} yes)`)]);
      }
    }
  });

  test('is refuted by another hash, or if it says something else', async () => {
    const [from, to] = pairs[0] as (typeof pairs)[number];
    const proved = await run('check', '--from', from, '--to', to, '--contract', CONTRACT, '--prove');
    const file = fileOf('answer.json', proved.stdout);
    const other = await verify(file, '--block-hash', `0x${'ab'.repeat(32)}`);
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('refuted (block)')]);
    const { question, answer } = await lineOf(file);
    for (const [changed, step] of [
      [{ question, answer: { ...answer, result: false } }, 'result'],
      [{ question: { ...question, to: from }, answer }, 'storage'],
    ] as const) {
      const { code, stdout } = await verify(fileOf('changed.json', JSON.stringify(changed)));
      expect([code, stdout]).toEqual([1, expect.stringContaining(`refuted (${step})`)]);
    }
  });

  test.each([
    ['no hash', [], 'Give --block-hash or --rpc'],
    ['two', ['--block-hash', `0x${'1'.repeat(64)}`, '--rpc', 'http://127.0.0.1:1'], 'Give --block-hash or --rpc'],
    ['a short hash', ['--block-hash', '0x12'], 'must be 0x and 64 hex digits'],
    ['a node that is not there', ['--rpc', 'http://127.0.0.1:1'], 'The node at --rpc'],
  ])('with %s nothing can be said', async (_, how, message) => {
    const file = fileOf(
      'answer.json',
      JSON.stringify({ question: { chainId: 1 }, answer: { block: { hash: blockHash, number: 1 } } }),
    );
    const { code, stderr } = await run('verify', file, ...how);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('many answers', () => {
  let [bundle, rows]: [string, string[]] = ['', []];
  beforeAll(async () => {
    const csv = fileOf('pairs.csv', ['from,to', ...pairs.map(([from, to]) => `${from},${to}`)].join('\n'));
    bundle = temporaryPath('bundle.ndjson');
    const began = performance.now();
    const { code, stdout, stderr } = await run('check', '--csv', csv, '--contract', CONTRACT, '--prove', bundle);
    console.log(
      `${pairs.length} rows proven in ${((performance.now() - began) / 1000).toFixed(1)} s, ${statSync(bundle).size} bytes`,
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining('rows')]);
    const answers = stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.split(',')[2]);
    expect(answers).toEqual(pairs.map(([, , isGranted]) => String(isGranted)));
    rows = (await Bun.file(bundle).text()).trimEnd().split('\n');
  });

  test('are verified together, and share their nodes', async () => {
    const began = performance.now();
    const { code, stdout } = await verify(bundle);
    console.log(`verified in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`${Math.ceil(pairs.length / 2).toLocaleString('en')} yes)`),
    ]);
    const nodes = rows.flatMap((row) => (JSON.parse(row) as { nodes?: string[] }).nodes ?? []);
    expect([nodes.length > 100, new Set(nodes).size]).toEqual([true, nodes.length]);
  });

  test.each<[string, (rows: string[]) => string[], number, string]>([
    [
      'a result',
      (all) => all.map((row) => row.replace('"result":false', '"result":true')),
      1,
      'refuted (result): Line',
    ],
    [
      'a wallet',
      (all) => all.map((row) => row.replace(pairs[0]?.[1] as string, CONTRACT)),
      1,
      'refuted (storage): Line',
    ],
    [
      'a node',
      (all) =>
        all.map((row, at) =>
          at === 1 ? row.replace(/"nodes":\["(.)/, (_, one) => `"nodes":["${one === 'A' ? 'B' : 'A'}`) : row,
        ),
      1,
      'refuted (storage): Line',
    ],
    [
      'bytes that are no base64',
      (all) => all.map((row) => row.replace('"nodes":["', '"nodes":["!')),
      1,
      'refuted (format): Line 2',
    ],
    [
      'the header',
      (all) => all.map((row) => row.replace('"header":"0xf9', '"header":"0xf8')),
      1,
      'refuted (header): Line 1',
    ],
    [
      'the number of its block',
      (all) => all.map((row) => row.replace(/"number":(\d+)/, '"number":1$1')),
      1,
      'refuted (block): Line 1',
    ],
    [
      'an answer that is left out',
      (all) => all.filter((row) => !row.includes(pairs[1]?.[1] as string)),
      1,
      'refuted (format): Line',
    ],
    ['its end', (all) => all.slice(0, -1), 2, 'cut off'],
    ['its start', (all) => all.slice(1), 2, 'Line 1 is not that of a file of proofs'],
    ['everything', () => [], 2, 'The file is empty'],
    ['a line that is not JSON', (all) => all.with(2, '{'), 2, 'Line 3 is not that of a file of proofs'],
    ['a question without a wallet', (all) => all.map((row) => row.replace('"from":', '"form":')), 2, 'is no question'],
  ])('are refused if %s is changed', async (_, change, expected, message) => {
    const { code, stdout, stderr } = await verify(fileOf('changed.ndjson', change([...rows]).join('\n')));
    expect([code, stdout + stderr]).toEqual([expected, expect.stringContaining(message)]);
  });

  test('of several chains, or without proofs, are refused when they are asked', async () => {
    const csv = fileOf('pairs.csv', `from,to\n${pairs[0]?.[0]},${pairs[0]?.[1]}\n`);
    const noFile = await run('check', '--csv', csv, '--prove');
    expect([noFile.code, noFile.stderr]).toEqual([2, expect.stringContaining('--prove needs a file with --csv')]);
    const json = await run('check', '--from', CONTRACT, '--to', CONTRACT, '--json', '--prove');
    expect([json.code, json.stderr]).toEqual([2, expect.stringContaining('cannot be combined')]);
  });
});

describe('an allowlist', () => {
  const allowlist = (...more: string[]) => {
    const owners = fileOf('owners.csv', ['owner', ...VAULTS, NOBODY].join('\n'));
    return runCommand(['allowlist', '--owners', owners, '--contract', CONTRACT, ...more], database);
  };

  test('proves the delegation that decided for each owner, and is refuted if it names another wallet', async () => {
    const bundle = temporaryPath('choices.ndjson');
    const { code, stdout, stderr } = await allowlist('--prove', bundle);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${VAULTS.length + 1} owners`)]);
    const lines = (await Bun.file(bundle).text()).trimEnd().split('\n');
    const rows = lines.map((line) => JSON.parse(line)).filter(({ from }) => from !== undefined);
    // Of each vault its last grant of the contract, or its exclusive wallet.
    expect(rows).toEqual(
      VAULTS.map((from, turn) => ({
        ...{ version: '2', check: turn === 1 ? 'all' : 'contract', from, to: turn === 1 ? LINK : lastOf.get(from) },
        ...(turn === 1 ? { rights: FOREVER } : { contract: CONTRACT, rights: NO_RIGHTS }),
        result: true,
      })),
    );
    for (const { to } of rows) expect(stdout.toLowerCase()).toContain(`${to},1,1`);
    const proven = await verify(bundle);
    const all = `${VAULTS.length} answers (${VAULTS.length} yes)`;
    expect([proven.code, proven.stdout]).toEqual([0, expect.stringContaining(`proven: ${all}`)]);
    const changed = fileOf('other.ndjson', lines.join('\n').replace(`"to":"${LINK}"`, `"to":"${NOBODY}"`));
    const refuted = await verify(changed);
    expect([refuted.code, refuted.stdout]).toEqual([1, expect.stringContaining('refuted')]);
  });

  test('is not printed where nothing can be proven', async () => {
    const path = temporaryPath('choices.ndjson');
    const of = ['allowlist', '--contract', CONTRACT, '--prove', path, '--owners'];
    const dead = { ...database, RPC_URL_1: 'http://127.0.0.1:1' };
    const { code, stdout, stderr } = await runCommand([...of, fileOf('one.csv', `owner\n${VAULTS[0]}\n`)], dead);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('No provider has a proof')]);
    expect((await verify(path)).code).toBe(2);
    const nobody = await runCommand([...of, fileOf('one.csv', `owner\n${NOBODY}\n`)], database);
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('nothing to prove')]);
  });
});
