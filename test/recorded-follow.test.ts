// Follows a node that replays recordings of the real registries: backfill, then block by block. Right at every block.

import { describe, expect, test } from 'bun:test';
import { answer } from '../src/registry/check.ts';
import type { Address } from '../src/registry/delegation.ts';
import type { LogRecord, Store } from '../src/store/store.ts';
import { type FakeBlock, type FakeNode, Refusal, startFakeNode } from './support/fake-node.ts';
import { following } from './support/following.ts';
import { asText } from './support/questions.ts';
import { truthOf } from './support/recorded-truth.ts';
import { replayOf } from './support/replay.ts';
import { unreadRevocations } from './support/stored.ts';
import { REPLAYED, type Recording } from './support/vectors.ts';

/**
 * As of each block: every list, and one check in `share`. With `edges` also all checks about the pairs that the block or the
 * next one touches: there alone can an answer begin or end.
 */
async function compare(recording: Recording, store: Store, { edges, share }: { edges: boolean; share: number }) {
  const { asked, wallets, blocks } = truthOf(recording);
  const state = await store.chain(1);
  let [compared, wrong, turn] = [0, 0, 0];
  for (const { block, answers, isAtEdge, list } of blocks) {
    for (const [position, { question }] of asked.entries()) {
      if (turn++ % share !== 0 && !(edges && isAtEdge[position])) continue;
      const { granting } = await store.check(1, question, block.number);
      compared++;
      if (answer(question, granting) !== answers[position]) wrong++;
    }
    const at = { block: block.number, revision: state?.revision ?? 0 };
    for (const wallet of wallets) {
      for (const version of [1, 2] as const) {
        const { delegations } = await store.list({ chainId: 1, version, wallet, at, limit: 10_000 });
        compared++;
        if (delegations.map(asText).join(';') !== list(version, wallet).join(';')) wrong++;
      }
    }
  }
  return { compared, wrong };
}

interface Case {
  readonly name: string;
  readonly set: (node: FakeNode, lagging: FakeNode) => void;
  readonly nodes?: 2;
}

/** Refuses ranges of more than so many blocks. */
const limitedTo =
  (most: number): FakeNode['fault'] =>
  ({ method, params }, honest) => {
    const [filter] = params;
    if (method === 'eth_getLogs' && filter.blockHash === undefined) {
      const size = Number(filter.toBlock) - Number(filter.fromBlock) + 1;
      if (size > most) throw new Refusal(-32005, 'query returned more than 10000 results');
    }
    return honest();
  };

const CASES: readonly Case[] = [
  { name: 'any range', set: () => {} },
  ...[1, 10, 1000].map((most) => ({
    name: `ranges of ${most}`,
    set: (node: FakeNode) => {
      node.fault = limitedTo(most);
    },
  })),
  {
    name: 'no finalized tag',
    set: (node) => {
      node.finalizedDepth = null;
    },
  },
  { name: 'a second node that lags', set: () => {}, nodes: 2 },
];

/** What the first reading of each recording made of it. */
const indexes: Record<string, LogRecord[]> = {};

/** The smallest recording is read in every way, or in two by a fast run; the others, of which the index is no different, in one. */
const casesOf = ({ name }: Recording) => CASES.slice(0, name !== 'c' ? 1 : process.env['TEST_FAST'] ? 2 : CASES.length);

for (const recording of REPLAYED) {
  describe(`recording ${recording.name}`, () => {
    for (const { name, set, nodes } of casesOf(recording)) {
      test(`${name}: read from nothing, then block by block`, async () => {
        const chain = replayOf(recording);
        const half = chain.length >> 1;
        const [node, lagging] = [startFakeNode(chain.slice(0, half)), startFakeNode(chain.slice(0, half))];
        set(node, lagging);
        const [first] = chain as [FakeBlock];
        const clock = (chain[half - 1] as FakeBlock).timestamp * 1000;
        const used = nodes === 2 ? [lagging, node] : [node];
        const one = await following(used, { firstBlock: first.number, clock });
        await one.catchUp();
        const steps = { compared: 0, wrong: 0 };
        const atHead = async (upTo: number) => {
          const state = await one.store.chain(1);
          if (state?.head?.number !== chain[upTo - 1]?.number) return;
          const { asked, blocks } = truthOf(recording);
          const answers = blocks[upTo - 1]?.answers ?? [];
          for (const [turn, { question }] of asked.entries()) {
            if ((turn + upTo) % 40 !== 0) continue;
            const { granting } = await one.store.check(1, question);
            steps.compared++;
            if (answer(question, granting) !== answers[turn]) steps.wrong++;
          }
        };
        await atHead(half);
        for (let upTo = half + 1; upTo <= chain.length; upTo++) {
          node.chain = chain.slice(0, upTo);
          lagging.chain = chain.slice(0, upTo - 3);
          one.clock = (chain[upTo - 1] as FakeBlock).timestamp * 1000 + 5000;
          await one.catchUp(4);
          await atHead(upTo);
        }
        lagging.chain = chain;
        one.clock += 120_000;
        await one.catchUp();
        expect((await one.store.chain(1))?.head?.hash).toBe(chain.at(-1)?.hash as Address);
        expect((await unreadRevocations(one.store, 1)).length).toBe(0);
        // However it was read, the index is the same to the last log: what holds for one holds for all.
        const index = await one.store.logs(1, { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100_000 });
        indexes[recording.name] ??= index;
        expect(index).toEqual(indexes[recording.name] as LogRecord[]);
        expect(index.length).toBe(recording.blocks.flatMap(({ txs }) => txs.flatMap((tx) => tx.logs)).length);
        const all = await compare(
          recording,
          one.store,
          name === 'any range' ? { edges: true, share: 60 } : { edges: false, share: 600 },
        );
        console.log(
          `recording ${recording.name}, ${name}: ${steps.compared} at each head and ${all.compared} as of each block, ` +
            `${steps.wrong + all.wrong} wrong`,
        );
        expect([steps.wrong, all.wrong]).toEqual([0, 0]);
        expect(steps.compared).toBeGreaterThan(100);
        await one.close();
        await node.stop();
        await lagging.stop();
      });
    }
  });
}
