// A chain with current block times that a real program follows through a fake node, and the truth about it.

import { eventually } from './eventually.ts';
import { createChainMaker, type FakeBlock, type FakeCall, startFakeNode } from './fake-node.ts';
import type { Model } from './model.ts';
import { asText } from './questions.ts';
import { createRandom } from './random.ts';
import type { ServeProcess } from './serve-process.ts';
import { FIRST, randomCalls } from './world.ts';

/** A secret that is in the node's URL and must not appear anywhere else. */
export const SECRET = 'SECRET-KEY-123';

export type LiveChain = ReturnType<typeof liveChain>;

/** Creates a chain whose newest block has the current time, and never a later one. */
export function liveChain(blocks: number, seed = 1) {
  const random = createRandom(seed);
  const maker = createChainMaker(FIRST, 1, Math.floor(Date.now() / 1000) - blocks);
  const node = startFakeNode();
  const known = new Set<string>();
  const models = new Map<string, Model>();
  const one = {
    node,
    chain: [] as FakeBlock[],
    url: `${node.url}/${SECRET}`,
    grow(more: number, calls = (): FakeCall[] => randomCalls(random)): void {
      for (let turn = 0; turn < more; turn++) {
        const parent = one.chain.at(-1) ?? null;
        const seconds = parent !== null && parent.timestamp >= Math.floor(Date.now() / 1000) ? 0 : 1;
        const block = maker.block(parent, calls(), seconds);
        known.add(block.hash);
        one.chain.push(block);
      }
      node.chain = [...one.chain];
    },
    reorg(depth: number, more: number): void {
      one.chain = one.chain.slice(0, -depth);
      one.grow(more);
    },
    /** The active delegations at the end of a block, as sorted texts. */
    held: (hash: string): string[] => (one.modelAt(hash)?.held() ?? []).map(asText).sort(),
    /** The registries at the end of a block; null for an unknown block. */
    modelAt(hash: string): Model | null {
      let model = models.get(hash);
      if (model === undefined && known.has(hash)) {
        model = maker.modelAt(hash as `0x${string}`);
        models.set(hash, model);
      }
      return model ?? null;
    },
    stop: () => node.stop(),
  };
  one.grow(blocks);
  return one;
}

export const settingsOf = (url: string) => ({
  RPC_URL_1: url,
  START_BLOCK_1: String(FIRST),
  FINALITY_1: '10 blocks',
  POLL_INTERVAL_1: '100',
  MAX_LAG_1: '600',
  METRICS_PORT: '0',
});

/** Waits until the program answers at the chain's head. */
export const caughtUp = (served: ServeProcess, { chain }: LiveChain) =>
  eventually('caught up', async () => {
    const networks = (await (await fetch(`${served.url}/networks`)).json()) as {
      chainId: number;
      head?: { hash: string };
    }[];
    return networks.find(({ chainId }) => chainId === 1)?.head?.hash === chain.at(-1)?.hash;
  });
