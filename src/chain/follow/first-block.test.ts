// The first block of an index: at the deployment of the registries, or later.

import { describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import {
  createChainMaker,
  type FakeBlock,
  type FakeCall,
  type FakeNode,
  startFakeNode,
} from '../../../test/support/fake-node.ts';
import { address, block } from '../../../test/support/fixtures.ts';
import { type Following, following } from '../../../test/support/following.ts';
import { runSql } from '../../../test/support/run-sql.ts';
import { appOf } from '../../../test/support/serving.ts';
import type { Address } from '../../registry/delegation.ts';
import { NETWORKS, type Network } from '../../registry/network.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../compare/context.ts';
import { createProviderPool, type TickProviders } from '../rpc/provider-pool.ts';
import { findFirstBlock, storeFirstBlock } from './first-block.ts';

const MAINNET = NETWORKS.get(1) as Network;
/** Mainnet's first registry is older. */
const FIRST = 16_000_000;
const [VAULT, HOT, OTHER] = [address(0xc01d), address(0x407), address(0x07e4)];

const grant = (to: Address): FakeCall => ({ call: ['v1', VAULT, 'delegateForAll', [to, true]], direct: true });
const revoke = (to: Address): FakeCall => ({ call: ['v1', VAULT, 'revokeDelegate', [to]], direct: false });

/** A chain of some blocks, with calls in a few of them. */
function chainOf(blocks: number, calls: Readonly<Record<number, readonly FakeCall[]>>): FakeBlock[] {
  const maker = createChainMaker(FIRST);
  const chain: FakeBlock[] = [];
  for (let turn = 0; turn < blocks; turn++) chain.push(maker.block(chain.at(-1) ?? null, calls[turn] ?? []));
  return chain;
}

async function withChain(
  chain: readonly FakeBlock[],
  more: { readonly firstBlock?: number; readonly sharedStore?: Store; readonly storeOf?: (store: Store) => Store },
  work: (one: Following, node: FakeNode) => Promise<void>,
): Promise<void> {
  const node = startFakeNode(chain);
  const clock = (chain.at(-1)?.timestamp ?? 0) * 1000;
  const one = await following([node], { network: MAINNET, firstBlock: FIRST, clock, ...more });
  try {
    await work(one, node);
  } finally {
    await one.close();
    await node.stop();
  }
}

async function ask({ store, clock }: Following, path: string) {
  const app = appOf(store, clock / 1000, { maxLag: () => 1e9 });
  const response = await app.fetch(new Request(`http://x/registry/${path}`));
  return { status: response.status, body: await response.json() };
}

describe('a chain whose first block is after the deployment of the registry', () => {
  for (const broken of ['claim', 'report', 'apply'] as const) {
    test(`is partial, even if its first ${broken} fails`, async () => {
      let failures = 0;
      const storeOf = (store: Store): Store => ({
        ...store,
        [broken]: async (...args: never[]) => {
          if (failures++ === 0) throw new Error('killed here');
          return (store[broken] as (...of: never[]) => Promise<unknown>)(...args);
        },
      });
      await withChain(chainOf(50, {}), { storeOf }, async (one) => {
        await one.catchUp();
        // As after a restart: nothing but the store is left.
        one.restart();
        await one.catchUp();
        expect(failures).toBeGreaterThan(0);
        expect(await one.store.chain(1)).toMatchObject({ partial: true, head: { number: FIRST + 49 } });
      });
    });
  }

  for (const [whom, holds] of [
    [OTHER, false],
    [HOT, true],
    [address(0x57), true],
  ] as const) {
    test(`answers for a wallet that had granted before and revokes ${whom} through a contract`, async () => {
      const start = 100;
      const chain = chainOf(200, { 10: [grant(HOT)], 110: [grant(OTHER)], 120: [revoke(whom)] });
      await withChain(chain, { firstBlock: FIRST + start }, async (one) => {
        for (let turn = 0; turn < 5; turn++) {
          await one.catchUp();
          one.clock += 61_000;
        }
        expect(await one.store.chain(1)).toMatchObject({ partial: true, head: { number: FIRST + 199 } });
        const check = `v1/check/all?vault=${VAULT}&delegate=${OTHER}`;
        expect(await ask(one, check)).toEqual({ status: 200, body: holds });
        expect(await ask(one, `${check}&block=${FIRST + 115}`)).toEqual({ status: 200, body: true });
        expect((await ask(one, `v1/${VAULT}`)).status).toBe(200);
      });
    });
  }
});

describe('a time before the first log', () => {
  const chain = chainOf(12_000, { 300: [grant(HOT)], 5000: [revoke(HOT)] });
  const check = (more: string) => `v1/check/all?vault=${VAULT}&delegate=${HOT}&${more}`;
  const isAnswered = async (one: Following) => {
    for (const [turn, holds] of [
      [0, false],
      [1, false],
      [150, false],
      [299, false],
      [300, true],
      [4999, true],
      [5000, false],
    ] as const) {
      const { number, timestamp } = chain[turn] as FakeBlock;
      const right = { status: 200, body: holds };
      expect([turn, await ask(one, check(`block=${number}`))]).toEqual([turn, right]);
      expect([turn, await ask(one, check(`timestamp=${timestamp}`))]).toEqual([turn, right]);
    }
    const before = (chain[0]?.timestamp ?? 0) - 1;
    expect((await ask(one, check(`timestamp=${before}`))).status).toBe(404);
  };

  test('is answered like its block', async () => {
    await withChain(chain, {}, async (one) => {
      await one.catchUp();
      await isAnswered(one);
    });
  });

  test('is answered in a store that lacked the first block, after one header is read', async () => {
    const url = `sqlite:${temporaryPath('kept.db')}`;
    const store = await openStore(url);
    await withChain(chain, { sharedStore: store }, async (one, node) => {
      await one.catchUp();
      await runSql(url, `DELETE FROM block WHERE number < ${FIRST + 300}`);
      expect((await ask(one, check(`timestamp=${chain[150]?.timestamp}`))).status).toBe(404);
      one.restart();
      // A node that has thrown its oldest blocks away does not stop the follower.
      const oldest = `0x${FIRST.toString(16)}`;
      let askedOldest = 0;
      node.fault = ({ method, params }, honest) => {
        if (method === 'eth_getBlockByNumber' && params[0] === oldest) askedOldest++;
        return method === 'eth_getBlockByNumber' && params[0] === oldest ? null : honest();
      };
      for (let turn = 0; turn < 3; turn++) await one.follower.tick();
      expect(askedOldest).toBe(1);
      node.fault = null;
      one.restart();
      await one.follower.tick();
      await isAnswered(one);
      const { revision } = (await store.chain(1)) ?? {};
      one.restart();
      await one.follower.tick();
      expect((await store.chain(1))?.revision).toBe(revision as number);
    });
    await store.close();
  });
});

test('the history of a registry that was found on the chain is whole from its deployment on, and partial from any later block', async () => {
  const node = startFakeNode(chainOf(20, {}), 'process');
  node.codeSince = FIRST + 5;
  const network = { ...MAINNET, firstBlock: {} };
  const { all } = createProviderPool(network, [node.url]);
  expect(await findFirstBlock(network, all, undefined)).toEqual({ firstBlock: FIRST + 5, partial: false });
  expect(await findFirstBlock(network, all, FIRST + 6)).toEqual({ firstBlock: FIRST + 6, partial: true });
  await node.stop();
});

test('the first block of an older store is added only if providers agree about it and it is not after the next one', async () => {
  const [first, next, head] = [block(100), block(105), block(110)];
  const added = async (...headers: readonly (object | null)[]) => {
    let repaired: unknown = null;
    const context = {
      network: MAINNET,
      state: { firstBlock: 100, head },
      store: {
        blocks: async () => [],
        logs: async () => [{ block: next }],
        repair: async ({ blocks }: { blocks: unknown }) => {
          repaired = blocks;
        },
      },
      commit: (run: (state: object) => Promise<unknown>) => run({ epoch: 1 }),
    } as unknown as Context;
    const [one, ...others] = headers.map((header) => ({ node: { header: async () => header } }));
    await storeFirstBlock(context, [one, ...others] as unknown as TickProviders);
    return repaired;
  };
  expect(await added(first)).toEqual([first]);
  expect(await added(null, first, first)).toEqual([first]);
  expect(await added(first, block(100, [], 1))).toBeNull();
  expect(await added({ ...first, timestamp: next.timestamp + 1 })).toBeNull();
});

describe('since when a delegation holds that was revoked and granted again in one block, through a contract', () => {
  const stranger = revoke(address(0x57));
  const joined = (call: FakeCall): FakeCall => ({ ...call, direct: false, joined: true });
  for (const [name, calls, at] of [
    ['revoked, then granted', [revoke(HOT), joined(grant(HOT))], { block: FIRST + 20, logIndex: 1 }],
    [
      'and then somebody else revoked',
      [revoke(HOT), joined(grant(HOT)), joined(stranger)],
      { block: FIRST + 20, logIndex: 1 },
    ],
    ['somebody else revoked, then granted again', [stranger, joined(grant(HOT))], { block: FIRST + 10, logIndex: 0 }],
    [
      'granted once more, revoked, then granted again',
      [joined(grant(HOT)), joined(revoke(HOT)), joined(grant(HOT))],
      { block: FIRST + 20, logIndex: 2 },
    ],
  ] as const) {
    test(name, async () => {
      await withChain(chainOf(25, { 10: [grant(HOT)], 20: calls }), {}, async (one) => {
        await one.catchUp();
        const { granting } = await one.store.explain(1, { version: 1, scope: 'all', from: VAULT, to: HOT });
        expect(granting.map(({ since: { block, logIndex } }) => ({ block, logIndex }))).toEqual([at]);
      });
    });
  }
});
