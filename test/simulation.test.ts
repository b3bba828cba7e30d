// Follows random chains through faulty nodes. While one node is honest, the index must be right in the end without an operator.
// A seed repeats a run, and FOLLOW_QUIRKS chooses the faults:
// TEST_MINUTES=999 FOLLOW_SEED=7 FOLLOW_RUNS=1 FOLLOW_QUIRKS=noReceipts,frozen npx bun test test/simulation.test.ts
// It must never be wrong in between, except while the honest node was unavailable.

import { expect, test } from 'bun:test';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { type Honesty, type SimulatedRun, simulate } from './support/simulated-run.ts';

const RUNS = Number(process.env['FOLLOW_RUNS'] ?? 40);
const FIRST_SEED = Number(process.env['FOLLOW_SEED'] ?? 1);
/** Generous for busy machines; longer runs have no limit. */
const LONGEST_MS = process.env['FOLLOW_RUNS'] === undefined ? 1_200_000 : 2 ** 31 - 1;
/** Stop after this many wrong runs. */
const MOST_WRONG = Number(process.env['FOLLOW_WRONG'] ?? 10);

async function simulateAll(honesty: Honesty, runs: number, isProvable = true): Promise<string[]> {
  const wrong: string[] = [];
  const meanwhile: string[] = [];
  const began = performance.now();
  let done = 0;
  const store = await openStore(`sqlite:${temporaryPath('simulation.db')}`);
  for (let seed = FIRST_SEED; seed < FIRST_SEED + runs && wrong.length < MOST_WRONG; seed++, done++) {
    const run = await simulate(store, seed, honesty, isProvable).catch((error): SimulatedRun => {
      return { wrong: `threw ${(error as Error).stack}`, meanwhile: null, quirks: [] };
    });
    const where = `seed ${seed} (${run.quirks.join(', ')})`;
    if (run.wrong !== null) wrong.push(`${where}: ${run.wrong}`);
    if (run.meanwhile !== null) meanwhile.push(`${where}: ${run.meanwhile}`);
    if ((done + 1) % 500 === 0) console.log(`${done + 1} runs`, [...wrong, ...meanwhile]);
  }
  await store.close();
  const rate = (1000 * done) / (performance.now() - began);
  const seen = meanwhile.length === 0 ? '' : `, ${meanwhile.length} with a wrong answer meanwhile`;
  const kind = isProvable ? '' : ' and no proofs';
  console.log(`${done} runs with ${honesty} honest${kind}, ${rate.toFixed(1)} a second: ${wrong.length} wrong${seen}`);
  return [...wrong, ...meanwhile];
}

/** Seeds that gave a wrong answer, or none, once: by a forged revocation of everything, or by single blocks that a node made. */
const ONCE_WRONG: readonly (readonly [seed: number, honesty: Honesty, isProvable: boolean])[] = [
  [30_467, 'one', true],
  [61_119, 'one', true],
  [31_701, 'none', true],
  [100_030, 'one', true],
  [100_315, 'one', true],
  [200_081, 'one', false],
  [501_178, 'one', true],
  [610_409, 'one', true],
];

test('seeds that gave a wrong answer once', async () => {
  const store = await openStore(`sqlite:${temporaryPath('once-wrong.db')}`);
  for (const [seed, honesty, isProvable] of ONCE_WRONG) {
    const { wrong, meanwhile } = await simulate(store, seed, honesty, isProvable);
    expect([seed, wrong, meanwhile]).toEqual([seed, null, null]);
  }
  await store.close();
});

test(
  'with one honest node nothing is ever wrong while it is reachable, and the index is right in the end',
  async () => {
    expect(await simulateAll('one', Math.ceil(0.5 * RUNS))).toEqual([]);
  },
  LONGEST_MS,
);

test(
  'with no honest node nothing is wrong about a block of the chain',
  async () => {
    expect(await simulateAll('none', Math.ceil(0.2 * RUNS))).toEqual([]);
  },
  LONGEST_MS,
);

test(
  'without proofs, with one honest node: right in the end',
  async () => {
    expect(await simulateAll('one', Math.ceil(0.2 * RUNS), false)).toEqual([]);
  },
  LONGEST_MS,
);

test(
  'without proofs, with no honest node: a right answer never changes to a wrong one',
  async () => {
    expect(await simulateAll('none', Math.ceil(0.05 * RUNS), false)).toEqual([]);
  },
  LONGEST_MS,
);

test(
  'all nodes are honest: right in the end',
  async () => {
    expect(await simulateAll('all', Math.ceil(0.05 * RUNS))).toEqual([]);
  },
  LONGEST_MS,
);
