// Follows random chains through growth, reorgs, restarts, and nodes that lag, lie and fail. After every step the store must be
// right at its own head, and in the end at the chain's head. A seed repeats a run:
// TEST_MINUTES=999 FOLLOW_SEED=7 FOLLOW_RUNS=5000 npx bun test test/random-histories.test.ts

import { expect, test } from 'bun:test';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { QUIRKS } from './support/node-quirks.ts';
import { createRandom } from './support/random.ts';
import { createWorld, FIRST, type World } from './support/world.ts';

const RUNS = Number(process.env['FOLLOW_RUNS'] ?? 12);
const FIRST_SEED = Number(process.env['FOLLOW_SEED'] ?? 1);
const STEPS = 20;
/** One run in this many uses real sockets. */
const SOCKETS = 4;
/** Faults that a follower can detect at once, or that only delay it. */
const OPEN = [
  ...[QUIRKS.unavailable, QUIRKS.html, QUIRKS.limitExceeded, QUIRKS.nullBlocks, QUIRKS.headOfAnotherMoment],
  ...[QUIRKS.limitedRanges, QUIRKS.reversed, QUIRKS.doubled, QUIRKS.removed, QUIRKS.fullBloom, QUIRKS.noBloom],
  ...[QUIRKS.noState, QUIRKS.refusesFinalized],
];
/** Faults that cannot be detected at once: withheld logs. They must be found later. */
const HIDDEN = [QUIRKS.keepsBackAll, QUIRKS.oftenNoLogs, QUIRKS.keepsBackFirst, QUIRKS.oftenNotTheLast];
/** Far from the ids that faults give to other chains. */
const CHAINS = 1000;

/** A deeper reorg would remove the whole index, and the chain would stay halted until an operator acts. */
async function deepest({ one, chain, chainId }: World): Promise<number> {
  const [lowest] = await one.store.blocks(chainId, { from: 0, to: Number.MAX_SAFE_INTEGER });
  return (chain.at(-1)?.number ?? 0) - (lowest?.number ?? FIRST);
}

async function follow(sharedStore: Store, seed: number): Promise<string | null> {
  const random = createRandom(seed);
  const int = (below: number) => Math.floor(random() * below);
  const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
  const world = await createWorld({
    seed,
    blocks: 3 + int(60),
    nodes: 1 + int(2),
    finalizedDepth: pick([0, 5, 10, 20, null]),
    timeoutMs: 2000,
    // Sockets take twice as long.
    where: seed % SOCKETS === 0 ? 'socket' : 'process',
    sharedStore,
    chainId: CHAINS + seed,
  });
  const { chainId } = world;
  const hides = seed % 2 === 0;
  let hidden = false;
  try {
    for (let step = 0; step < STEPS; step++) {
      const dice = random();
      const verified = (await world.one.store.chain(chainId))?.verified ?? 0;
      const above = Math.max(1, (world.chain.at(-1)?.number ?? 0) - verified);
      if (dice < 0.5) world.grow(int(5));
      else if (dice < 0.55) world.grow(40);
      else if (dice < 0.85) world.reorg(1 + int(Math.min(12, above)), int(6) + (random() < 0.5 ? 6 : 0));
      else if (dice < 0.88) world.reorg(Math.min(above + 1 + int(5), await deepest(world)), 12);
      else world.show();
      for (const node of world.nodes) {
        if (random() < 0.3) node.chain = world.chain.slice(0, Math.max(1, world.chain.length - int(8)));
        const chance = random();
        if (chance < 0.3) node.fault = pick(OPEN)(random, node);
        else if (chance < 0.45 && hides) {
          node.fault = pick(HIDDEN)(random, node);
          hidden = true;
        } else if (chance < 0.75) node.fault = null;
      }
      if (random() < 0.1) world.one.restart();
      world.one.clock += pick([1000, 12_000, 12_000, 70_000]);
      await world.one.catchUp(1 + int(4));
      const difference = hidden ? null : await world.difference();
      if (difference !== null) return `step ${step}: ${difference}`;
    }
    for (const node of world.nodes) node.fault = null;
    // The chain grows beyond every earlier head, and all nodes serve it.
    const highest = (await world.one.store.chain(chainId))?.head?.number ?? 0;
    world.grow(3 + Math.max(0, highest - (world.chain.at(-1)?.number ?? 0)));
    await world.rest();
    // Only the audit can find logs that were withheld until they were final.
    await world.auditAll();
    await world.rest();
    const end = await world.expectRight();
    if (end !== null) return `in the end: ${end}`;
    for (let turn = 0; turn < 5; turn++) {
      const block = pick(world.chain);
      const then = await world.differenceAsOf(block);
      if (then !== null) return `as of ${block.number}: ${then}`;
    }
    return null;
  } finally {
    await world.close();
  }
}

test(`${RUNS} random histories, from seed ${FIRST_SEED}`, async () => {
  const wrong: string[] = [];
  // Each run has its own chain in one store: opening a store takes longer than a run.
  const store = await openStore(`sqlite:${temporaryPath('random-histories.db')}`);
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS && wrong.length < 5; seed++) {
    const fault = await follow(store, seed);
    if (fault !== null) wrong.push(`seed ${seed}: ${fault}`);
  }
  await store.close();
  console.log(`${RUNS} random histories from seed ${FIRST_SEED}: ${wrong.length} wrong`);
  expect(wrong).toEqual([]);
});
