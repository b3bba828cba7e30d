// Votes on a real EVM: hundreds of voters whose balances are read many per call, with slow, dead and lying nodes, and on a chain
// without Multicall3.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { MULTICALL3 } from '../src/chain/tokens/multicall.ts';
import { createTokenReader } from '../src/chain/tokens/token-reader.ts';
import { createApp } from '../src/http/server/app.ts';
import type { Address } from '../src/registry/delegation.ts';
import { type Evm, startEvm } from '../src/sandbox/evm.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { deployTokens, sendToken, setBadWay, TOKENS } from './support/evm-tokens.ts';
import { prepareWallets } from './support/evm-wallets.ts';
import { address, granted, hash } from './support/fixtures.ts';
import { type RpcProxy, startRpcProxy } from './support/rpc-proxy.ts';
import { serviceOf } from './support/serving.ts';

const VOTERS = Array.from({ length: 500 }, (_, of) => address(0x10000 + of));
const VAULTS_OF_ONE = 5;
const vaultsOf = (voter: number) =>
  Array.from({ length: VAULTS_OF_ONE }, (_, of) => address(0x20000 + voter * VAULTS_OF_ONE + of));
/** What each wallet is given: some have nothing. */
const balanceOf = (owner: Address) => (BigInt(owner) % 3n === 0n ? 0n : BigInt(owner) ** 2n);

let evm: Evm;
let store: Store;
let epoch = 0;
let [a, b]: RpcProxy[] = [];
let proxies: RpcProxy[] = [];

interface Header {
  readonly number: string;
  readonly hash: `0x${string}`;
  readonly timestamp: string;
}
const headOf = async () => {
  const { number, hash: of, timestamp } = (await evm.rpc.call('eth_getBlockByNumber', ['latest', false])) as Header;
  return { number: Number(number), hash: of, timestamp: Number(timestamp) };
};

/** Sets an entry of the mapping `balanceOf` of Coin.sol. */
const BALANCES_SLOT = 1;
async function setBalance(owner: Address, value: bigint): Promise<void> {
  const word = (one: bigint | string) => BigInt(one).toString(16).padStart(64, '0');
  const { keccak } = await import('../src/registry/keccak.ts');
  const slot = BigInt(keccak(Uint8Array.fromHex(word(owner) + word(String(BALANCES_SLOT)))));
  await evm.rpc.call('hardhat_setStorageAt', [TOKENS.Coin, `0x${slot.toString(16)}`, `0x${word(value)}`]);
}

beforeAll(async () => {
  evm = await startEvm({ since: new Date(Date.now() - 3_600_000) });
  await prepareWallets(evm.rpc);
  await deployTokens(evm.rpc);
  for (const owner of [...VOTERS, ...VOTERS.flatMap((_, voter) => vaultsOf(voter))])
    if (balanceOf(owner) > 0n) await setBalance(owner, balanceOf(owner));
  await evm.rpc.call('hardhat_mine', ['0x5']);
  const head = await headOf();
  store = await openStore(`sqlite:${temporaryPath('votes-evm.db')}`);
  ({ epoch } = await store.claim(1, 0));
  const grants = VOTERS.flatMap((voter, of) => vaultsOf(of).map((from) => granted('ALL', { from, to: voter })));
  const logs = grants.map((event, logIndex) => ({ logIndex, transactionHash: hash(logIndex), event }));
  await store.apply({ chainId: 1, epoch, after: null, blocks: [{ ...head, logs }], head });
}, 60_000);
afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
  await store.close();
  await evm.stop();
});
beforeEach(async () => {
  for (const proxy of proxies) await proxy.stop();
  proxies = [startRpcProxy(evm.url), startRpcProxy(evm.url)];
  [a, b] = proxies as [RpcProxy, RpcProxy];
});

async function ask(options: object = {}, more: object = {}, urls = proxies.map(({ url }) => url)) {
  const tokens = createTokenReader({ nodes: new Map([[1, urls]]), limits: { requestMs: 60_000, readMs: 60_000 } });
  const { timestamp } = await headOf();
  const app = createApp({ ...serviceOf(store, timestamp), tokens, maxLag: () => 1e9 });
  const body = {
    options: { contract: TOKENS.Coin, standard: 'ERC20', rights: 'none', ...options },
    network: '1',
    snapshot: 'latest',
    addresses: VOTERS,
    ...more,
  };
  const response = await app.fetch(
    new Request('http://localhost/registry/any/votes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
  const found = (await response.json()) as { score?: { address: string; score: string }[]; detail?: string };
  return { status: response.status, ...found };
}
const SCORE = VOTERS.map((voter, of) => ({
  address: voter as string,
  score: String([voter, ...vaultsOf(of)].reduce((sum, owner) => sum + balanceOf(owner), 0n)),
}));

describe('500 voters with 5 vaults each', () => {
  test('are asked in a few calls, at the hash of the block', async () => {
    for (const proxy of proxies) proxy.delayMs = 20;
    const began = performance.now();
    const { status, score } = await ask();
    console.log(`500 voters with 5 vaults each, 20 ms a call: ${Math.round(performance.now() - began)} ms`);
    expect(status).toBe(200);
    expect(score).toEqual(SCORE);
    // 3,000 balances: 12 calls of Multicall3, and what is asked once of a node, of a block and of a contract.
    for (const proxy of proxies) expect(proxy.calls).toBeLessThan(25);
  }, 60_000);

  test('the balances are those of the block, not of the head', async () => {
    const [voter] = VOTERS as [Address];
    await sendToken(evm.rpc, 'Coin', 'mint20', [voter, 5n]);
    expect((await ask({}, { addresses: [voter] })).score).toEqual(SCORE.slice(0, 1));
  });

  test('one without Multicall3, or whose Multicall3 fails, is asked in batches', async () => {
    const addresses = VOTERS.slice(0, 40);
    (a as RpcProxy).lies = ({ method, params: [to] }) =>
      method === 'eth_getCode' && to === MULTICALL3 ? '0x' : undefined;
    (b as RpcProxy).refuses = ({ method, params: [tx] }) =>
      method === 'eth_call' && (tx as { to: string }).to === MULTICALL3 ? 'out of gas' : null;
    expect((await ask({}, { addresses })).score).toEqual(SCORE.slice(0, 40));
    for (const proxy of proxies) expect(proxy.calls).toBeGreaterThan(240);
  });

  test('a lie of one provider is a dispute, and a dead node is no answer: never a score', async () => {
    const one = { addresses: VOTERS.slice(0, 40) };
    (b as RpcProxy).lies = ({ method, params: [tx] }) =>
      method === 'eth_call' && (tx as { to: string }).to === TOKENS.Coin ? `0x${'1'.padStart(64, '0')}` : undefined;
    (b as RpcProxy).refuses = ({ method, params: [tx] }) =>
      method === 'eth_call' && (tx as { to: string }).to === MULTICALL3 ? 'execution reverted' : null;
    const disputed = await ask({}, one);
    expect([disputed.status, disputed.score, disputed.detail]).toEqual([
      503,
      undefined,
      expect.stringContaining('disagree'),
    ]);
    await (b as RpcProxy).stop();
    const dead = await ask({}, one);
    expect([dead.status, dead.score, dead.detail]).toEqual([
      503,
      undefined,
      expect.stringContaining('Too few providers'),
    ]);
  });

  test('a contract that is no token is a problem', async () => {
    await setBadWay(evm.rpc, 'reverts');
    const at = await headOf();
    const state = await store.chain(1);
    await store.apply({ chainId: 1, epoch, after: state?.head ?? null, blocks: [], head: at });
    const of = async (contract: string) => {
      const { status, score } = await ask({ contract }, { addresses: VOTERS.slice(0, 40) });
      return [status, score];
    };
    expect(await of(TOKENS.BadToken)).toEqual([422, undefined]);
    expect(await of(address(0xdead))).toEqual([422, undefined]);
  });

  test('a final block whose hash the index does not keep', async () => {
    const { number } = await headOf();
    await sendToken(evm.rpc, 'Coin', 'mint20', [VOTERS[0] as Address, 7n]);
    for (let blocks = 0; blocks < 8; blocks++) await evm.rpc.call('evm_mine', []);
    const head = await headOf();
    const state = await store.chain(1);
    await store.apply({ chainId: 1, epoch, after: state?.head ?? null, blocks: [], head, verified: head.number - 1 });
    const scoreAt = async (snapshot: number) =>
      BigInt((await ask({}, { snapshot, addresses: VOTERS.slice(0, 1) })).score?.[0]?.score ?? -1);
    const [before, after] = [await scoreAt(number), await scoreAt(number + 5)];
    // What was minted before is in both.
    expect([before - BigInt(SCORE[0]?.score ?? 0), after - before]).toEqual([5n, 7n]);
  });
});
