// Simulates a follower on several nodes, some of which lie, with kills, restarts and audits. The seed determines everything.

import { type Auditor, createAuditor } from '../../src/chain/follow/auditor.ts';
import type { RegistryEvent } from '../../src/registry/event.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import type { ChainState, Store } from '../../src/store/store.ts';
import {
  ALL_CHECKS,
  type Answers,
  differenceOf,
  isRefused,
  LISTS,
  listsAt,
  someChecks,
  trueLists,
  wrongAnswers,
} from './every-answer.ts';
import { type FakeBlock, type FakeCall, type FakeNode, type Fault, NO_ANSWER } from './fake-node.ts';
import { createKillable } from './killable.ts';
import { LIAR_QUIRKS } from './liar-quirks.ts';
import { type FaultMaker, limitedRanges, QUIRKS } from './node-quirks.ts';
import type { CheckCase } from './questions.ts';
import { createRandom } from './random.ts';
import { MAINNET } from './vectors.ts';
import { createWorld, FIRST, randomCalls, type World } from './world.ts';

/** Which of the nodes never return false data. */
export type Honesty = 'all' | 'one' | 'none';

export interface SimulatedRun {
  /** What was wrong in the end, or at any time if no node is honest; null if nothing was. */
  readonly wrong: string | null;
  /** The first wrong answer at the head while an honest node served the whole chain; null if there was none. */
  readonly meanwhile: string | null;
  /** The quirks of the nodes; those that lasted until the end have a star. */
  readonly quirks: readonly string[];
}

/** Quirks that return false data, where others only omit data, fail, or return malformed data. */
const INVENTING = new Set([
  'finalizedIsHead',
  'logTimesZero',
  'logTimesWrong',
  'emptyOldState',
  'staleCalls',
  'staleState',
  'saysTrue',
  'saysFalse',
  'forgesLog',
  'forgesTransaction',
  'forgesOften',
  'emptyBloom',
  'becomesOtherChain',
  ...Object.keys(LIAR_QUIRKS),
]);
/** Quirks that must end: if they lasted forever, nobody could tell which of two nodes is right. */
const PASSING = new Set(['frozen', 'becomesOtherChain', 'ownBranch', 'staleCalls', 'staleState', 'emptyOldState']);

interface Quirk {
  readonly name: string;
  readonly make: FaultMaker;
  readonly invents: boolean;
  readonly passes: boolean;
}

/** The quirks to choose from: all, or those that FOLLOW_QUIRKS names, separated by commas. */
const wanted = process.env['FOLLOW_QUIRKS']?.split(',');
const DRAWN = Object.entries({ ...QUIRKS, ...LIAR_QUIRKS })
  .map(([name, make]): Quirk => ({ name, make, invents: INVENTING.has(name), passes: PASSING.has(name) }))
  .filter(({ name }) => wanted?.includes(name) ?? true);

/** Far from the ids that quirks give to other chains. */
let chains = 1000;

interface SimulatedNode {
  readonly node: FakeNode;
  readonly isHonest: boolean;
  /** Lasts until the end. */
  lasting: Fault | null;
  /** Ends before the end. */
  passing: Fault | null;
  /** How many blocks an honest node is behind. */
  lag: number;
}

/**
 * Uses a new chain id in a shared store, because opening a store takes longer than a simulation. In every other run with one honest
 * node, that node is always reachable.
 */
export async function simulate(
  sharedStore: Store,
  seed: number,
  honesty: Honesty,
  isProvable = true,
): Promise<SimulatedRun> {
  const random = createRandom(seed);
  const int = (below: number) => Math.floor(random() * below);
  const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
  const killable = createKillable();
  const world = await createWorld({
    seed,
    // More are read in ranges first, where nobody can tell that all nodes hide a log.
    blocks: random() < 0.8 || honesty === 'none' ? 15 + int(40) : 110 + int(50),
    nodes: 2 + int(3),
    isProvable,
    seconds: pick([12, 12, 12, 4]),
    finalizedDepth: pick([0, 5, 10, 20, null]),
    where: 'process',
    calls: joinedCalls,
    storeOf: killable.storeOf,
    sharedStore,
    chainId: ++chains,
  });
  const { one } = world;
  const used = new Set<string>();
  const honest = int(world.nodes.length);
  const nodes = world.nodes.map((node, position): SimulatedNode => {
    const isHonest = honesty === 'all' || (honesty === 'one' && position === honest);
    return { node, isHonest, lasting: null, passing: null, lag: 0 };
  });
  // Without proofs, nodes that all invent are believed.
  const possible = honesty === 'none' && !isProvable ? DRAWN.filter(({ invents }) => !invents) : DRAWN;
  const isReachable = seed % 2 === 0;
  const make = (node: FakeNode, { name, make }: Quirk, star = '') => {
    used.add(name + star);
    return make(random, node);
  };
  for (const one of nodes) {
    const lasting = possible.filter(({ passes }) => !passes);
    if (one.isHonest) one.lasting = random() < 0.2 ? limitedRanges(1 + int(5)) : null;
    else if (random() < 0.6 && lasting.length > 0) one.lasting = make(one.node, pick(lasting), '*');
  }
  const apply = () => {
    for (const { node, isHonest, lasting, passing, lag } of nodes) {
      const { chain } = world;
      if (isHonest) node.chain = chain.slice(0, Math.max(1, chain.length - lag));
      node.fault = lasting === null || passing === null ? (lasting ?? passing) : both(passing, lasting);
    }
  };

  let auditor = newAuditor(world, random);
  const restart = () => {
    one.restart();
    auditor = newAuditor(world, random);
  };
  let meanwhile: string | null = null;
  let couldPrevent = honesty !== 'none';
  let isAnyDeep = false;
  const memory = createMemory(world);
  const ended = (wrong: string | null): SimulatedRun => ({ wrong, meanwhile, quirks: [...used].sort() });

  try {
    const steps = 8 + int(6);
    for (let step = 0; step < steps; step++) {
      const isDeep = await moveOn(world, random);
      isAnyDeep ||= isDeep;
      for (const one of nodes) {
        const chance = random();
        // After a reorg of final blocks, all nodes have the new branch.
        if (isDeep) [one.passing, one.lag] = [null, 0];
        else if (one.isHonest) {
          if (chance < 0.15 && !isReachable) one.lag = int(5);
          else if (chance < 0.25 && !isReachable) one.passing = away;
          else if (chance < 0.7) [one.passing, one.lag] = [null, 0];
        } else if (chance < 0.35 && possible.length > 0) one.passing = make(one.node, pick(possible));
        else if (chance < 0.6) one.passing = null;
      }
      apply();
      if (random() < 0.1) restart();
      if (random() < 0.15) killable.killAt(1 + int(4), random() < 0.5 ? 'before' : 'after');
      one.clock += pick([1000, 12_000, 12_000, 70_000, 100_000]);
      await one.catchUp(1 + int(4));
      if (random() < 0.4 && !killable.isDead) await auditor.run().catch((error) => one.errors.push(error));
      if (killable.isDead) restart();
      if (random() < 0.3) auditor.addDenied(someChecks(random, 2).map(({ question }) => question));
      if (honesty === 'none') {
        const lost = isProvable ? await wrongNow(world) : await memory.compare(pick);
        if (lost !== null) return ended(`step ${step}: ${lost}`);
      }
      couldPrevent &&= nodes.every((one) => !one.isHonest || (one.passing === null && one.lag === 0));
      const wrong: string | null = couldPrevent && meanwhile === null ? await wrongNow(world) : null;
      if (wrong !== null) meanwhile = `step ${step}: ${wrong}`;
    }
    if (honesty === 'none') return ended(null);
    for (const one of nodes) [one.passing, one.lag] = [null, 0];
    // Without proofs, a wallet that a node lies about for ever is refused for ever.
    if (!isProvable) for (const one of nodes) one.lasting = one.isHonest ? one.lasting : null;
    // No kill is pending.
    restart();
    // The chain grows beyond every earlier head, whatever its last branch was.
    const highest = (await one.store.chain(world.chainId))?.head?.number ?? 0;
    world.grow(3 + Math.max(0, highest - (world.chain.at(-1)?.number ?? 0)));
    apply();
    for (let turn = 0; turn < 10; turn++) {
      one.clock += 12_000;
      await one.catchUp(3);
    }
    // A final block that changed, or that a liar alone called final, is given up only after two minutes.
    const late = isAnyDeep || !isReachable ? null : await behindTip(world);
    if (late !== null) return ended(`after two minutes ${late}`);
    await world.rest(2);
    // One pass over all final blocks at once, instead of spread over hours. Its repairs may need further ticks.
    await auditor.auditAll().catch((error) => one.errors.push(error));
    await world.rest(6);
    return ended(await wrongInTheEnd(world, random, seed % 4 === 0 ? ALL_CHECKS : someChecks(random, 40)));
  } finally {
    await world.close();
  }
}

/** Changes the chain in one step. Returns true if final blocks were replaced. */
async function moveOn(world: World, random: () => number): Promise<boolean> {
  const int = (below: number) => Math.floor(random() * below);
  const dice = random();
  const verified = (await world.one.store.chain(world.chainId))?.verified ?? 0;
  const above = (world.chain.at(-1)?.number ?? 0) - verified;
  if (dice < 0.55) world.grow(int(5));
  else if (dice < 0.58) world.grow(36);
  // A chain that ends at the final block cannot be shorter.
  else if (dice < 0.82 && above > 0) world.reorg(1 + int(Math.min(12, above)), int(6) + (random() < 0.5 ? 6 : 0));
  else if (dice < 0.84) {
    const [lowest] = await world.one.store.blocks(world.chainId, { from: 0, to: Number.MAX_SAFE_INTEGER });
    // A deeper reorg would remove the whole index.
    const deepest = (world.chain.at(-1)?.number ?? 0) - (lowest?.number ?? FIRST);
    world.reorg(Math.min(above + 1 + int(5), deepest), 12);
    return true;
  } else world.show();
  return false;
}

/** Random calls, some in the same transaction. */
const joinedCalls = (random: () => number): FakeCall[] =>
  randomCalls(random).map((call, position) => (position > 0 && random() < 0.3 ? { ...call, joined: true } : call));

/** Combines two faults of one node. The outer one cannot change a missing response. */
const both =
  (outer: Fault, inner: Fault): Fault =>
  async (question, honest) => {
    try {
      return await outer(question, () => {
        const answer = inner(question, honest);
        if (answer instanceof Response || answer === NO_ANSWER || answer === undefined) throw new NoAnswer(answer);
        return answer;
      });
    } catch (error) {
      if (error instanceof NoAnswer) return error.instead;
      throw error;
    }
  };

class NoAnswer extends Error {
  readonly instead: unknown;
  constructor(instead: unknown) {
    super('No answer');
    this.instead = instead;
  }
}

/** Makes an honest node unreachable. */
const away: Fault = () => new Response('', { status: 503 });

const newAuditor = ({ one, chainId }: World, random: () => number): Auditor =>
  createAuditor(one.follower, { ...MAINNET, chainId }, one.store, () => one.clock, random);

/** Why the chain does not answer; null if it does. */
const haltOf = (state: ChainState | null): string | null => state?.halt?.code ?? null;

const isOfChain = ({ chain }: World, block: { number: number; hash: string } | null | undefined) =>
  block != null && chain[block.number - FIRST]?.hash === block.hash;

/** Finds a wrong answer at the head, if the head is a block of the true chain; an error is not a wrong answer. */
async function wrongNow(world: World): Promise<string | null> {
  const state = await world.one.store.chain(world.chainId);
  if (state?.head == null || haltOf(state) !== null || state.proving || !isOfChain(world, state.head)) return null;
  return world.differenceAsOf(state.head);
}

/** The store must be at the chain's head, and not halted. */
async function behindTip({ one: { store, errors }, chain, chainId }: World): Promise<string | null> {
  const state = await store.chain(chainId);
  const tip = chain.at(-1) as FakeBlock;
  const halt = haltOf(state);
  if (halt !== null) return `halted: ${halt}`;
  if (state?.head?.hash === tip.hash) return null;
  return `behind: the head is ${state?.head?.number}, the chain's is ${tip.number}; last error: ${errors.at(-1)}`;
}

/** The store must be at the chain's head, answer everything, and be right at the head and at every past block. */
async function wrongInTheEnd(world: World, random: () => number, checks: readonly CheckCase[]): Promise<string | null> {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const { store } = world.one;
  const tip = world.chain.at(-1) as FakeBlock;
  const late = await behindTip(world);
  if (late !== null) return late;
  const wrongAt = (
    number: number,
    { hash }: FakeBlock,
    asked: readonly CheckCase[] = someChecks(random, 4),
    isHead = false,
  ) => wrongAnswers(store, world.chainId, world.modelAt(hash), { number, isHead, asked });
  const now = await wrongAt(tip.number, tip, checks, true);
  if (now !== null) return `at the head: ${now}`;
  for (let turn = 0; turn < 3; turn++) {
    const block = pick(world.chain);
    const then = await wrongAt(block.number, block);
    if (then !== null) return `as of ${block.number}: ${then}`;
  }
  const lowest = (await store.blocks(world.chainId, { from: 0, to: tip.number }))[0]?.number ?? FIRST;
  for (let turn = 0; turn < 3; turn++) {
    // Times before the first block with a stored time are not answered.
    const block = pick(world.chain.slice(Math.min(lowest - FIRST, world.chain.length - 2), -1));
    const next = world.chain[block.number - FIRST + 1] as FakeBlock;
    const time = block.timestamp + Math.floor(random() * (next.timestamp - block.timestamp));
    const kept = await store.blockAt(world.chainId, time).catch((error) => error as Error);
    if (kept instanceof Error) return `at the time of ${block.number}: ${kept.message}`;
    const own = world.chain[kept.number - FIRST];
    if (own?.hash !== kept.hash || own.timestamp !== kept.timestamp || block.number >= kept.next) {
      return `at the time of ${block.number}: block ${kept.number} with the time ${kept.timestamp}, next ${kept.next}`;
    }
    const then = await wrongAt(kept.number, block);
    if (then !== null) return `at the time of ${block.number}: ${then}`;
  }
  for (const kept of await store.blocks(world.chainId, { from: 0, to: Number.MAX_SAFE_INTEGER })) {
    const own = world.chain[kept.number - FIRST];
    if (own?.hash !== kept.hash || own.timestamp !== kept.timestamp) return `block ${kept.number} is kept otherwise`;
  }
  return null;
}

/**
 * Remembers the right answers by block. A later error is allowed, a different answer is not. An answer counts only if the store
 * had all logs that it depends on: one that was right by chance may change when a missing log arrives.
 */
function createMemory(world: World) {
  const right = new Map<string, Set<string>>();

  async function compare(pick: <T>(of: readonly T[]) => T): Promise<string | null> {
    const { store } = world.one;
    const state = await store.chain(world.chainId);
    // Nothing is known about blocks of an abandoned branch.
    if (state?.head == null || haltOf(state) !== null || !isOfChain(world, state.head)) return null;
    const head = world.chain[state.head.number - FIRST] as FakeBlock;
    const known = world.chain.filter(({ number, hash }) => number <= head.number && right.has(hash));
    const asked = new Set([head, ...known, pick(world.chain.slice(0, head.number - FIRST + 1))]);
    const stored = await store.logs(world.chainId, { from: FIRST, to: head.number, limit: 10_000 });
    for (const block of asked) {
      const answers = await listsAt(store, world.chainId, block.number);
      const logs = countBy(
        stored.filter((log) => log.block.number <= block.number).map(({ event }) => granterOf(event)),
      );
      const lost = remember(block, answers, logs);
      if (lost !== null) return `as of ${block.number}, right before: ${lost}`;
    }
    return null;
  }

  function remember(block: FakeBlock, answers: Answers, logs: ReadonlyMap<string, number>): string | null {
    const truth = trueLists(world.modelAt(block.hash));
    const calls = countBy(world.callsAt(block.hash).map(callerOf));
    const before = right.get(block.hash) ?? new Set();
    right.set(block.hash, before);
    const given = [...answers].filter(([, said]) => !isRefused(said));
    const lost = differenceOf(new Map(given.filter(([name]) => before.has(name))), truth);
    for (const { name, depends } of LISTS) {
      const isWhole = depends.every((from) => logs.get(from) === calls.get(from));
      if (isWhole && truth.get(name) === answers.get(name)) before.add(name);
    }
    return lost;
  }

  return { compare };
}

const granterOf = (event: RegistryEvent) =>
  'delegation' in event ? `v${event.delegation.version} ${event.delegation.from}` : `v1 ${event.from}`;
const callerOf = ([registry, caller, name, args]: RegistryCall) =>
  `${registry} ${registry === 'v1' && name === 'revokeSelf' ? args[0] : caller}`;

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
