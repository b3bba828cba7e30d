// The token gate on the command line, by delegations of other chains than the token.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newChain } from '../../test/support/chain.ts';
import { temporaryPath } from '../../test/support/engines.ts';
import { address, block, CONTRACT, granted, timeOf } from '../../test/support/fixtures.ts';
import { runCommand } from '../../test/support/serve-process.ts';
import { serving, tokensOf } from '../../test/support/serving.ts';
import { checksummed } from '../registry/checksum.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

const [HOT, VAULT] = [address(0xa1), address(0xa2)];
let store: Store;
let server: Awaited<ReturnType<typeof serving>>;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('holders.db')}`);
  const [one, other] = [await newChain(store, 1), await newChain(store, 10)];
  await one.add([block(105)]);
  await other.add([block(103, [granted('ALL', { from: VAULT, to: HOT })]), block(104)]);
  server = await serving(store, timeOf(105), { tokens: tokensOf(VAULT), chainIds: new Set([1, 10]) });
});
afterAll(async () => {
  await server.stop();
  await store.close();
});

const run = (...more: string[]) =>
  runCommand(['holders', HOT, '--contract', CONTRACT, '--token-id', '7', '--url', server.url, ...more], {});

test('names the block of each chain, and the chain of each delegation', async () => {
  const { code, stdout } = await run('--delegation-chain', '1,10');
  const [answer, ...lines] = stdout.trimEnd().split('\n');
  expect([code, answer, ...lines.slice(0, 2)]).toEqual([
    0,
    expect.stringMatching(/^yes \(at block 105, /),
    'Delegations of chain 1 at block 105',
    'Delegations of chain 10 at block 104',
  ]);
  expect(lines[3]).toMatch(new RegExp(`^${checksummed(VAULT)}  1 +v2 ALL on chain 10 +103, `));
  const alone = await run();
  expect([alone.code, alone.stdout]).toEqual([1, expect.stringMatching(/^no \(at block 105, [^\n]*\)\n$/)]);
});

test('what is wrong is named by its option', async () => {
  for (const [chains, detail] of [
    ['1,5', '--delegation-chain 5 is not served here'],
    ['served', '--delegation-chain must be chain ids in decimal digits'],
  ] as const) {
    const { code, stderr } = await run('--delegation-chain', chains);
    expect([code, stderr]).toEqual([2, expect.stringContaining(detail)]);
  }
});
