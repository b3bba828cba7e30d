// Histories of one v1 vault with two delegates: every sequence of a few operations, cut into blocks in every way. Many of them run on
// one chain, each with wallets of its own.

import { createAuditor } from '../../src/chain/follow/auditor.ts';
import type { Question } from '../../src/registry/check.ts';
import type { Address } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import type { Store } from '../../src/store/store.ts';
import { createChainMaker, type FakeBlock, type FakeCall, type Fault, startFakeNode } from './fake-node.ts';
import { following } from './following.ts';
import { createModel } from './model.ts';
import { noOldState } from './node-quirks.ts';
import { MAINNET } from './vectors.ts';

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
export const KINDS_OF_OPERATIONS = OPERATIONS.length;

/** The operations of each block, as numbers. */
export type BlockHistory = readonly (readonly number[])[];

/** Cuts a sequence into blocks: bit n of `cuts` ends a block after operation n. */
export function cutIntoBlocks(operations: readonly number[], cuts: number): BlockHistory {
  const blocks: number[][] = [[]];
  for (const [position, operation] of operations.entries()) {
    blocks.at(-1)?.push(operation);
    if (position < operations.length - 1 && (cuts >> position) & 1) blocks.push([]);
  }
  return blocks;
}

/** Every sequence of so many operations, cut in every way. */
export function* everyHistory(length: number): Iterable<BlockHistory> {
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
export type StateKind = 'all' | 'last blocks' | 'none until later';

export interface HistoriesResult {
  readonly answers: number;
  readonly wrong: readonly string[];
  /** Refused while state was missing, and in the end. */
  readonly refused: number;
  readonly stillRefused: number;
}

const FIRST = 1000;
const address = (kind: number, position: number): Address =>
  `0x${kind.toString(16)}${position.toString(16).padStart(39, '0')}`;

let chains = 5000;

/** Runs histories on one chain. `isDirect`: wallets call the registry themselves; otherwise through a contract. */
export async function runHistories(
  store: Store,
  histories: readonly BlockHistory[],
  { isDirect, state, isProvable = true }: { isDirect: boolean; state: StateKind; isProvable?: boolean },
): Promise<HistoriesResult> {
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
  const settle = async () => {
    for (let left = 200; left > 0; left--) {
      one.clock += 1000;
      await one.settle(1);
      if ((await store.unsettledVaults(chainId, null, 1)).length === 0) return;
      // Wallets that could not be read wait longer each time.
      if (left % 60 === 0) one.clock += 1_000_000;
    }
  };
  if (state === 'all') {
    for (let length = 1; length <= chain.length; length++) {
      show(length, null);
      await settle();
    }
  } else if (state === 'last blocks') {
    show(1, null);
    await one.settle(2);
    show(chain.length, noOldState(node, 1));
    await settle();
  } else {
    show(chain.length, noOldState(node, -1));
    await one.settle(3);
  }
  const describe = (text: string) => `${text}${isDirect ? ', direct' : ''}, ${state}`;
  const truth = trueAnswers(histories, callsIn, longest);
  const first = await compare(store, chainId, wallets, truth, longest);
  const wrong = [...first.wrong];
  if (state === 'none until later') {
    chain.push(maker.block(chain.at(-1) as FakeBlock, []));
    show(chain.length, noOldState(node, 0));
    one.clock += 1_000_000;
    await settle();
    wrong.push(...(await compare(store, chainId, wallets, truth, longest)).wrong);
  }
  if (state === 'all') {
    await node.stop();
    const { answers, refused } = first;
    return { answers, wrong: wrong.map((text) => describe(text)), refused, stillRefused: refused };
  }
  // The state of every block is there.
  chain.push(...growBy(maker, chain, 30));
  show(chain.length, null);
  const auditor = createAuditor(one.follower, network, store, () => one.clock);
  let last = first;
  for (let turn = 0; turn < 4 && (turn === 0 || last.refused > 0); turn++) {
    one.clock += 1_000_000;
    await settle();
    await auditor.auditAll();
    last = await compare(store, chainId, wallets, truth, longest);
    wrong.push(...last.wrong);
  }
  await node.stop();
  return {
    answers: first.answers + last.answers,
    wrong: wrong.map((text) => describe(text)),
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
