// v1 revocations that do not name the delegate, exactly: small histories of one vault and two delegates, all of them, and longer ones
// at random, each cut into blocks, with and without the state of those blocks. Every answer at every block must be the contract's, or
// a refusal that ends when state comes.
//
// V1_LENGTH=5 npx bun test test/v1-histories.test.ts takes every history of up to 5 operations, which are 559,240 and take hours;
// V1_SHARD=1/4 a quarter of them, and V1_RANDOM=100000 so many longer ones.

import { describe, expect, test } from 'bun:test';
import { deduce } from '../src/chain/revocations/deduce.ts';
import type { Question } from '../src/registry/check.ts';
import { answer } from '../src/registry/check.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import type { FakeCall, FakeNode } from './support/fake-node.ts';
import { noOldState } from './support/node-quirks.ts';
import { createRandom } from './support/random.ts';
import {
  type BlockHistory,
  cutIntoBlocks,
  everyHistory,
  KINDS_OF_OPERATIONS,
  runHistories,
  type StateKind,
} from './support/v1-histories.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld, type World } from './support/world.ts';

const LENGTH = Number(process.env['V1_LENGTH'] ?? (process.env['TEST_FAST'] ? 2 : 3));
const [SHARD = 0, SHARDS = 1] = (process.env['V1_SHARD'] ?? '0/1').split('/').map(Number);
const RANDOM = Number(process.env['V1_RANDOM'] ?? (process.env['TEST_FAST'] ? 30 : 200));
/** Histories on one chain. */
const CHUNK = 150;
const LONGEST_MS = 2 ** 31 - 1;

const STATES: readonly StateKind[] = ['all', 'last blocks', 'none until later'];

async function runAll(
  name: string,
  histories: Iterable<BlockHistory>,
  kinds: readonly { isDirect: boolean; state: StateKind }[],
) {
  const store = await openStore(`sqlite:${temporaryPath('histories.db')}`);
  const seen = { histories: 0, answers: 0, refused: 0, stillRefused: 0, wrong: [] as string[] };
  const run = async (chunk: readonly BlockHistory[]) => {
    for (const kind of kinds) {
      const result = await runHistories(store, chunk, kind);
      seen.histories += chunk.length;
      seen.answers += result.answers;
      seen.refused += result.refused;
      seen.stillRefused += result.stillRefused;
      for (const wrong of result.wrong) {
        const history = chunk[Number(/\d+/.exec(wrong)?.[0])];
        seen.wrong.push(`${wrong}: ${JSON.stringify(history)}`);
      }
    }
  };
  let chunk: BlockHistory[] = [];
  let position = 0;
  for (const history of histories) {
    if (position++ % SHARDS !== SHARD) continue;
    chunk.push(history);
    if (chunk.length < CHUNK) continue;
    await run(chunk);
    chunk = [];
    if (seen.histories % (20 * CHUNK) === 0)
      console.log(`${name}: ${seen.histories} so far, ${seen.wrong.length} wrong`, seen.wrong.slice(0, 3));
  }
  if (chunk.length > 0) await run(chunk);
  await store.close();
  console.log(
    `${name}: ${seen.histories} histories, ${seen.answers} answers, ${seen.refused} refused while state was missing, ${seen.stillRefused} in the end, ${seen.wrong.length} wrong`,
  );
  return seen;
}

const KINDS = STATES.flatMap((state) => [true, false].map((isDirect) => ({ isDirect, state })));

test(
  `every history of up to ${LENGTH} operations, cut into blocks in every way`,
  async () => {
    function* all() {
      for (let length = 1; length <= LENGTH; length++) yield* everyHistory(length);
    }
    const { wrong, stillRefused, histories } = await runAll(`up to ${LENGTH} operations`, all(), KINDS);
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(stillRefused).toBe(0);
    expect(histories).toBeGreaterThan(100);
  },
  LONGEST_MS,
);

test(
  'random histories of 4 to 12 operations',
  async () => {
    const random = createRandom(Number(process.env['V1_SEED'] ?? 32));
    const int = (below: number) => Math.floor(random() * below);
    function* some() {
      for (let turn = 0; turn < RANDOM; turn++) {
        const operations = Array.from({ length: 4 + int(9) }, () => int(KINDS_OF_OPERATIONS));
        yield cutIntoBlocks(operations, int(2 ** 11));
      }
    }
    // Each with one kind of state, in turn.
    const histories = [...some()];
    const results = [];
    for (const [position, kind] of KINDS.entries()) {
      const part = histories.filter((_, turn) => turn % KINDS.length === position);
      results.push(
        await runAll(`random, ${kind.isDirect ? 'direct' : 'by a contract'}, state: ${kind.state}`, part, [kind]),
      );
    }
    expect(results.flatMap(({ wrong }) => wrong).slice(0, 5)).toEqual([]);
    expect(results.reduce((sum, { stillRefused }) => sum + stillRefused, 0)).toBe(0);
  },
  LONGEST_MS,
);

test('the same without proofs, by the storage that nodes return', async () => {
  const store = await openStore(`sqlite:${temporaryPath('unproven.db')}`);
  const histories = [...everyHistory(2)];
  for (const state of STATES) {
    const { wrong, stillRefused } = await runHistories(store, histories, { isDirect: false, state, isProvable: false });
    expect([state, wrong.slice(0, 3), stillRefused]).toEqual([state, [], 0]);
  }
  await store.close();
});

test('what random runs found: with many wallets at once, delegates of some were never read', async () => {
  const store = await openStore(`sqlite:${temporaryPath('many.db')}`);
  const revoked: BlockHistory = [[0], [3, 4], [5], [1, 3, 4], [4], [5, 5]];
  for (const isDirect of [true, false])
    for (const state of STATES) {
      // A chain goes on after the histories, so that the last blocks are not theirs.
      const histories = Array.from({ length: 25 }, (): BlockHistory => [...revoked, [], [], []]);
      const { wrong, stillRefused } = await runHistories(store, histories, { isDirect, state });
      expect([state, wrong.slice(0, 3), stillRefused]).toEqual([state, [], 0]);
    }
  await store.close();
});

test('what exhaustive runs found', async () => {
  const store = await openStore(`sqlite:${temporaryPath('found.db')}`);
  // A token, revoked, everything, another revoked, in one block, and everything again; and the same in five blocks.
  const histories: BlockHistory[] = [
    [[2, 4, 0, 5], [0]],
    [[2], [4], [0], [5], [0]],
  ];
  for (const state of STATES) {
    const { wrong, stillRefused } = await runHistories(store, histories, { isDirect: false, state });
    expect([state, wrong, stillRefused]).toEqual([state, [], 0]);
  }
  await store.close();
});

describe('found by running', () => {
  const [V, D, X] = WALLETS;
  const C = `0x${'22'.repeat(20)}` as const;
  const call = (name: string, args: (string | boolean)[], joined = false): FakeCall => ({
    call: ['v1', V, name, args],
    direct: false,
    joined,
  });
  const all = (to: string): Question => ({ version: 1, scope: 'all', from: V, to: to as never });
  const contract: Question = { version: 1, scope: 'contract', from: V, to: D, contract: C };
  const ask = ({ one: { store } }: World, question: Question, block?: number) =>
    store
      .check(1, question, block)
      .then(({ granting }) => answer(question, granting))
      .catch(({ code }) => code);

  test('a delegate that is narrowed, and another that is removed, in one transaction', async () => {
    const world = await createWorld({ blocks: 5, calls: () => [] });
    world.grow(1, () => [call('delegateForAll', [D, true]), call('delegateForAll', [X, true], true)]);
    await world.one.settle();
    world.grow(1, () => [
      call('revokeDelegate', [D]),
      call('delegateForContract', [D, C, true], true),
      call('revokeDelegate', [X], true),
    ]);
    await world.one.settle();
    const answers = [all(D), contract, all(X)].map((question) => ask(world, question));
    expect(await Promise.all(answers)).toEqual([false, true, false]);
    // The audit finds nothing to halt or refuse.
    world.grow(40, () => []);
    await world.rest();
    const asked = await world.one.follower.auditAnswers([all(D), contract, all(X)]);
    expect(asked?.wrong).toEqual([]);
    expect(await world.one.store.chain(1)).toMatchObject({ halt: null, disputes: [] });
    await world.close();
  });

  test('four transactions on a node without old state: grant A, revoke D, grant B, revoke X', async () => {
    const world = await createWorld({ blocks: 5, calls: () => [] });
    const [node] = world.nodes as [FakeNode];
    await world.one.settle();
    node.fault = noOldState(node, 0);
    world.grow(1, () => [call('delegateForAll', [D, true])]);
    world.grow(1, () => [call('revokeDelegate', [D])]);
    world.grow(1, () => [call('delegateForContract', [D, C, true])]);
    world.grow(1, () => [call('delegateForAll', [X, true])]);
    world.grow(1, () => [call('revokeDelegate', [X])]);
    world.grow(1, () => []);
    await world.one.settle();
    const answers = [all(D), contract, all(X)].map((question) => ask(world, question));
    expect(await Promise.all(answers)).toEqual([false, true, false]);
    await world.close();
  });

  test('a grant that was repeated in the block of an unnamed revocation is not shown as ended and begun', async () => {
    const world = await createWorld({ blocks: 5, calls: () => [] });
    const [node] = world.nodes as [FakeNode];
    await world.one.settle();
    world.grow(1, () => [call('delegateForAll', [D, true]), call('delegateForAll', [X, true], true)]);
    await world.one.settle();
    const granted = world.chain.at(-1)?.number;
    // The state of the block is gone, and that of a later one does not tell who was revoked.
    node.fault = noOldState(node, 0);
    world.grow(1, () => [call('revokeDelegate', [X]), call('delegateForAll', [D, true], true)]);
    world.grow(1, () => []);
    await world.one.settle();
    const { block, chain } = await world.one.store.pin(1);
    const at = { block: block.number, revision: chain.revision };
    const { entries } = await world.one.store.history({ chainId: 1, wallet: V, at, limit: 10 });
    const ofD = entries.filter(({ to }) => to === D).map(({ since, until }) => [since.block, until]);
    expect(ofD).toEqual([[granted as number, null]]);
    await world.close();
  });

  test('more pairs without state than revocations contradict each other, and nothing is guessed', async () => {
    const world = await createWorld({ blocks: 5, calls: () => [], isProvable: false });
    const [node] = world.nodes as [FakeNode];
    world.grow(1, () => [call('delegateForAll', [D, true]), call('delegateForAll', [X, true], true)]);
    await world.one.settle();
    // As if neither delegation were there, after one revocation.
    node.fault = (question, honest) => (question.method === 'eth_getStorageAt' ? `0x${'0'.repeat(64)}` : honest());
    world.grow(1, () => [call('revokeDelegate', [X])]);
    await world.one.settle();
    expect(await ask(world, all(D))).toBe('revocation-unread');
    node.fault = null;
    world.one.clock += 10_000;
    await world.one.settle();
    expect([await ask(world, all(D)), await ask(world, all(X))]).toEqual([true, false]);
    await world.close();
  });
});

describe('what a state shows about revocations of a pair', () => {
  const at = (block: number, logIndex = 0) => ({ block, logIndex });
  const held = (block: number, logIndex = 0) => ({ granted: at(block, logIndex), isHeld: true });
  const lost = (block: number, logIndex = 0) => ({ granted: at(block, logIndex), isHeld: false });
  const found = (...args: Parameters<typeof deduce>) =>
    deduce(...args)?.map(({ hasEnded, knownFrom }) => `${hasEnded ? 'ended' : 'no'} ${knownFrom}`) ?? null;

  test('a delegation that is there, and not granted again, held all along', () => {
    expect(found([at(5), at(7)], [held(3)], 9)).toEqual(['no 5', 'no 7']);
  });
  test('a delegation that is gone ended at the only revocation after its grant', () => {
    expect(found([at(5)], [lost(3)], 9)).toEqual(['ended 5']);
    expect(found([at(5), at(7)], [lost(6)], 9)).toEqual(['no 7', 'ended 7']);
  });
  test('among several revocations nothing is known before the last', () => {
    expect(found([at(5), at(7)], [lost(3)], 9)).toEqual(['no 7', 'ended 7']);
  });
  test('what was granted between them, and again since, is not known before the state', () => {
    const grants = [at(6), at(8)];
    expect(found([at(5), at(7)], [lost(3)], 9, { grants })).toEqual(['no 9', 'ended 9']);
    expect(found([at(5, 1), at(5, 3)], [lost(3)], 9, { grants: [at(5, 2), at(8)] })).toEqual(['no 9', 'ended 9']);
    // Another one from between shows it.
    expect(found([at(5), at(7)], [lost(3), lost(6, 1)], 9, { grants })).toEqual(['no 7', 'ended 7']);
  });
  test('one that a later grant outlived is excluded', () => {
    expect(found([at(5), at(7)], [lost(3), held(6)], 9)).toEqual(['ended 5', 'no 7']);
  });
  test('what was granted again says nothing about before', () => {
    expect(found([at(5)], [held(6)], 9)).toEqual(['no 9']);
    expect(found([at(5)], [], 5)).toEqual(['no 5']);
  });
  test('a count of revocations says that one of them was this pair', () => {
    expect(found([at(5, 1)], [held(5, 2)], 5, { isRevoked: true })).toEqual(['ended 5']);
    expect(found([at(5, 1)], [held(3)], 5, { isRevoked: true })).toBeNull();
  });
  test('a delegation that is gone although nothing can have ended it is a contradiction', () => {
    expect(found([at(5)], [lost(6)], 9)).toBeNull();
    expect(found([at(5)], [held(3), lost(4)], 9)).toBeNull();
  });
});
