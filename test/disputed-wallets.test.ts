// A wallet that the registry or a provider contradicts is refused everywhere, and no other wallet is.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createContext } from '../src/chain/compare/context.ts';
import type { Address } from '../src/registry/delegation.ts';
import { type Dispute, MAX_DISPUTES } from '../src/store/halt.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { newChain } from './support/chain.ts';
import { ENGINES } from './support/engines.ts';
import { address, block, COLD, granted, HOT, timeOf } from './support/fixtures.ts';
import { appOf } from './support/serving.ts';
import { MAINNET } from './support/vectors.ts';

const [OTHER, THIRD] = [address(0x77), address(0x78)];
const DISPUTE: Dispute = { vault: COLD, delegate: HOT, since: timeOf(101), block: 101, statement: null };

for (const engine of ENGINES) {
  describe(`on ${engine.name}`, () => {
    let store: Store;
    let epoch: number;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
      const chain = await newChain(store, 1);
      await chain.add([
        block(101, [
          granted('ALL'),
          granted('ALL', { to: THIRD }),
          granted('ALL', { from: OTHER }),
          granted('ALL', { from: OTHER, to: THIRD }),
        ]),
      ]);
      epoch = chain.state.epoch;
    });
    afterAll(() => store.close());
    const ask = async (path: string, init?: RequestInit) =>
      appOf(store, timeOf(102)).fetch(new Request(`http://localhost/registry/${path}`, init));

    const about = {
      'the check of the pair': `v2/check/all?from=${COLD}&to=${HOT}`,
      'a check of what the wallet granted somebody else': `v2/check/all?from=${COLD}&to=${THIRD}`,
      'a check as of its block': `v2/check/all?from=${COLD}&to=${HOT}&block=101`,
      'a check of both registries': `any/check/all?from=${COLD}&to=${HOT}`,
      'its list': `v2/${COLD}`,
      'the list of the other wallet': `v2/${HOT}`,
      'the vaults of the other wallet': `any/vaults/${HOT}`,
      'its delegates': `any/delegates/${COLD}`,
      'its history': `any/history/${COLD}`,
    };
    const others = {
      'a check of another wallet and the same delegate': `v2/check/all?from=${OTHER}&to=${HOT}`,
      'a check of what the disputed wallet was granted': `v2/check/all?from=${OTHER}&to=${COLD}`,
      'the list of another wallet': `v2/${OTHER}`,
      'the list of a wallet that the dispute does not name': `v2/${THIRD}`,
      'the vaults of that wallet': `any/vaults/${THIRD}`,
    };

    test('nothing is refused without a dispute', async () => {
      for (const path of Object.values({ ...about, ...others }))
        expect([path, (await ask(path)).status]).toEqual([path, 200]);
    });

    test('with a dispute its wallets are refused, the rest is answered, and it ends', async () => {
      await store.report(1, epoch, { disputes: [DISPUTE] });
      for (const [name, path] of Object.entries(about)) {
        const response = await ask(path);
        expect([name, response.status, response.headers.get('retry-after')]).toEqual([name, 503, '60']);
        expect(await response.json()).toMatchObject({
          type: '/docs#problem-wallet-disputed',
          detail: expect.stringContaining(COLD),
          chainId: 1,
          since: timeOf(101),
        });
      }
      for (const [name, path] of Object.entries(others)) expect([name, (await ask(path)).status]).toEqual([name, 200]);
      const questions = [
        { check: 'all', from: COLD, to: HOT },
        { check: 'all', from: OTHER, to: HOT },
      ];
      const batch = await ask('any/check', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ questions }),
      });
      expect(await batch.json()).toMatchObject({
        complete: false,
        answers: [{ problem: { type: '/docs#problem-wallet-disputed' } }, { result: true }],
      });
      const networks = await appOf(store, timeOf(102)).fetch(new Request('http://localhost/networks'));
      expect(await networks.json()).toMatchObject([{ disputedWallets: 1, halt: null, ready: true }]);
      await store.report(1, epoch, { disputes: [] });
      for (const path of Object.values(about)) expect((await ask(path)).status).toBe(200);
    });

    test('two disputes at once are both kept, and one that comes while another ends', async () => {
      const parts = {
        network: MAINNET,
        store,
        finality: 'tag',
        providerCount: 1,
        now: () => 0,
        ticks: () => 0,
      } as const;
      const context = createContext({ ...parts, onEvent() {}, blame() {}, isBlamed: () => false });
      epoch = (await context.claim((await store.chain(1))?.firstBlock ?? 0, false)).epoch;
      const of = (vault: Address): Dispute => ({ ...DISPUTE, vault });
      const [one, other, third] = [address(0x8001), address(0x8002), address(0x8003)] as [Address, Address, Address];
      const found = async () => (await store.chain(1))?.disputes.map(({ vault }) => vault).toSorted();
      await Promise.all([context.dispute([of(one)]), context.dispute([of(other)])]);
      expect(await found()).toEqual([one, other]);
      await Promise.all([context.endDisputes([of(one)]), context.dispute([of(third)])]);
      expect(await found()).toEqual([other, third]);
      await context.endDisputes([of(other), of(third)]);
    });

    test('as many disputes as there can be are stored and read', async () => {
      const many = Array.from({ length: MAX_DISPUTES }, (_, turn) => ({ ...DISPUTE, vault: address(0x9000 + turn) }));
      await store.report(1, epoch, { disputes: many });
      expect((await store.chain(1))?.disputes).toEqual(many);
      await store.report(1, epoch, { disputes: [] });
    });

    test('while blocks above the final one are being proven, nothing that depends on them is answered', async () => {
      await store.report(1, epoch, { proving: true });
      const path = about['the check of the pair'];
      const response = await ask(path);
      expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([
        503,
        '/docs#problem-chain-not-ready',
      ]);
      const networks = await appOf(store, timeOf(102)).fetch(new Request('http://localhost/networks'));
      expect(await networks.json()).toMatchObject([{ ready: false }]);
      await store.report(1, epoch, { proving: false });
      expect((await ask(path)).status).toBe(200);
    });
  });
}
