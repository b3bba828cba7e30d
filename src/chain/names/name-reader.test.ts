// Looks up names on a real EVM, through providers that fail, are slow and lie, of contracts that do anything.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { eventually } from '../../../test/support/eventually.ts';
import {
  deployEns,
  deployNamedToken,
  setBack,
  setForward,
  setPrimary,
  setReverseResolver,
} from '../../../test/support/evm-names.ts';
import { BAD_WAYS, deployTokens, setBadWay, TOKENS } from '../../../test/support/evm-tokens.ts';
import { prepareWallets } from '../../../test/support/evm-wallets.ts';
import { address } from '../../../test/support/fixtures.ts';
import { type RpcProxy, startRpcProxy } from '../../../test/support/rpc-proxy.ts';
import { WALLETS } from '../../../test/support/wallets.ts';
import type { Address } from '../../registry/delegation.ts';
import { type Evm, startEvm } from '../../sandbox/evm.ts';
import { createNameReader, type NameLimits, type NameReader } from './name-reader.ts';

const [ADA, BEN, CLEO] = WALLETS;
const LIAR = address(0x11a2);
const VICTIM = address(0x71c7);
const LONG = address(0x1049);
const NAMED = address(0x70);
/** Long enough for a busy machine: these tests are about what is found. */
const PATIENT: NameLimits = { waitMs: 60_000, pauseMs: 60_000, lookupMs: 60_000 };

let evm: Evm;
let proxies: RpcProxy[] = [];
beforeAll(async () => {
  evm = await startEvm();
  await prepareWallets(evm.rpc);
  await deployEns(evm.rpc);
  await deployTokens(evm.rpc);
  await deployNamedToken(evm.rpc, NAMED, 'Foghorns', 'FOG');
  await setPrimary(evm.rpc, ADA, 'ada.eth');
  await setForward(evm.rpc, 'ben.eth', BEN);
  await setBack(evm.rpc, CLEO, 'ada.eth');
  await setReverseResolver(evm.rpc, VICTIM, TOKENS.BadToken);
});
afterAll(() => evm.stop());
const stopProxies = async () => {
  for (const proxy of proxies) await proxy.stop();
};
beforeEach(async () => {
  await stopProxies();
  proxies = [startRpcProxy(evm.url), startRpcProxy(evm.url)];
});
afterAll(stopProxies);

const readerOf = (urls: readonly string[], limits: Partial<NameLimits> = PATIENT) =>
  createNameReader(new Map([[1, urls]]), limits) as NameReader;
const alone = (limits?: Partial<NameLimits>) => readerOf([(proxies[0] as RpcProxy).url], limits);
const both = () => readerOf(proxies.map(({ url }) => url));

async function namesOf(reader: NameReader, ...wallets: Address[]) {
  const known = await reader.find({ wallets, tokens: [] }, 'a');
  return wallets.map((one) => known.wallet(one));
}
async function claimsOf(reader: NameReader, ...contracts: Address[]) {
  const tokens = contracts.map((contract) => ({ chainId: 1, contract }));
  const known = await reader.find({ wallets: [], tokens }, 'a');
  return tokens.map((one) => known.token(one));
}
const FOGHORNS = { name: 'Foghorns', symbol: 'FOG', decimals: 18 };

describe('the name of a wallet', () => {
  test('leads to it and back; one that only leads to it, or only back, is not shown', async () => {
    expect(await namesOf(alone(), ADA, BEN, CLEO, LIAR)).toEqual(['ada.eth', null, null, null]);
  });

  test('is looked up once for all who ask', async () => {
    const reader = alone();
    await namesOf(reader, ADA, BEN);
    const { calls } = proxies[0] as RpcProxy;
    await namesOf(reader, BEN, ADA);
    expect((proxies[0] as RpcProxy).calls).toBe(calls);
  });

  test('is not shown if it is not in its normal form, or very long', async () => {
    for (const name of ['Eve.eth', '\u0435ve.eth', '<b>eve</b>.eth', 'eve.eth\u202e', 'e'.repeat(10_000)]) {
      await setPrimary(evm.rpc, LONG, name);
      expect([name.slice(0, 20), ...(await namesOf(alone(), LONG, ADA))]).toEqual([name.slice(0, 20), null, 'ada.eth']);
    }
  });
});

describe('the address of a name', () => {
  test('is where it leads, whatever its letters', async () => {
    const reader = alone();
    expect(await reader.resolve('ben.eth', 'a')).toEqual({ type: 'address', address: BEN });
    expect(await reader.resolve('ADA.eth', 'a')).toEqual({ type: 'address', address: ADA });
    expect(await reader.resolve('nobody.eth', 'a')).toEqual({ type: 'unknown' });
    expect(await reader.resolve('<b>.eth', 'a')).toEqual({ type: 'invalid' });
  });

  test('is not known without a provider of chain 1, or if none answers', async () => {
    const other = createNameReader(new Map([[10, [evm.url]]]), PATIENT) as NameReader;
    expect(await other.resolve('ada.eth', 'a')).toEqual({ type: 'unavailable' });
    (proxies[0] as RpcProxy).refuses = () => 'too many requests';
    expect(await alone().resolve('ada.eth', 'a')).toEqual({ type: 'unavailable' });
    expect(await readerOf(['http://127.0.0.1:1']).resolve('ada.eth', 'a')).toEqual({ type: 'unavailable' });
    expect(createNameReader(new Map())).toBeNull();
  });
});

describe('a token contract', () => {
  test('calls itself something', async () => {
    expect(await claimsOf(alone(), NAMED, ADA, TOKENS.Cards)).toEqual([FOGHORNS, null, null]);
  });

  test('can call itself anything, which is made harmless', async () => {
    const contract = address(0x71);
    for (const [name, shown] of [
      ['Ada', 'Ada'],
      ['\u202eadA', 'adA'],
      ['ada.eth” (verified)', "ada.eth' (verified)"],
      ['<script>alert(1)</script>', '<script>alert(1)</script>'],
      // Reading it takes more gas than a name is worth.
      ['x'.repeat(10_000), 'T'],
      ['y'.repeat(500), `${'y'.repeat(31)}…`],
    ] as const) {
      await deployNamedToken(evm.rpc, contract, name, 'T');
      expect(await claimsOf(alone(), contract)).toEqual([{ name: shown, symbol: 'T', decimals: 18 }]);
    }
  });
});

describe('a hostile contract, which others do not suffer from', () => {
  test.each(BAD_WAYS)('%s', async (way) => {
    await setBadWay(evm.rpc, way);
    const reader = alone();
    expect(await claimsOf(reader, TOKENS.BadToken, NAMED)).toEqual([null, FOGHORNS]);
    expect(await namesOf(reader, VICTIM, ADA)).toEqual([null, 'ada.eth']);
  });
});

describe('providers', () => {
  test('that are slow are not waited for, and their names are there later', async () => {
    const [proxy] = proxies as [RpcProxy];
    proxy.delayMs = 50;
    const reader = alone({ waitMs: 1, pauseMs: 60_000, lookupMs: 60_000 });
    expect(await namesOf(reader, ADA)).toEqual([null]);
    await eventually('the name is known', async () => (await namesOf(reader, ADA))[0] === 'ada.eth');
  });

  test('that hang or fail are not asked about the same again for a while', async () => {
    const [proxy] = proxies as [RpcProxy];
    for (const failing of [{ delayMs: 60_000 }, { delayMs: 0, refuses: () => 'no' }]) {
      Object.assign(proxy, failing);
      const reader = alone({ waitMs: 60_000, pauseMs: 60_000, lookupMs: 100 });
      expect([...(await namesOf(reader, ADA)), ...(await claimsOf(reader, NAMED))]).toEqual([null, null]);
      const { requests } = proxy;
      expect([...(await namesOf(reader, ADA)), ...(await claimsOf(reader, NAMED))]).toEqual([null, null]);
      expect(proxy.requests).toBe(requests);
    }
  });

  test('of several, two must agree: with one that lies or is dead there is no name, with a third there is', async () => {
    const [, second] = proxies as [RpcProxy, RpcProxy];
    second.lies = ({ method }) => (method === 'eth_call' ? `0x${BEN.slice(2).padStart(64, '0')}` : undefined);
    expect([...(await namesOf(both(), ADA)), ...(await claimsOf(both(), NAMED))]).toEqual([null, null]);
    second.lies = () => undefined;
    second.refuses = () => 'no';
    expect(await namesOf(both(), ADA)).toEqual([null]);
    expect(await namesOf(readerOf([...proxies.map(({ url }) => url), evm.url]), ADA)).toEqual(['ada.eth']);
  });

  test('of another chain are not believed', async () => {
    const wrong = createNameReader(new Map([[10, [evm.url]]]), PATIENT) as NameReader;
    const token = { chainId: 10, contract: NAMED };
    expect((await wrong.find({ wallets: [ADA], tokens: [token] }, 'a')).token(token)).toBeNull();
  });
});
