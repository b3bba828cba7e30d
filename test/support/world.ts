// A test world for followers: a chain that grows and reorgs at random, the nodes that serve it, and the truth about it.

import type { Address, Bytes32 } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/store.ts';
import { createChainMaker, type FakeBlock, type FakeCall, type FakeNode, startFakeNode } from './fake-node.ts';
import { type Following, following } from './following.ts';
import { CONTRACTS, IDS, RIGHTS, WALLETS } from './lives.ts';
import type { Model } from './model.ts';
import { asText } from './questions.ts';
import { createRandom } from './random.ts';
import { MAINNET } from './vectors.ts';

export const FIRST = 1000;

export interface World extends MadeChain {
  readonly random: () => number;
  /** The registries at the end of any block, on any branch. */
  modelAt(hash: Bytes32): Model;
  /** All calls up to that block. */
  callsAt(hash: Bytes32): readonly RegistryCall[];
  readonly nodes: readonly FakeNode[];
  readonly one: Following;
  readonly chainId: number;
  readonly isProvable: boolean;
  /** The true chain. */
  chain: readonly FakeBlock[];
  /** Adds blocks with a few calls each, and shows them to the nodes. */
  grow(blocks: number, calls?: (turn: number) => readonly FakeCall[]): void;
  /** Replaces the newest blocks with others. */
  reorg(depth: number, blocks: number, calls?: (turn: number) => readonly FakeCall[]): void;
  /** Shows the true chain to the nodes. */
  show(): void;
  /** Advances the clock with ticks until the follower must have caught up and read its window. */
  rest(minutes?: number): Promise<void>;
  /** Audits every final block at once. */
  auditAll(): Promise<void>;
  /** Describes how the store differs from the truth at its own head; null if it does not. */
  difference(): Promise<string | null>;
  /** The same, as of a block of the chain. */
  differenceAsOf(block: FakeBlock): Promise<string | null>;
  /** The store must be at the chain's head, and right. */
  expectRight(): Promise<string | null>;
  close(): Promise<void>;
}

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
  readonly calls?: (random: () => number) => readonly FakeCall[];
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

export async function createWorld(options: WorldOptions = {}): Promise<World> {
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

  const world: World = {
    random,
    maker,
    modelAt: maker.modelAt,
    callsAt: maker.callsAt,
    nodes,
    one,
    chainId,
    isProvable,
    get chain() {
      return chain;
    },
    set chain(to) {
      chain = to;
    },
    grow(more, calls) {
      chain = extend(chain, more, calls);
      world.show();
    },
    reorg(depth, more, calls) {
      chain = extend(chain.slice(0, Math.max(1, chain.length - depth)), more, calls);
      world.show();
    },
    show() {
      for (const node of nodes) node.chain = chain;
      one.clock = Math.max(one.clock, tip().timestamp * 1000);
    },
    async rest(minutes = 3) {
      for (let turn = 0; turn < minutes; turn++) {
        one.clock += 61_000;
        await one.settle(30);
      }
    },
    async auditAll() {
      await one.follower.audit(FIRST, Number.MAX_SAFE_INTEGER).catch((error) => one.errors.push(error));
      await one.settle(5);
    },
    async difference() {
      const head = (await one.store.chain(chainId))?.head;
      if (head == null) return null;
      return differenceAt(one.store, chainId, maker.heldAt(head.hash).map(asText), head);
    },
    differenceAsOf: (block) => differenceAt(one.store, chainId, maker.heldAt(block.hash).map(asText), block),
    async expectRight() {
      const state = await one.store.chain(chainId);
      if (state?.halt) return `halted: ${state.halt.code}`;
      if (state?.head?.hash !== tip().hash) {
        const last = one.errors.at(-1);
        return `the head is ${state?.head?.number}, the chain's is ${tip().number}; last trouble: ${last?.stack}`;
      }
      return world.difference();
    },
    async close() {
      await one.close();
      for (const node of nodes) await node.stop();
    },
  };
  return world;
}

async function differenceAt(
  store: Store,
  chainId: number,
  truth: readonly string[],
  head: { number: number; hash: Bytes32 },
): Promise<string | null> {
  const found = new Set<string>();
  const refused: Address[] = [];
  const revision = (await store.chain(chainId))?.revision ?? 0;
  for (const wallet of WALLETS) {
    for (const version of [1, 2] as const) {
      const query = {
        chainId,
        version,
        wallet,
        direction: 'outgoing',
        at: { block: head.number, revision },
      } as const;
      try {
        for (const one of (await store.list({ ...query, limit: 1000 })).delegations) found.add(asText(one));
      } catch (error) {
        // An explicit error is not a wrong answer.
        if (!(error instanceof StoreError) || error.code !== 'revocation-unread') throw error;
        refused.push(wallet);
      }
    }
  }
  const isRefused = (text: string) => text.startsWith('1,') && refused.some((wallet) => text.split(',')[2] === wallet);
  const known = truth.filter((text) => !isRefused(text));
  const missing = known.filter((text) => !found.has(text));
  const surplus = [...found].filter((text) => !truth.includes(text) && !isRefused(text));
  if (missing.length + surplus.length === 0) return null;
  return `at ${head.number} missing ${missing.join(' ')}; surplus ${surplus.join(' ')}`;
}

const MAKERS: readonly ((
  pick: <T>(of: readonly T[]) => T,
  flip: () => boolean,
) => readonly [string, string, ...unknown[]])[] = [
  (pick, flip) => ['v1', 'delegateForAll', pick(WALLETS), flip()],
  (pick, flip) => ['v1', 'delegateForContract', pick(WALLETS), pick(CONTRACTS), flip()],
  (pick, flip) => ['v1', 'delegateForToken', pick(WALLETS), pick(CONTRACTS), pick(IDS), flip()],
  () => ['v1', 'revokeAllDelegates'],
  (pick) => ['v1', 'revokeDelegate', pick(WALLETS)],
  (pick) => ['v1', 'revokeDelegate', pick(WALLETS)],
  (pick) => ['v1', 'revokeSelf', pick(WALLETS)],
  (pick, flip) => ['v2', 'delegateAll', pick(WALLETS), pick(RIGHTS), flip()],
  (pick, flip) => ['v2', 'delegateContract', pick(WALLETS), pick(CONTRACTS), pick(RIGHTS), flip()],
  (pick, flip) => ['v2', 'delegateERC721', pick(WALLETS), pick(CONTRACTS), pick(IDS), pick(RIGHTS), flip()],
  (pick) => ['v2', 'delegateERC20', pick(WALLETS), pick(CONTRACTS), pick(RIGHTS), pick(['0', '1', '50'])],
  (pick) => ['v2', 'delegateERC1155', pick(WALLETS), pick(CONTRACTS), pick(IDS), pick(RIGHTS), pick(['0', '7'])],
];

/** Random calls of one block; empty blocks are rare, because they test little. */
export function randomCalls(random: () => number): FakeCall[] {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  return Array.from({ length: Math.floor(random() * 4) }, () => {
    const [registry, name, ...args] = pick(MAKERS)(pick, () => random() < 0.7);
    return { call: [registry, pick(WALLETS), name, args] as unknown as RegistryCall, direct: random() < 0.5 };
  });
}
