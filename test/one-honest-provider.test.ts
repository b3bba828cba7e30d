// Tests that one honest provider is enough, and that these faults of a single provider cause no wrong answer. Each was a bug.

import { describe, expect, test } from 'bun:test';
import { createAuditor } from '../src/chain/follow/auditor.ts';
import { createFollower } from '../src/chain/follow/follower.ts';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import type { Network } from '../src/registry/network.ts';
import { StoreError } from '../src/store/errors.ts';
import { describeHalt, type Halt } from '../src/store/halt.ts';
import { HASHES } from '../src/store/index-hash.ts';
import type { CommitInput, Store } from '../src/store/store.ts';
import {
  createChainMaker,
  type FakeBlock,
  type FakeCall,
  type FakeNode,
  Refusal,
  withoutProofs,
} from './support/fake-node.ts';
import {
  becomesOtherChain,
  capByBytes,
  capByCount,
  capMidBlock,
  emptyOldState,
  logIndexPerTransaction,
  logTimes,
  newestOnly,
  noOldCode,
  noOldState,
  noReceipts,
  on,
  prunedSilently,
  refusesBlockHash,
  together,
  UNKNOWN_FORM,
} from './support/node-quirks.ts';
import { unreadRevocations } from './support/stored.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld, FIRST, type MadeChain, type World, type WorldOptions } from './support/world.ts';

const [V, D, E] = WALLETS;
const quiet = () => [];
const grants = (to: string, value = true): FakeCall => ({
  call: ['v2', V, 'delegateAll', [to, NO_RIGHTS, value]],
  direct: true,
});
/** V grants to D and revokes it; later blocks make both final. */
const TAKEN_BACK = { 10: [grants(D)], 50: [grants(D, false)], 90: [grants(E)] };
const isGranted = { version: 2, scope: 'all', from: V, to: D, rights: NO_RIGHTS } as const;

/** Calls by block, counted from the first block. */
type History = Readonly<Record<number, readonly FakeCall[]>>;

/** V grants to D, and later to E instead. */
const HANDED_OVER: History = { 10: [grants(D)], 500: [grants(D, false), grants(E)] };
/** Enough blocks that those of HANDED_OVER belong to the backfill, which is read once. */
const LONG = 11_500;

const MADE = new Map<string, MadeChain>();

async function inWorld(
  { blocks = 120, history = {}, ...options }: WorldOptions & { history?: History },
  work: (world: World, node: FakeNode, second: FakeNode) => Promise<void>,
): Promise<void> {
  const name = `${blocks} ${options.isProvable} ${JSON.stringify(history)}`;
  const world = await createWorld({ ...options, blocks: 1, calls: quiet, made: MADE.get(name) });
  if (!MADE.has(name)) world.grow(blocks - 1, (turn) => history[turn + 1] ?? []);
  MADE.set(name, { maker: world.maker, chain: world.chain });
  const [node, second] = world.nodes as [FakeNode, FakeNode];
  try {
    await work(world, node, second);
  } finally {
    await world.close();
  }
}

const auditorOf = ({ one }: World) => createAuditor(one.follower, MAINNET, one.store, () => one.clock);
const disputedIn = async ({ one }: World) => (await one.store.chain(1))?.disputes.map(({ vault }) => vault) ?? [];
const haltOf = async ({ one }: World) => (await one.store.chain(1))?.halt ?? null;
const typesOf = ({ one }: World): readonly string[] => one.events.map(({ type }) => type);

/** Blocks with calls, their neighbours, and some others. */
const moments = ({ chain }: World): readonly FakeBlock[] =>
  chain.filter((_, at) => at % 500 === 0 || [at - 1, at, at + 1].some((near) => chain[near]?.transactions.length));

/** The first wrong answer as of these blocks; null if there is none. */
async function wrongAsOf(world: World): Promise<string | null> {
  for (const block of moments(world)) {
    const wrong = await world.differenceAsOf(block);
    if (wrong !== null) return wrong;
  }
  return null;
}

/** The first wrong answer as of the times of these blocks; null if there is none. */
async function wrongByTime(world: World): Promise<string | null> {
  for (const block of moments(world)) {
    const at = await world.one.store.blockAt(1, block.timestamp).catch(ifRefused);
    const wrong = at && (await world.differenceAsOf({ ...block, number: at.number }));
    if (wrong !== null) return `by the time of ${block.number}: ${wrong}`;
  }
  return null;
}

/** An explicit error is not a wrong answer. */
function ifRefused(error: unknown): null {
  if (error instanceof StoreError) return null;
  throw error;
}

const pruned = prunedSilently(FIRST + 400, FIRST + 800, true);

describe('1: a node that has lost logs and returns no error', () => {
  test('1: one pass of the audit asks the honest node and repairs the index, as of every block', () =>
    inWorld({ nodes: 2, blocks: LONG, history: HANDED_OVER }, async (world, node) => {
      node.fault = pruned;
      await world.rest();
      expect(await world.difference()).not.toBeNull();
      await auditorOf(world).auditAll();
      expect(await wrongAsOf(world)).toBeNull();
      expect(await world.expectRight()).toBeNull();
      expect(typesOf(world)).not.toContain('halted');
    }));

  test('1: a disputed wallet is answered again after the honest node was asked', () =>
    inWorld({ nodes: 2, blocks: LONG, history: HANDED_OVER }, async (world, node) => {
      node.fault = pruned;
      await world.rest();
      expect((await world.one.follower.auditAnswers([isGranted]))?.wrong).toHaveLength(1);
      expect(await disputedIn(world)).toEqual([isGranted.from]);
      await world.rest();
      expect(await disputedIn(world)).toEqual([]);
      expect(await world.expectRight()).toBeNull();
      expect(await wrongAsOf(world)).toBeNull();
    }));
});

describe('2: nodes without receipts', () => {
  for (const isProvable of [true, false]) {
    const kind = isProvable ? '' : ', without proofs';
    test(`2: a revocation that was missed is disputed while no node has a receipt, then repaired${kind}`, () =>
      inWorld({ history: TAKEN_BACK, isProvable }, async (world, node) => {
        node.fault = prunedSilently(FIRST + 50, FIRST + 50, true);
        await world.rest();
        expect(await world.difference()).not.toBeNull();
        node.fault = noReceipts(node);
        await auditorOf(world).auditAll();
        expect(await disputedIn(world)).toEqual([isGranted.from]);
        node.fault = null;
        await world.rest();
        expect(await disputedIn(world)).toEqual([]);
        expect(await wrongAsOf(world)).toBeNull();
        expect(await world.expectRight()).toBeNull();
      }));

    test(`2: one of two nodes never has the revocation, and neither has a receipt: disputed${kind}`, () =>
      inWorld({ nodes: 2, blocks: LONG, history: HANDED_OVER, isProvable }, async (world, node, second) => {
        node.fault = together(pruned, noReceipts(node));
        second.fault = noReceipts(second);
        await world.rest();
        expect(await world.difference()).not.toBeNull();
        await auditorOf(world).auditAll();
        expect(await disputedIn(world)).toContain(isGranted.from);
        // The one that agrees with the index is not enough.
        second.fault = () => {
          throw new Refusal(-32_000, 'down');
        };
        await world.rest();
        expect(await disputedIn(world)).toContain(isGranted.from);
        second.fault = null;
        await world.rest();
        expect(await disputedIn(world)).toEqual([]);
        expect(await wrongAsOf(world)).toBeNull();
      }));
  }
});

describe('3: block times in logs', () => {
  const history = { 300: [grants(D)], 700: [grants(E)], 1400: [grants(D, false)], 2500: [grants(E, false)] };

  for (const [name, kind] of [
    ['0x0', 'zero'],
    ['a JSON number', 'number'],
    ['plausible and wrong', 'wrong'],
  ] as const) {
    test(`3: ${name}: the backfill continues, and no answer by time is wrong after one pass of the audit`, () =>
      inWorld({ blocks: 13_000, history }, async (world, node) => {
        node.fault = logTimes(node, kind);
        await world.rest();
        expect(world.one.errors).toEqual([]);
        expect(await world.expectRight()).toBeNull();
        await auditorOf(world).auditAll();
        expect(await wrongByTime(world)).toBeNull();
        expect(await wrongAsOf(world)).toBeNull();
      }));
  }

  test('3: a wrong time that an earlier version stored is found by the audit, and corrected', () => {
    const late = (block: CommitInput['blocks'][number]) =>
      block.logs.length === 0 ? block : { ...block, timestamp: block.timestamp - 3000, timeFrom: 'log' as const };
    const storeOf = (store: Store): Store =>
      Object.create(store, {
        apply: { value: (batch: CommitInput) => store.apply({ ...batch, blocks: batch.blocks.map(late) }) },
      });
    return inWorld({ blocks: 13_000, history, storeOf }, async (world) => {
      await world.rest();
      expect(await wrongByTime(world)).not.toBeNull();
      await auditorOf(world).auditAll();
      expect(await wrongByTime(world)).toBeNull();
      expect(typesOf(world)).toContain('retimed');
    });
  });
});

describe('4: the order of the logs in a block', () => {
  test('4: a repair by a node that numbers logs per transaction keeps grant and revocation in order', () =>
    inWorld(
      { isProvable: false, history: { 50: [grants(D), grants(D, false)], 90: [grants(E)] } },
      async (world, node) => {
        type Log = { readonly logIndex: string };
        // Log indexes count per block, after 57 other logs, and the revocation is withheld.
        node.fault = on('eth_getLogs', (honest) =>
          (honest() as Log[])
            .slice(0, 1)
            .map((log) => ({ ...log, logIndex: `0x${(57 + Number(log.logIndex)).toString(16)}` })),
        );
        await world.rest();
        expect((await world.one.store.check(1, isGranted)).granting).toHaveLength(1);
        node.fault = logIndexPerTransaction(node);
        // This block, and one whose only log was withheld too.
        expect(await world.one.follower.audit(FIRST, FIRST + 200)).toMatchObject({ repaired: 2 });
        const logs = await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10 });
        expect(logs.map(({ event }) => event.type)).toEqual(['granted', 'ended', 'granted']);
        expect((await world.one.store.check(1, isGranted)).granting).toEqual([]);
        expect(await wrongAsOf(world)).toBeNull();
        expect(await world.one.follower.audit(FIRST, FIRST + 200)).toMatchObject({ repaired: 0 });
      },
    ));
});

describe('5: a restart', () => {
  test('5: a disputed wallet stays disputed over a restart, until the registry agrees', () =>
    inWorld({ history: TAKEN_BACK }, async (world, node) => {
      // The only node never returns the revocation's log, but its state is right.
      node.fault = prunedSilently(FIRST + 50, FIRST + 50, true);
      await world.rest();
      await world.one.follower.auditAnswers([isGranted]);
      expect(await disputedIn(world)).toEqual([isGranted.from]);
      world.one.restart();
      node.calls.clear();
      for (let turn = 0; turn < 3; turn++) await world.rest();
      expect(await disputedIn(world)).toEqual([isGranted.from]);
      expect(typesOf(world)).not.toContain('undisputed');
      expect(node.calls.get('eth_getProof')).toBeGreaterThan(0);
      node.fault = null;
      world.one.restart();
      await world.rest();
      expect(await disputedIn(world)).toEqual([]);
      expect(await world.expectRight()).toBeNull();
    }));
});

describe('the state of a block is proven', () => {
  // No node ever returns the revocation's log.
  const hides = prunedSilently(FIRST + 50, FIRST + 50, true);

  test('and outweighs every opinion of nodes that serve no proofs', () =>
    inWorld({ history: TAKEN_BACK, nodes: 2 }, async (world, node, second) => {
      node.fault = hides;
      second.fault = withoutProofs((question, honest) =>
        question.method === 'eth_call' ? `0x${'1'.padStart(64, '0')}` : hides(question, honest),
      );
      await world.rest();
      expect((await world.one.follower.auditAnswers([isGranted]))?.wrong).toMatchObject([{ says: 'false' }]);
      expect(await disputedIn(world)).toEqual([isGranted.from]);
      // Also when the node that proved it is gone.
      node.fault = () => new Response('', { status: 503 });
      for (let turn = 0; turn < 3; turn++) await world.rest();
      expect(await disputedIn(world)).toEqual([isGranted.from]);
      node.fault = null;
      second.fault = null;
      for (let turn = 0; turn < 3; turn++) await world.rest();
      expect([await disputedIn(world), await world.expectRight()]).toEqual([[], null]);
    }));

  test('and what a caller learns from it is compared first, as of the head', () =>
    inWorld({ history: TAKEN_BACK }, async (world, node) => {
      node.fault = hides;
      await world.one.catchUp();
      const auditor = auditorOf(world);
      await auditor.run();
      expect(await disputedIn(world)).toEqual([]);
      auditor.addContradicted([isGranted]);
      await auditor.run();
      expect(await disputedIn(world)).toEqual([isGranted.from]);
      const [dispute] = (await world.one.store.chain(1))?.disputes ?? [];
      expect(dispute?.block).toBe(world.chain.at(-1)?.number as number);
      // Blocks that are final by now do not end it: only the state at its block or later does.
      for (let turn = 0; turn < 3; turn++) await world.rest();
      expect(await disputedIn(world)).toEqual([isGranted.from]);
    }));
});

describe('a first grant whose log the only node never returns', () => {
  const hides = prunedSilently(FIRST + 10, FIRST + 10, true);
  /** It was revoked, so that no check of today shows it. */
  const inPast = (work: (world: World, node: FakeNode) => Promise<void>) =>
    inWorld({ history: TAKEN_BACK }, async (world, node) => {
      node.fault = hides;
      await world.rest();
      expect((await world.one.follower.auditAnswers([isGranted]))?.wrong).toEqual([]);
      await work(world, node);
    });

  test('shows in the length of its list: everything about the wallet is refused, until the log comes', () =>
    inPast(async (world, node) => {
      expect(await world.one.follower.auditLengths()).toEqual({ compared: 1, isEnd: false });
      expect(await disputedIn(world)).toEqual([V]);
      const [dispute] = (await world.one.store.chain(1))?.disputes ?? [];
      const question = { version: 2, list: 'outgoing', wallet: V };
      expect(dispute).toMatchObject({ delegate: V, statement: { question, says: '2', isProven: true } });
      for (let turn = 0; turn < 3; turn++) await world.rest();
      expect(await disputedIn(world)).toEqual([V]);
      node.fault = null;
      world.one.restart();
      await world.rest();
      expect(await disputedIn(world)).toEqual([]);
      expect(await wrongAsOf(world)).toBeNull();
    }));

  test('also where the node serves no proofs', () =>
    inPast(async (world, node) => {
      node.fault = withoutProofs(hides);
      await world.one.follower.auditLengths();
      expect(await disputedIn(world)).toEqual([V]);
    }));

  test('wherever the first round begins, the next one comes to it', () =>
    inPast(async (world) => {
      const compared = [];
      for (const begin of [HASHES - 1, undefined, undefined]) {
        expect(await disputedIn(world)).toEqual([]);
        compared.push(await world.one.follower.auditLengths(begin));
      }
      // Nothing after the last place; those who were granted to; those who granted, from the first on.
      expect(compared).toEqual([
        { compared: 0, isEnd: false },
        { compared: 1, isEnd: true },
        { compared: 1, isEnd: false },
      ]);
      expect(await disputedIn(world)).toEqual([V]);
    }));

  test('and in rounds, a call a minute', () =>
    inPast(async (world, node) => {
      const auditor = createAuditor(
        world.one.follower,
        MAINNET,
        world.one.store,
        () => world.one.clock,
        () => 1 - Number.EPSILON,
      );
      node.calls.clear();
      for (let minute = 0; minute < 3; minute++) {
        world.one.clock += 60_000;
        await auditor.run();
      }
      // It begins after the last place.
      expect(auditor.done.counted).toBe(2);
      expect(await disputedIn(world)).toEqual([V]);
    }));
});

describe('18: responses that are truncated silently', () => {
  const both = (turn: number): FakeCall[] => [
    grants(turn % 3 === 0 ? E : D, turn % 2 === 0),
    { call: ['v1', D, 'delegateForAll', [turn % 5 === 0 ? V : E, turn % 4 !== 0]], direct: true },
  ];
  /** Many logs in the backfill, which is read once, and in the window, which is read twice. */
  const busy: History = Object.fromEntries(
    Array.from({ length: 2000 }, (_, at) => (at < 1000 ? at + 100 : at + 9100)).map((turn) => [turn, both(turn)]),
  );
  const written = ({ chain }: World) => chain.flatMap(({ transactions }) => transactions.map(({ hash }) => hash));
  const stored = async ({ one: { store } }: World) =>
    (await store.logs(1, { from: FIRST, to: FIRST + 20_000, limit: 10_000 })).map(
      ({ transactionHash }) => transactionHash,
    );

  const capped = [
    ['after the block of the 7th log', capByCount(7)],
    ['after the block of the 100th log', capByCount(100)],
    ['after the block of the 1,510th log', capByCount(1510)],
    ['after 20,000 bytes', capByBytes(20_000)],
    ['within a block', capMidBlock(151)],
    ['within a block, and early', capMidBlock(7)],
    ['at the start: only the newest logs are returned', newestOnly(75)],
  ] as const;
  for (const [name, fault] of capped.filter((_, at) => !process.env['TEST_FAST'] || at % 3 === 0)) {
    test(`18: ${name}: the whole history is there, and so are the newest blocks`, () =>
      inWorld({ blocks: LONG, history: busy }, async (world, node) => {
        node.fault = fault;
        await world.one.catchUp(100);
        expect(await stored(world)).toEqual(written(world));
        expect(await world.expectRight()).toBeNull();
        world.grow(30, both);
        await world.one.catchUp(1);
        expect(await stored(world)).toEqual(written(world));
        expect(await world.expectRight()).toBeNull();
      }));
  }
});

describe('19: a URL that leads to another chain', () => {
  /** A chain of the same height on which V has granted to E. */
  function foreign(blocks: number): FakeBlock[] {
    const maker = createChainMaker(FIRST, 12, 1_700_000_000, { mark: 0x77 });
    const chain: FakeBlock[] = [];
    for (let turn = 0; turn < blocks; turn++) chain.push(maker.block(chain.at(-1) ?? null, [grants(E)]));
    return chain;
  }
  const isForeign = (hash: string | undefined) => hash?.startsWith('0x77') ?? false;

  test('19: before any block is final, none of its data is stored, and the node is used again when its chain is back', () =>
    inWorld({ blocks: 5, history: { 3: [grants(D)] } }, async (world, node) => {
      await world.one.catchUp();
      const before = await world.one.store.chain(1);
      expect(before).toMatchObject({ verified: null, head: { hash: world.chain.at(-1)?.hash as string } });
      node.fault = becomesOtherChain(node, { chainId: 10, chain: foreign(12) });
      for (let turn = 0; turn < 10; turn++) {
        world.one.clock += 20_000;
        await world.one.catchUp(3);
      }
      expect((await world.one.store.chain(1))?.head).toEqual(before?.head as never);
      expect(typesOf(world)).toEqual([]);
      const [provider] = world.one.providers.all;
      expect(provider?.failure?.cause).toBe('wrong-chain');
      expect(provider?.penalty).toBeGreaterThan(0);
      node.fault = null;
      world.grow(1, quiet);
      world.one.clock += 20_000;
      await world.one.follower.tick();
      expect(await world.expectRight()).toBeNull();
    }));

  test('19: the same if it switches during a tick', async () => {
    for (const more of [3, 40]) {
      for (let after = 0; after < 12; after++) {
        await inWorld({ blocks: 5, history: { 3: [grants(D)] } }, async (world, node) => {
          await world.one.catchUp();
          world.grow(more, quiet);
          node.fault = becomesOtherChain(node, { chainId: 10, chain: foreign(5 + more + 2) }, after);
          await world.one.catchUp(5);
          expect(isForeign((await world.one.store.chain(1))?.head?.hash)).toBe(false);
          expect(await world.difference()).toBeNull();
        });
      }
    }
  });
});

describe('20: the cost of a repair', () => {
  const thirty = Array.from({ length: 30 }, (_, at): FakeCall => {
    const vault = `0x${(at + 1).toString(16).padStart(40, '1')}`;
    return { call: ['v1', vault, 'revokeDelegate', [D]], direct: false };
  });
  const history = { 10: [grants(D)], 50: thirty, 90: [grants(E)] };

  test('20: thirty transactions of one block are repaired with at most a few calls each', () =>
    inWorld({ history }, async (world, node) => {
      node.fault = prunedSilently(FIRST + 50, FIRST + 50, true);
      await world.rest();
      node.fault = null;
      node.calls.clear();
      await world.one.follower.audit(FIRST, FIRST + 200);
      const calls = [...node.calls.values()].reduce((sum, count) => sum + count, 0);
      expect(calls).toBeLessThan(3 * thirty.length);
      const logs = await world.one.store.logs(1, { from: FIRST + 50, to: FIRST + 50, limit: 100 });
      expect(logs).toHaveLength(thirty.length);
    }));

  test('20: the head is followed while an audit waits for receipts', () =>
    inWorld({ history }, async (world, node) => {
      node.fault = prunedSilently(FIRST + 50, FIRST + 50, true);
      await world.rest();
      let [asked, answer] = [() => {}, () => {}];
      const isAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const mayAnswer = new Promise<void>((resolve) => {
        answer = resolve;
      });
      // Of the block that is repaired, not of new ones.
      const late = world.chain[50]?.hash;
      node.fault = on('eth_getBlockReceipts', async (honest, [hash]) => {
        if (hash !== late) return honest();
        asked();
        await mayAnswer;
        return honest();
      });
      const audit = world.one.follower.audit(FIRST, FIRST + 200);
      await isAsked;
      for (let turn = 0; turn < 3; turn++) {
        world.grow(1, () => [grants(D, turn === 1)]);
        await world.one.follower.tick();
        expect((await world.one.store.chain(1))?.head?.hash).toBe(world.chain.at(-1)?.hash as `0x${string}`);
      }
      answer();
      expect(await audit).toMatchObject({ repaired: 1 });
      await world.rest();
      expect(await world.expectRight()).toBeNull();
      expect(await wrongAsOf(world)).toBeNull();
    }));
});

describe('21: v1 revocations that do not name the delegate', () => {
  const v1 = (name: string, args: readonly (string | boolean)[]): FakeCall => ({
    call: ['v1', V, name, args],
    direct: false,
  });
  const history = {
    10: [v1('delegateForAll', [D, true]), v1('delegateForAll', [E, true])],
    50: [v1('revokeDelegate', [D])],
    90: [grants(E)],
  };
  const grantedTo = async ({ one: { store } }: World, to: typeof D) =>
    (await store.check(1, { version: 1, scope: 'all', from: V, to })).granting.length > 0;

  for (const code of UNKNOWN_FORM) {
    test(`21: settled if the only node rejects block hashes with ${code}`, () =>
      inWorld({ history }, async (world, node) => {
        node.fault = refusesBlockHash(code);
        await world.rest();
        expect(await unreadRevocations(world.one.store, 1)).toEqual([]);
        expect(await grantedTo(world, D)).toBe(false);
        expect(await grantedTo(world, E)).toBe(true);
        expect(await wrongAsOf(world)).toBeNull();
      }));
  }

  test('21: if no node has the state, an event names the wallet and the error of the node', () =>
    inWorld({ history }, async (world, node) => {
      node.fault = noOldState(node, -1);
      await world.rest();
      const unread = world.one.events.filter(({ type }) => type === 'unread');
      expect(unread).toEqual([
        { type: 'unread', vault: V, block: FIRST + 50, reason: expect.stringMatching(/^1\/1: .*missing trie node/) },
      ]);
    }));
});

describe('22: a reorg to a shorter branch', () => {
  test('22: the yes of a block that vanished is not served after the next tick, with one node', () =>
    inWorld({ history: { 10: [grants(E)] } }, async (world) => {
      world.grow(5, (turn) => (turn === 1 ? [grants(D)] : []));
      await world.one.catchUp();
      expect((await world.one.store.check(1, isGranted)).granting).toHaveLength(1);
      world.reorg(5, 2, quiet);
      await world.one.follower.tick();
      expect((await world.one.store.check(1, isGranted)).granting).toEqual([]);
      expect(await world.expectRight()).toBeNull();
    }));
});

describe('23: a provider that has none of our blocks', () => {
  for (const [name, blocks] of [
    ['another chain with the same id', 150],
    ['a chain that was reset', 3],
  ] as const) {
    test(`23: ${name} halts the chain, and after two minutes the cause and what to do are reported`, () =>
      inWorld({ history: TAKEN_BACK }, async (world, node) => {
        await world.rest();
        const before = await world.one.store.chain(1);
        const maker = createChainMaker(FIRST, 12, 1_700_000_000, { mark: 0x77 });
        const other: FakeBlock[] = [];
        for (let turn = 0; turn < blocks; turn++) other.push(maker.block(other.at(-1) ?? null, [grants(E)]));
        node.chain = other;
        for (let turn = 0; turn < 4; turn++) {
          world.one.clock += 20_000;
          await world.one.catchUp(3);
        }
        expect(await haltOf(world)).toMatchObject({ code: 'finality-violation', block: before?.verified as number });
        for (let turn = 0; turn < 8; turn++) {
          world.one.clock += 20_000;
          await world.one.catchUp(3);
        }
        const halt = await haltOf(world);
        expect(halt).toMatchObject({ code: 'finality-violation', foreign: true });
        expect(describeHalt(1, halt as Halt).help).toContain('Check that RPC_URL_1 names nodes of chain 1.');
        expect((await world.one.store.chain(1))?.head).toEqual(before?.head as never);
        // The operator configures the right nodes again.
        node.chain = world.chain;
        await world.rest();
        expect(await world.expectRight()).toBeNull();
      }));
  }

  test('23: a node that lags far behind on our branch does not halt the chain', () =>
    inWorld({ history: TAKEN_BACK }, async (world, node) => {
      await world.rest();
      node.chain = world.chain.slice(0, 60);
      for (let turn = 0; turn < 12; turn++) {
        world.one.clock += 20_000;
        await world.one.catchUp(3);
      }
      expect(await haltOf(world)).toBeNull();
      expect(world.one.providers.all[0]?.failure?.cause).toBe('behind');
      node.chain = world.chain;
      await world.rest();
      expect(await world.expectRight()).toBeNull();
    }));
});

describe('24: a node without old state answers "no code"', () => {
  const network: Network = { ...MAINNET, firstBlock: {} };

  /** Follows a new chain with nodes that each keep the state of this many blocks below the head. */
  async function firstBlockOf(depths: readonly number[]) {
    const world = await createWorld({ blocks: 60, nodes: depths.length, calls: quiet });
    try {
      for (const [at, node] of world.nodes.entries()) {
        node.codeSince = FIRST + 10;
        node.fault = together(noOldCode(node, depths[at] as number), emptyOldState(node, depths[at] as number));
      }
      const { store, providers, clock } = world.one;
      const follower = createFollower({ network, store, providers, now: () => clock });
      await follower.tick().catch(() => {});
      const state = await store.chain(1);
      return { firstBlock: state?.firstBlock, partial: state?.partial };
    } finally {
      await world.close();
    }
  }

  test('24: another node with that state finds the first block', async () => {
    expect(await firstBlockOf([20, 1000])).toEqual({ firstBlock: FIRST + 10, partial: false });
    expect(await firstBlockOf([1000, 20])).toEqual({ firstBlock: FIRST + 10, partial: false });
  });

  test('24: without such a node, the chain is partial', async () => {
    expect(await firstBlockOf([20])).toEqual({ firstBlock: FIRST + 39, partial: true });
    expect(await firstBlockOf([20, 30])).toEqual({ firstBlock: FIRST + 29, partial: true });
  });
});

describe('25: the first pass of the audit', () => {
  const history = { ...HANDED_OVER, 3000: [grants(D)], 9000: [grants(D, false)], 11400: [grants(D)] };
  const confirmedIn = async ({ one: { store } }: World) => (await store.chain(1))?.agreedBlock ?? null;

  /** The lowest block in a log request to the node during the work. */
  async function lowestAsked(node: FakeNode, work: () => Promise<unknown>): Promise<number> {
    let lowest = Number.POSITIVE_INFINITY;
    node.fault = on('eth_getLogs', (honest, [filter]) => {
      lowest = Math.min(lowest, Number((filter as { fromBlock: string }).fromBlock));
      return honest();
    });
    await work();
    node.fault = null;
    return lowest;
  }

  test('25: with two nodes it follows without a pause, and continues after a restart', () =>
    inWorld({ nodes: 2, blocks: LONG, history }, async (world, node) => {
      await world.rest();
      const verified = (await world.one.store.chain(1))?.verified as number;
      expect(verified).toBeGreaterThanOrEqual(FIRST + 11_400);
      expect(await confirmedIn(world)).toBeNull();
      expect(await auditorOf(world).run()).toBe(true);
      const half = (await confirmedIn(world)) as number;
      expect(half).toBeGreaterThan(FIRST);
      expect(half).toBeLessThan(verified);
      world.one.restart();
      await world.one.catchUp();
      const auditor = auditorOf(world);
      expect(await lowestAsked(node, () => auditor.run())).toBe(half + 1);
      while (await auditor.run());
      expect(await confirmedIn(world)).toBe(verified);
      expect(await auditor.run()).toBe(false);
    }));

  test('25: a single node confirms nothing, and the audit keeps its slow pace', () =>
    inWorld({ blocks: LONG, history }, async (world, node) => {
      await world.rest();
      const auditor = auditorOf(world);
      expect(await auditor.run()).toBe(false);
      node.calls.clear();
      expect(await auditor.run()).toBe(false);
      expect(node.calls.get('eth_getLogs') ?? 0).toBe(0);
      await auditor.auditAll();
      expect(await confirmedIn(world)).toBeNull();
    }));
});

describe('9: the store fails', () => {
  for (const [name, error] of [
    ['an unknown error', new Error('disk I/O error')],
    ['an unavailable database', new StoreError('unavailable', 'The database does not answer.')],
  ] as const) {
    test(`9: with ${name}: no provider is blamed for it`, () => {
      let isBroken = false;
      const storeOf = (store: Store): Store =>
        Object.create(store, {
          apply: {
            value: async (batch: CommitInput) => {
              if (isBroken) throw error;
              return store.apply(batch);
            },
          },
        });
      return inWorld({ nodes: 2, storeOf }, async (world) => {
        await world.rest();
        isBroken = true;
        for (let turn = 0; turn < 5; turn++) {
          world.grow(turn === 4 ? 40 : 1, () => [grants(D)]);
          await expect(world.one.follower.tick()).rejects.toBe(error);
        }
        for (const { penalty, failure } of world.one.providers.all) {
          expect({ penalty, failure }).toEqual({ penalty: 0, failure: null });
        }
        isBroken = false;
        await world.one.catchUp();
        expect(await world.expectRight()).toBeNull();
      });
    });
  }
});

describe('a node that invents a log and its receipt', () => {
  test('is refuted by the registry, at the head and by the audit', () =>
    inWorld({ nodes: 2, history: { 10: [grants(E)] } }, async (world, liar) => {
      const to = `0x${'0'.repeat(24)}${'99'.repeat(20)}`;
      type Log = { topics: string[]; logIndex: string };
      const forge = (logs: Log[]) =>
        logs.flatMap((log) => [log, { ...log, logIndex: '0x63', topics: [log.topics[0], log.topics[1], to] }]);
      liar.fault = ({ method }, honest) => {
        const answer = honest();
        if (method === 'eth_getLogs') return forge(answer as Log[]);
        if (method !== 'eth_getTransactionReceipt' || answer === null) return answer;
        return { ...(answer as object), logs: forge((answer as { logs: Log[] }).logs) };
      };
      await world.rest();
      world.grow(3, () => [grants(D)]);
      await world.rest();
      expect(await wrongAsOf(world)).toBeNull();
      await auditorOf(world).auditAll();
      expect(await wrongAsOf(world)).toBeNull();
      const stored = await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 100 });
      expect(stored.map(({ logIndex }) => logIndex)).not.toContain(0x63);
      expect(await world.expectRight()).toBeNull();
    }));
});
