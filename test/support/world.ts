// A test world for followers: a chain that grows and reorgs at random, the nodes that serve it, and the truth about it.

import type { Store } from '../../src/store/store.ts';
import { wrongLists } from './every-answer.ts';
import { createChainMaker, type FakeBlock, type FakeCall, startFakeNode } from './fake-node.ts';
import { following } from './following.ts';
import { below, createRandom, pickFrom, type Random } from './random.ts';
import { MAINNET } from './vectors.ts';
import { CALLS, CONTRACTS, IDS, RIGHTS, WALLETS } from './wallets.ts';

export const FIRST = 1000;

export type World = Awaited<ReturnType<typeof createWorld>>;

export interface WorldOptions {
  readonly seed?: number;
  readonly blocks?: number;
  readonly nodes?: number;
  readonly seconds?: number;
  readonly finalizedDepth?: number | null;
  readonly timeoutMs?: number;
  /** Where the nodes listen. The default is `process`, or `socket` for a test with a timeout: others never wait. */
  readonly where?: 'socket' | 'process';
  /** The default calls of a block. */
  readonly calls?: (random: Random) => readonly FakeCall[];
  readonly storeOf?: (store: Store) => Store;
  /** The default is chain 1. */
  readonly chainId?: number;
  readonly sharedStore?: Store;
  /** Whether blocks can be proven against their hashes; they can by default. */
  readonly isProvable?: boolean;
  readonly isBloomFull?: boolean;
  /** A chain that another world has made, instead of the first blocks: it need not be made twice. */
  readonly made?: MadeChain | undefined;
}

/** Blocks, and their maker, which knows the truth about them. */
export interface MadeChain {
  readonly maker: ReturnType<typeof createChainMaker>;
  readonly chain: readonly FakeBlock[];
}

export async function createWorld(options: WorldOptions = {}) {
  const {
    seed = 1,
    blocks = 40,
    nodes: count = 1,
    seconds = 12,
    timeoutMs,
    where = timeoutMs === undefined ? 'process' : 'socket',
    storeOf,
    sharedStore,
    chainId = 1,
    isProvable = true,
  } = options;
  const { calls: usual = randomCalls } = options;
  const random = createRandom(seed);
  const { isBloomFull = false, made } = options;
  const maker = made?.maker ?? createChainMaker(FIRST, seconds, undefined, { isProvable, isBloomFull });
  const nodes = Array.from({ length: count }, () => startFakeNode([], where));
  for (const node of nodes) {
    node.chainId = chainId;
    node.finalizedDepth = options.finalizedDepth === undefined ? 10 : options.finalizedDepth;
  }

  type Calls = (turn: number) => readonly FakeCall[];
  const extend = (from: readonly FakeBlock[], more: number, calls: Calls = () => usual(random)) => {
    const chain = [...from];
    for (let turn = 0; turn < more; turn++) chain.push(maker.block(chain.at(-1) ?? null, calls(turn)));
    return chain;
  };
  let chain = made?.chain ?? extend([], blocks);
  const tip = () => chain.at(-1) as FakeBlock;
  for (const node of nodes) node.chain = chain;
  const one = await following(nodes, {
    firstBlock: FIRST,
    clock: tip().timestamp * 1000,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    network: { ...MAINNET, chainId, provable: isProvable },
    ...(storeOf === undefined ? {} : { storeOf }),
    ...(sharedStore === undefined ? {} : { sharedStore }),
  });

  const world = {
    random,
    maker,
    nodes,
    one,
    chainId,
    isProvable,
    /** The registries at the end of any block, on any branch. */
    modelAt: maker.modelAt,
    /** All calls up to that block. */
    callsAt: maker.callsAt,
    /** The true chain. */
    get chain() {
      return chain;
    },
    set chain(to) {
      chain = to;
    },
    /** Adds blocks with a few calls each, and shows them to the nodes. */
    grow(more: number, calls?: Calls): void {
      chain = extend(chain, more, calls);
      world.show();
    },
    /** Replaces the newest blocks with others. */
    reorg(depth: number, more: number, calls?: Calls): void {
      chain = extend(chain.slice(0, Math.max(1, chain.length - depth)), more, calls);
      world.show();
    },
    /** Shows the true chain to the nodes. */
    show(): void {
      for (const node of nodes) node.chain = chain;
      one.clock = Math.max(one.clock, tip().timestamp * 1000);
    },
    /** Advances the clock with ticks until the follower must have caught up and read its window. */
    async rest(minutes = 3): Promise<void> {
      for (let turn = 0; turn < minutes; turn++) {
        one.clock += 61_000;
        await one.catchUp(30);
      }
    },
    /** Audits every final block at once. */
    async auditAll(): Promise<void> {
      await one.follower.audit(FIRST, Number.MAX_SAFE_INTEGER).catch((error) => one.errors.push(error));
      await one.catchUp(5);
    },
    /** Describes how the store differs from the truth at its own head; null if it does not. */
    async difference(): Promise<string | null> {
      const head = (await one.store.chain(chainId))?.head;
      return head == null ? null : world.differenceAsOf(head);
    },
    /** The same, as of a block of the chain. */
    differenceAsOf: ({ number, hash }: Pick<FakeBlock, 'number' | 'hash'>) =>
      wrongLists(one.store, chainId, maker.modelAt(hash), number),
    /** The store must be at the chain's head, and right. */
    async expectRight(): Promise<string | null> {
      const state = await one.store.chain(chainId);
      if (state?.halt) return `halted: ${state.halt.code}`;
      if (state?.head?.hash === tip().hash) return world.difference();
      const last = one.errors.at(-1);
      return `the head is ${state?.head?.number}, the chain's is ${tip().number}; last error: ${last?.stack}`;
    },
    async close(): Promise<void> {
      await one.close();
      for (const node of nodes) await node.stop();
    },
  };
  return world;
}

const VALUES = {
  ...{ wallet: WALLETS, contract: CONTRACTS, id: IDS, rights: RIGHTS },
  ...{ erc20: ['0', '1', '50'], erc1155: ['0', '7'] },
} as const;

/** Random calls of one block; empty blocks are rare, because they test little. */
export const randomCalls = (random: Random): FakeCall[] =>
  Array.from({ length: below(random, 4) }, () => {
    const [registry, name, ...kinds] = pickFrom(random, CALLS);
    const args = kinds.map((kind) => (kind === 'flag' ? random() < 0.7 : pickFrom<string>(random, VALUES[kind])));
    return { call: [registry, pickFrom(random, WALLETS), name, args], direct: random() < 0.5 };
  });
