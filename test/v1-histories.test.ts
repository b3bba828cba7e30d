// v1 revocations that do not name the delegate, exactly: small histories of one vault and two delegates, all of them, and longer ones
// at random, each cut into blocks, with and without the state of those blocks. Every answer at every block must be the contract's, or
// a refusal that ends when state comes.
//
// V1_LENGTH=5 npx bun test test/v1-histories.test.ts takes every history of up to 5 operations, which are 559,240 and take hours;
// V1_SHARD=1/4 a quarter of them, and V1_RANDOM=100000 so many longer ones.

import { describe, expect, test } from 'bun:test';
import { createAuditor } from '../src/chain/follow/auditor.ts';
import { answer, type Question } from '../src/registry/check.ts';
import type { Address } from '../src/registry/delegation.ts';
import type { RegistryCall } from '../src/registry/registry-call.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import {
  createChainMaker,
  type FakeBlock,
  type FakeCall,
  type FakeNode,
  type Fault,
  startFakeNode,
} from './support/fake-node.ts';
import { following } from './support/following.ts';
import { createModel } from './support/model.ts';
import { noOldState } from './support/node-quirks.ts';
import { createRandom } from './support/random.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld, type World } from './support/world.ts';

const CONTRACT = `0x${'cc'.repeat(20)}` as const;
const TOKEN = '7';

/** What a vault, or its delegate D, can do. X is the other delegate. */
const OPERATIONS = [
  (vault: Address, d: Address): RegistryCall => ['v1', vault, 'delegateForAll', [d, true]],
  (vault: Address, d: Address): RegistryCall => ['v1', vault, 'delegateForContract', [d, CONTRACT, true]],
  (vault: Address, d: Address): RegistryCall => ['v1', vault, 'delegateForToken', [d, CONTRACT, TOKEN, true]],
  (vault: Address, _: Address, x: Address): RegistryCall => ['v1', vault, 'delegateForAll', [x, true]],
  (vault: Address, d: Address): RegistryCall => ['v1', vault, 'revokeDelegate', [d]],
  (vault: Address, _: Address, x: Address): RegistryCall => ['v1', vault, 'revokeDelegate', [x]],
  (vault: Address, d: Address): RegistryCall => ['v1', d, 'revokeSelf', [vault]],
  (vault: Address): RegistryCall => ['v1', vault, 'revokeAllDelegates', []],
];
const KINDS_OF_OPERATIONS = OPERATIONS.length;

/** The operations of each block, as numbers. */
type BlockHistory = readonly (readonly number[])[];

/** Cuts a sequence into blocks: bit n of `cuts` ends a block after operation n. */
function cutIntoBlocks(operations: readonly number[], cuts: number): BlockHistory {
  const blocks: number[][] = [[]];
  for (const [position, operation] of operations.entries()) {
    blocks.at(-1)?.push(operation);
    if (position < operations.length - 1 && (cuts >> position) & 1) blocks.push([]);
  }
  return blocks;
}

/** Every sequence of so many operations, cut in every way. */
function* everyHistory(length: number): Iterable<BlockHistory> {
  const sequence = Array<number>(length).fill(0);
  for (let turn = 0; turn < KINDS_OF_OPERATIONS ** length; turn++) {
    for (let cuts = 0; cuts < 2 ** (length - 1); cuts++) yield cutIntoBlocks([...sequence], cuts);
    for (let at = 0; at < length; at++) {
      sequence[at] = ((sequence[at] as number) + 1) % KINDS_OF_OPERATIONS;
      if (sequence[at] !== 0) break;
    }
  }
}

/**
 * Which state nodes have: all of it; of the last two blocks, where the index first reads when all has happened; or none until a last
 * block, and of that block only. Then all of it comes, for whatever was refused.
 */
type StateKind = 'all' | 'last blocks' | 'none until later';

const FIRST = 1000;
const address = (kind: number, position: number): Address =>
  `0x${kind.toString(16)}${position.toString(16).padStart(39, '0')}`;

let chains = 5000;

/** Runs histories on one chain. `isDirect`: wallets call the registry themselves; otherwise through a contract. */
async function runHistories(
  store: Store,
  histories: readonly BlockHistory[],
  { isDirect, state, isProvable = true }: { isDirect: boolean; state: StateKind; isProvable?: boolean },
) {
  const chainId = ++chains;
  const wallets = histories.map(
    (_, position) => [1, 2, 3].map((kind) => address(kind, position)) as [Address, Address, Address],
  );
  const callsIn = (position: number, block: number): RegistryCall[] =>
    (histories[position]?.[block] ?? []).map((operation) =>
      (OPERATIONS[operation] as (typeof OPERATIONS)[0])(...(wallets[position] as [Address, Address, Address])),
    );
  const longest = Math.max(...histories.map(({ length }) => length));
  const maker = createChainMaker(FIRST, 12, 1_700_000_000, { isProvable });
  const chain: FakeBlock[] = [maker.block(null, [])];
  for (let block = 0; block < longest; block++) {
    const calls = histories.flatMap((_, position) =>
      callsIn(position, block).map(
        (call, turn): FakeCall => ({ call, direct: isDirect, joined: !isDirect && turn > 0 }),
      ),
    );
    chain.push(maker.block(chain.at(-1) as FakeBlock, calls));
  }
  const node = startFakeNode([], 'process');
  node.chainId = chainId;
  const network = { ...MAINNET, chainId, provable: isProvable };
  const one = await following([node], { firstBlock: FIRST, clock: 0, sharedStore: store, network });
  const show = (length: number, fault: Fault | null) => {
    node.chain = chain.slice(0, length);
    node.fault = fault;
    one.clock = Math.max(one.clock + 1000, (node.chain.at(-1)?.timestamp ?? 0) * 1000);
  };
  const settleAll = async () => {
    for (let left = 200; left > 0; left--) {
      one.clock += 1000;
      await one.catchUp(1);
      if ((await store.unsettledVaults(chainId, null, 1)).length === 0) return;
      // Wallets that could not be read wait longer each time.
      if (left % 60 === 0) one.clock += 1_000_000;
    }
  };
  if (state === 'all') {
    for (let length = 1; length <= chain.length; length++) {
      show(length, null);
      await settleAll();
    }
  } else if (state === 'last blocks') {
    show(1, null);
    await one.catchUp(2);
    show(chain.length, noOldState(node, 1));
    await settleAll();
  } else {
    show(chain.length, noOldState(node, -1));
    await one.catchUp(3);
  }
  const named = (text: string) => `${text}${isDirect ? ', direct' : ''}, ${state}`;
  const truth = trueAnswers(histories, callsIn, longest);
  const first = await compare(store, chainId, wallets, truth, longest);
  const wrong = [...first.wrong];
  if (state === 'none until later') {
    chain.push(maker.block(chain.at(-1) as FakeBlock, []));
    show(chain.length, noOldState(node, 0));
    one.clock += 1_000_000;
    await settleAll();
    wrong.push(...(await compare(store, chainId, wallets, truth, longest)).wrong);
  }
  if (state === 'all') {
    await node.stop();
    const { answers, refused } = first;
    return { answers, wrong: wrong.map(named), refused, stillRefused: refused };
  }
  // The state of every block is there.
  chain.push(...growBy(maker, chain, 30));
  show(chain.length, null);
  const auditor = createAuditor(one.follower, network, store, () => one.clock);
  let last = first;
  for (let turn = 0; turn < 4 && (turn === 0 || last.refused > 0); turn++) {
    one.clock += 1_000_000;
    await settleAll();
    await auditor.auditAll();
    last = await compare(store, chainId, wallets, truth, longest);
    wrong.push(...last.wrong);
  }
  await node.stop();
  return {
    answers: first.answers + last.answers,
    wrong: wrong.map(named),
    refused: first.refused,
    stillRefused: last.refused,
  };
}

function growBy(maker: ReturnType<typeof createChainMaker>, chain: readonly FakeBlock[], count: number): FakeBlock[] {
  const more: FakeBlock[] = [];
  for (let turn = 0; turn < count; turn++) more.push(maker.block(more.at(-1) ?? (chain.at(-1) as FakeBlock), []));
  return more;
}

const questionsOf = ([vault, d, x]: readonly [Address, Address, Address]): Question[] => [
  { version: 1, scope: 'all', from: vault, to: d },
  { version: 1, scope: 'contract', from: vault, to: d, contract: CONTRACT },
  { version: 1, scope: 'token', from: vault, to: d, contract: CONTRACT, tokenId: BigInt(TOKEN) },
  { version: 1, scope: 'all', from: vault, to: x },
];

/** By history, then by block, then by question. */
type Truth = readonly (readonly (readonly boolean[])[])[];

function trueAnswers(
  histories: readonly BlockHistory[],
  callsIn: (position: number, block: number) => RegistryCall[],
  blocks: number,
): Truth {
  return histories.map((_, position) => {
    const model = createModel();
    const [vault, d, x] = [1, 2, 3].map((kind) => address(kind, position)) as [Address, Address, Address];
    return Array.from({ length: blocks }, (_, block) => {
      for (const call of callsIn(position, block)) model.call(call);
      return [
        model.v1('all', d, vault),
        model.v1('contract', d, vault, CONTRACT),
        model.v1('token', d, vault, CONTRACT, TOKEN),
        model.v1('all', x, vault),
      ];
    });
  });
}

async function compare(
  store: Store,
  chainId: number,
  wallets: readonly (readonly [Address, Address, Address])[],
  truth: Truth,
  blocks: number,
): Promise<{ answers: number; refused: number; wrong: string[] }> {
  const questions = wallets.flatMap(questionsOf);
  const perHistory = 4;
  let [answers, refused] = [0, 0];
  const wrong: string[] = [];
  for (let block = 0; block < blocks; block++) {
    const revision = (await store.chain(chainId))?.revision ?? 0;
    const found = await store.checkMany(chainId, questions, { block: FIRST + 1 + block, revision });
    for (const [position, said] of found.entries()) {
      const history = Math.floor(position / perHistory);
      answers++;
      if (said === null) refused++;
      else if (said !== truth[history]?.[block]?.[position % perHistory])
        wrong.push(`history ${history} at block ${block}, question ${position % perHistory}: ${said}`);
    }
  }
  return { answers, refused, wrong };
}

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
    const results = [];
    for (let length = 1; length <= LENGTH; length++) {
      // Of the longest, each in two ways, which are others for the next one. A longer run takes all in every way.
      const turns = length < 3 || process.env['V1_LENGTH'] !== undefined ? 1 : KINDS.length / 2;
      for (let turn = 0; turn < turns; turn++) {
        const histories = [...everyHistory(length)].filter((_, position) => position % turns === turn);
        const kinds = KINDS.filter((_, position) => position % turns === turn);
        results.push(await runAll(`${length} operations`, histories, kinds));
      }
    }
    expect(results.flatMap(({ wrong }) => wrong).slice(0, 5)).toEqual([]);
    expect(results.reduce((sum, { stillRefused }) => sum + stillRefused, 0)).toBe(0);
    expect(results.reduce((sum, { histories }) => sum + histories, 0)).toBeGreaterThan(100);
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
    await world.one.catchUp();
    world.grow(1, () => [
      call('revokeDelegate', [D]),
      call('delegateForContract', [D, C, true], true),
      call('revokeDelegate', [X], true),
    ]);
    await world.one.catchUp();
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
    await world.one.catchUp();
    node.fault = noOldState(node, 0);
    world.grow(1, () => [call('delegateForAll', [D, true])]);
    world.grow(1, () => [call('revokeDelegate', [D])]);
    world.grow(1, () => [call('delegateForContract', [D, C, true])]);
    world.grow(1, () => [call('delegateForAll', [X, true])]);
    world.grow(1, () => [call('revokeDelegate', [X])]);
    world.grow(1, () => []);
    await world.one.catchUp();
    const answers = [all(D), contract, all(X)].map((question) => ask(world, question));
    expect(await Promise.all(answers)).toEqual([false, true, false]);
    await world.close();
  });

  test('a grant that was repeated in the block of an unnamed revocation is not shown as ended and begun', async () => {
    const world = await createWorld({ blocks: 5, calls: () => [] });
    const [node] = world.nodes as [FakeNode];
    await world.one.catchUp();
    world.grow(1, () => [call('delegateForAll', [D, true]), call('delegateForAll', [X, true], true)]);
    await world.one.catchUp();
    const granted = world.chain.at(-1)?.number;
    // The state of the block is gone, and that of a later one does not tell who was revoked.
    node.fault = noOldState(node, 0);
    world.grow(1, () => [call('revokeDelegate', [X]), call('delegateForAll', [D, true], true)]);
    world.grow(1, () => []);
    await world.one.catchUp();
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
    await world.one.catchUp();
    // As if neither delegation were there, after one revocation.
    node.fault = (question, honest) => (question.method === 'eth_getStorageAt' ? `0x${'0'.repeat(64)}` : honest());
    world.grow(1, () => [call('revokeDelegate', [X])]);
    await world.one.catchUp();
    expect(await ask(world, all(D))).toBe('revocation-unread');
    node.fault = null;
    world.one.clock += 10_000;
    await world.one.catchUp();
    expect([await ask(world, all(D)), await ask(world, all(X))]).toEqual([true, false]);
    await world.close();
  });
});
