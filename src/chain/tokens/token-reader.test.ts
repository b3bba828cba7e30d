// Reads owners and balances from real contracts on an EVM, through providers that fail, lag and lie.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  BAD_WAYS,
  type BadWay,
  deployTokens,
  headHash,
  sendToken,
  setBadWay,
  TOKENS,
} from '../../../test/support/evm-tokens.ts';
import { prepareWallets } from '../../../test/support/evm-wallets.ts';
import { type RpcProxy, startRpcProxy } from '../../../test/support/rpc-proxy.ts';
import { WALLETS } from '../../../test/support/wallets.ts';
import { type Evm, startEvm } from '../../sandbox/evm.ts';
import { createTokenReader, type TokenReaderOptions } from './token-reader.ts';

const [ADA, BEN] = WALLETS;
const NOBODY = `0x${'99'.repeat(20)}` as const;
const CHAIN = 1;

let evm: Evm;
let [a, b]: RpcProxy[] = [];
let disputes: string[];

beforeAll(async () => {
  evm = await startEvm();
  await prepareWallets(evm.rpc);
  // A block before the contracts.
  await evm.rpc.call('evm_mine', []);
  await deployTokens(evm.rpc);
  await sendToken(evm.rpc, 'Collection', 'mint721', [ADA, 7n]);
  await sendToken(evm.rpc, 'Collection', 'mint721', [ADA, 2n ** 256n - 1n]);
  await sendToken(evm.rpc, 'Cards', 'mint1155', [BEN, 3n, 5n]);
  await sendToken(evm.rpc, 'Coin', 'mint20', [BEN, 2n ** 255n]);
});
afterAll(() => evm.stop());

let proxies: RpcProxy[] = [];
beforeEach(async () => {
  for (const proxy of proxies) await proxy.stop();
  proxies = [startRpcProxy(evm.url), startRpcProxy(evm.url)];
  [a, b] = proxies as [RpcProxy, RpcProxy];
  disputes = [];
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
});

const readerOf = (urls: readonly string[], limits: TokenReaderOptions['limits'] = {}) =>
  createTokenReader({
    nodes: new Map([[CHAIN, urls]]),
    limits,
    onDispute: (_chainId, contract, names) => disputes.push(`${contract} ${names.join()}`),
  });
const at = async (contract: `0x${string}`, blockHash?: `0x${string}`) => ({
  chainId: CHAIN,
  contract,
  blockHash: blockHash ?? (await headHash(evm.rpc)),
  caller: 'a',
});
const only = (proxy: RpcProxy | undefined) => readerOf([(proxy as RpcProxy).url]);
const both = (limits: TokenReaderOptions['limits'] = {}) =>
  readerOf(
    proxies.map(({ url }) => url),
    limits,
  );

describe('real contracts', () => {
  test('give their owner and their balances', async () => {
    const reader = both();
    const collection = await at(TOKENS.Collection);
    expect(await reader.ownerOf(collection, 7n)).toEqual({ type: 'owner', owner: ADA });
    expect(await reader.ownerOf(collection, 2n ** 256n - 1n)).toEqual({ type: 'owner', owner: ADA });
    expect(await reader.balances(collection, [ADA, BEN], null)).toEqual({ type: 'balances', balances: [2n, 0n] });
    expect(await reader.balances(await at(TOKENS.Cards), [ADA, BEN], 3n)).toEqual({
      type: 'balances',
      balances: [0n, 5n],
    });
    expect(await reader.balances(await at(TOKENS.Coin), [BEN, ADA], null)).toEqual({
      type: 'balances',
      balances: [2n ** 255n, 0n],
    });
    expect(await reader.balances(await at(TOKENS.Coin), [], null)).toEqual({ type: 'balances', balances: [] });
  });

  test('give many balances in order, more than fit one batch', async () => {
    const owners = Array.from({ length: 101 }, (_, index) => (index % 7 === 0 ? BEN : NOBODY));
    const { balances } = (await only(a).balances(await at(TOKENS.Coin), owners, null)) as {
      balances: readonly bigint[];
    };
    expect(balances).toEqual(owners.map((owner) => (owner === BEN ? 2n ** 255n : 0n)));
  });

  test('answer as of the block, not as of the head', async () => {
    const before = await at(TOKENS.Collection);
    await sendToken(evm.rpc, 'Collection', 'transferFrom', [ADA, BEN, 7n], ADA);
    const moved = await at(TOKENS.Collection);
    await sendToken(evm.rpc, 'Collection', 'burn', [7n]);
    const burned = await at(TOKENS.Collection);
    const reader = both();
    expect(await reader.ownerOf(before, 7n)).toEqual({ type: 'owner', owner: ADA });
    expect(await reader.ownerOf(moved, 7n)).toEqual({ type: 'owner', owner: BEN });
    expect(await reader.ownerOf(burned, 7n)).toEqual({ type: 'no-owner' });
    await sendToken(evm.rpc, 'Collection', 'mint721', [ADA, 7n]);
  });

  test('a block that a reorg removed is unavailable, and so is one that never was', async () => {
    const snapshot = await evm.rpc.call('evm_snapshot', []);
    await sendToken(evm.rpc, 'Collection', 'transferFrom', [ADA, BEN, 7n], ADA);
    const gone = await at(TOKENS.Collection);
    expect(await only(a).ownerOf(gone, 7n)).toEqual({ type: 'owner', owner: BEN });
    await evm.rpc.call('evm_revert', [snapshot]);
    await evm.rpc.call('evm_increaseTime', [17]);
    await evm.rpc.call('evm_mine', []);
    await evm.rpc.call('evm_mine', []);
    const unknown = { type: 'unavailable', cause: 'no-provider', failures: ['1/1 rpc-error'] } as const;
    expect(await only(a).ownerOf(gone, 7n)).toEqual(unknown);
    expect(await only(a).ownerOf(await at(TOKENS.Collection, `0x${'12'.repeat(32)}`), 7n)).toEqual(unknown);
    expect(await only(a).ownerOf(await at(TOKENS.Collection), 7n)).toEqual({ type: 'owner', owner: ADA });
  });
});

describe('what is not a token', () => {
  const notAToken = (cause: 'no-code' | 'reverted' | 'bad-return-data') => ({ type: 'not-a-token', cause }) as const;

  test('has no code: a wallet, or a precompile that returns a word', async () => {
    for (const address of [NOBODY, `0x${'2'.padStart(40, '0')}`] as const) {
      expect(await only(a).ownerOf(await at(address), 1n)).toEqual(notAToken('no-code'));
      expect(await only(a).balances(await at(address), [ADA], null)).toEqual(notAToken('no-code'));
    }
  });

  test('had no code yet at the block, although it has now', async () => {
    const reader = only(a);
    expect(await reader.ownerOf(await at(TOKENS.Collection), 7n)).toEqual({ type: 'owner', owner: ADA });
    const { hash } = (await evm.rpc.call('eth_getBlockByNumber', ['0x0', false])) as { hash: `0x${string}` };
    expect(await reader.ownerOf(await at(TOKENS.Collection, hash), 7n)).toEqual(notAToken('no-code'));
  });

  test('is another standard: ownerOf reverts, and the contract does not declare ERC-721', async () => {
    expect(await only(a).ownerOf(await at(TOKENS.Coin), 1n)).toEqual(notAToken('reverted'));
    expect(await only(a).ownerOf(await at(TOKENS.Cards), 3n)).toEqual(notAToken('reverted'));
    expect(await only(a).balances(await at(TOKENS.Cards), [ADA], null)).toEqual(notAToken('reverted'));
  });

  const OUTCOMES: Readonly<Record<BadWay, readonly [owner: object, balance: object]>> = {
    reverts: [notAToken('reverted'), notAToken('reverted')],
    'reverts with many bytes': [notAToken('reverted'), notAToken('reverted')],
    'invalid opcode': [notAToken('reverted'), notAToken('reverted')],
    // Another node may allow more gas.
    'endless loop': [{ type: 'unavailable' }, { type: 'unavailable' }],
    'returns nothing': [notAToken('bad-return-data'), notAToken('bad-return-data')],
    'returns 31 bytes': [notAToken('bad-return-data'), notAToken('bad-return-data')],
    'returns 33 bytes': [notAToken('bad-return-data'), notAToken('bad-return-data')],
    'returns 64 bytes': [notAToken('bad-return-data'), notAToken('bad-return-data')],
    'returns many bytes': [notAToken('bad-return-data'), notAToken('bad-return-data')],
    // Not an address, but a balance.
    'returns all ones': [notAToken('bad-return-data'), { type: 'balances', balances: [2n ** 256n - 1n] }],
  };
  for (const way of BAD_WAYS)
    test(`a contract that ${way}`, async () => {
      await setBadWay(evm.rpc, way);
      const [owner, balance] = OUTCOMES[way];
      const bad = await at(TOKENS.BadToken);
      expect(await both().ownerOf(bad, 1n)).toMatchObject(owner);
      expect(await both().balances(bad, [ADA], null)).toMatchObject(balance);
    });
});

describe('providers', () => {
  test('one alone is believed', async () => {
    (a as RpcProxy).lies = ({ method }) => (method === 'eth_call' ? `0x${BEN.slice(2).padStart(64, '0')}` : undefined);
    expect(await only(a).ownerOf(await at(TOKENS.Collection), 7n)).toEqual({ type: 'owner', owner: BEN });
  });

  test('of several, a lie of one is a dispute, not an answer', async () => {
    (b as RpcProxy).lies = ({ method }) => (method === 'eth_call' ? `0x${BEN.slice(2).padStart(64, '0')}` : undefined);
    expect(await both().ownerOf(await at(TOKENS.Collection), 7n)).toMatchObject({
      type: 'unavailable',
      cause: 'disputed',
    });
    expect(disputes).toHaveLength(1);
    // A lie about the code as well.
    (b as RpcProxy).lies = ({ method }) => (method === 'eth_getCode' ? '0x' : undefined);
    expect(await both().ownerOf(await at(TOKENS.Collection), 7n)).toMatchObject({ cause: 'disputed' });
  });

  test('of three, a lie of one is outvoted, whichever is asked first, and reported', async () => {
    const collection = await at(TOKENS.Collection);
    for (const liar of proxies) {
      disputes.length = 0;
      liar.lies = ({ method }) => (method === 'eth_call' ? `0x${BEN.slice(2).padStart(64, '0')}` : undefined);
      const three = readerOf([...proxies.map(({ url }) => url), evm.url]);
      expect(await three.ownerOf(collection, 7n)).toEqual({ type: 'owner', owner: ADA });
      expect(disputes).toHaveLength(1);
      liar.lies = () => undefined;
    }
  });

  test('of several, two must answer: with one dead there is no answer, with a third there is', async () => {
    const collection = await at(TOKENS.Collection);
    await (a as RpcProxy).stop();
    expect(await both().ownerOf(collection, 7n)).toMatchObject({ type: 'unavailable', cause: 'no-provider' });
    const third = readerOf([...proxies.map(({ url }) => url), evm.url]);
    expect(await third.ownerOf(collection, 7n)).toEqual({ type: 'owner', owner: ADA });
  });

  test('one that gets the block later is asked again', async () => {
    let calls = 0;
    (b as RpcProxy).refuses = ({ method }) => (method !== 'eth_chainId' && ++calls <= 2 ? 'header not found' : null);
    expect(await both().ownerOf(await at(TOKENS.Collection), 7n)).toEqual({ type: 'owner', owner: ADA });
    expect(calls).toBeGreaterThan(2);
  });

  test('one that never gets the block, hangs, or serves another chain gives no answer', async () => {
    const collection = await at(TOKENS.Collection);
    (a as RpcProxy).refuses = ({ method }) => (method === 'eth_chainId' ? null : 'header not found');
    expect(await only(a).ownerOf(collection, 7n)).toMatchObject({ failures: ['1/1 rpc-error'] });
    (a as RpcProxy).refuses = () => null;
    (a as RpcProxy).delayMs = 60_000;
    const hanging = readerOf([(a as RpcProxy).url], { requestMs: 100 });
    expect(await hanging.ownerOf(collection, 7n)).toMatchObject({ failures: ['1/1 timeout'] });
    const slow = readerOf([(a as RpcProxy).url], { readMs: 100 });
    expect(await slow.ownerOf(collection, 7n)).toMatchObject({ failures: ['1/1 timeout'] });
    (a as RpcProxy).delayMs = 0;
    (a as RpcProxy).lies = ({ method }) => (method === 'eth_chainId' ? '0x89' : undefined);
    expect(await only(a).ownerOf(collection, 7n)).toMatchObject({ failures: ['1/1 wrong-chain'] });
    (a as RpcProxy).lies = ({ method }) => (method === 'eth_call' ? 'yes' : undefined);
    expect(await only(a).ownerOf(collection, 7n)).toMatchObject({ failures: ['1/1 bad-response'] });
  });

  test('what one says is read up to 2 MB', async () => {
    const collection = await at(TOKENS.Collection);
    const saying = (digits: number) => {
      (a as RpcProxy).lies = ({ method }) => (method === 'eth_call' ? `0x${'0'.repeat(digits)}` : undefined);
      return only(a).ownerOf(collection, 7n);
    };
    expect(await saying(2 * 2 ** 20 - 1000)).toMatchObject({ type: 'not-a-token', cause: 'bad-return-data' });
    expect(await saying(2 * 2 ** 20)).toMatchObject({ failures: ['1/1 bad-response'] });
  });

  test('one that failed is asked after the others', async () => {
    const collection = await at(TOKENS.Collection);
    (a as RpcProxy).refuses = () => 'daily request limit reached';
    const reader = readerOf([...proxies.map(({ url }) => url), evm.url]);
    await reader.ownerOf(collection, 7n);
    const requests = () => proxies.map((proxy) => proxy.requests);
    const [failed = 0, other = 0] = requests();
    expect(await reader.ownerOf(collection, 2n ** 256n - 1n)).toEqual({ type: 'owner', owner: ADA });
    expect(requests()).toEqual([failed, other + 1]);
  });

  test('of a chain without providers, nothing is known', async () => {
    const other = { ...(await at(TOKENS.Collection)), chainId: 137 };
    expect(await both().ownerOf(other, 7n)).toMatchObject({ type: 'unavailable', cause: 'no-provider' });
  });
});

describe('cost', () => {
  test('equal reads of one block are shared, in flight and later', async () => {
    const reader = only(a);
    const collection = await at(TOKENS.Collection);
    const reads = Array.from({ length: 50 }, () => reader.ownerOf(collection, 7n));
    for (const read of await Promise.all(reads)) expect(read).toEqual({ type: 'owner', owner: ADA });
    await reader.ownerOf(collection, 7n);
    const calls = { chainId: 1, block: 1, code: 1, ownerOf: 1 };
    expect((a as RpcProxy).calls).toBe(calls.chainId + calls.block + calls.code + calls.ownerOf);
    await evm.rpc.call('evm_mine', []);
    await reader.ownerOf(await at(TOKENS.Collection), 7n);
    // Code does not disappear unnoticed, so it is not read again.
    expect((a as RpcProxy).calls).toBe(6);
  });

  test('a failure is shared in flight, but not kept', async () => {
    const reader = only(a);
    const collection = await at(TOKENS.Collection);
    (a as RpcProxy).refuses = () => 'daily request limit reached';
    expect(await reader.ownerOf(collection, 7n)).toMatchObject({ failures: ['1/1 rate-limited'] });
    (a as RpcProxy).refuses = () => null;
    expect(await reader.ownerOf(collection, 7n)).toEqual({ type: 'owner', owner: ADA });
  });

  test('the number of kept answers is bounded', async () => {
    const reader = readerOf([(a as RpcProxy).url], { maxKept: 2 });
    const collection = await at(TOKENS.Collection);
    const count = async (tokenId: bigint) => {
      const before = (a as RpcProxy).calls;
      await reader.ownerOf(collection, tokenId);
      return (a as RpcProxy).calls - before;
    };
    await count(7n);
    expect(await count(2n ** 256n - 1n)).toBe(1);
    // Used again, so the other one is dropped.
    expect(await count(7n)).toBe(0);
    await reader.balances(collection, [ADA], null);
    expect(await count(7n)).toBe(0);
    expect(await count(2n ** 256n - 1n)).toBe(1);
  });

  test('the balances of very many are not kept', async () => {
    const reader = only(a);
    const coin = await at(TOKENS.Coin);
    const callsOf = async (owners: number) => {
      const before = (a as RpcProxy).calls;
      await reader.balances(coin, Array(owners).fill(BEN), null);
      return (a as RpcProxy).calls - before;
    };
    await callsOf(129);
    expect([await callsOf(128), await callsOf(128), await callsOf(129), await callsOf(129)]).toEqual([1, 0, 1, 1]);
  });

  test('a node is sent a few batches at once', async () => {
    let [running, most] = [0, 0];
    const slow = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      development: false,
      async fetch(request) {
        most = Math.max(most, ++running);
        const answer = await fetch(evm.url, { method: 'POST', headers: request.headers, body: await request.text() });
        await Bun.sleep(20);
        running--;
        return new Response(await answer.text());
      },
    });
    // A token that Multicall3 cannot read for all: one that reverts is asked again, directly.
    await setBadWay(evm.rpc, 'returns 64 bytes');
    const read = await readerOf([String(slow.url)]).balances(await at(TOKENS.BadToken), Array(400).fill(BEN), null);
    await slow.stop(true);
    expect([read, most]).toEqual([{ type: 'not-a-token', cause: 'bad-return-data' }, 8]);
  });

  test('the hash and the time of a block, from two providers that agree', async () => {
    const { number, hash, timestamp } = (await evm.rpc.call('eth_getBlockByNumber', ['0x1', false])) as Record<
      'number' | 'hash' | 'timestamp',
      `0x${string}`
    >;
    const found = { type: 'block', hash, timestamp: Number(timestamp) } as const;
    expect(await both().block(CHAIN, Number(number), 'a')).toEqual(found);
    expect(await only(a).block(CHAIN, 1e9, 'a')).toMatchObject({ type: 'unavailable', cause: 'no-provider' });
    const head = await evm.rpc.call('eth_getBlockByNumber', ['0x2', false]);
    (b as RpcProxy).lies = ({ method }) =>
      method === 'eth_getBlockByNumber' ? { ...(head as object), number } : undefined;
    expect(await both().block(CHAIN, Number(number), 'a')).toMatchObject({ cause: 'disputed' });
    (b as RpcProxy).lies = ({ method }) => (method === 'eth_getBlockByNumber' ? head : undefined);
    expect(await only(b).block(CHAIN, Number(number), 'a')).toMatchObject({ failures: ['1/1 bad-response'] });
    expect(await readerOf([]).block(137, 1, 'a')).toMatchObject({ cause: 'no-provider' });
  });

  test('what is beyond the budget is refused', async () => {
    (a as RpcProxy).delayMs = 50;
    const reader = readerOf([(a as RpcProxy).url], { maxRunning: 2, maxWaiting: 3, maxWaitingOfOne: 10 });
    const collection = await at(TOKENS.Collection);
    const reads = await Promise.all(
      Array.from({ length: 8 }, (_, id) => reader.balances(collection, [ADA], BigInt(id))),
    );
    expect(reads.map(({ type }) => type === 'unavailable')).toEqual([...Array(5).fill(false), ...Array(3).fill(true)]);
    expect(reads[7]).toEqual({ type: 'unavailable', cause: 'overloaded', failures: [] });
    expect(await reader.ownerOf(collection, 7n)).toEqual({ type: 'owner', owner: ADA });
  });

  test('a read that waited too long is not started', async () => {
    (a as RpcProxy).delayMs = 300;
    const reader = readerOf([(a as RpcProxy).url], { maxRunning: 1, readMs: 250 });
    const collection = await at(TOKENS.Collection);
    const [first, second] = await Promise.all([reader.ownerOf(collection, 7n), reader.ownerOf(collection, 8n)]);
    expect([first, second]).toMatchObject([{ cause: 'no-provider' }, { cause: 'overloaded' }]);
    expect((a as RpcProxy).requests).toBe(1);
  });

  test('a block that no provider has costs a call for each try, however many ask about how many wallets', async () => {
    for (const proxy of proxies) proxy.refuses = ({ method }) => (method === 'eth_chainId' ? null : 'header not found');
    const reader = both();
    const of = await at(TOKENS.Coin);
    const owners = Array.from({ length: 101 }, (_, turn) => `0x${turn.toString(16).padStart(40, '0')}` as const);
    const askers = Array.from({ length: 20 }, (_, turn) =>
      reader.balances({ ...of, caller: String(turn) }, owners, BigInt(turn)),
    );
    for (const read of await Promise.all(askers)) expect(read).toMatchObject({ cause: 'no-provider' });
    const calls = proxies.reduce((sum, proxy) => sum + proxy.calls, 0);
    // For each provider the chain id of those that run at once, and some tries.
    expect(calls).toBeLessThan(2 * (16 + 12));
  });
});
