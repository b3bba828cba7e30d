// Compares a range of the index with all providers, repairs blocks that are wrong in the index, and blames providers that are
// wrong.

import type { BlockInput } from '../store/store.ts';
import { buildRepairedBlock } from './build-repaired-block.ts';
import { eventKeys, isEqual, missingFrom } from './compare-logs.ts';
import { compareTimes } from './compare-times.ts';
import type { FollowerContext } from './context.ts';
import { fetchRange } from './fetch-range.ts';
import { findAgreedBlock } from './find-block.ts';
import type { BlockId } from './node.ts';
import type { ProviderLogs } from './provider-logs.ts';
import type { Provider } from './provider-pool.ts';
import { settleBlock } from './settle-block.ts';
import { groupStoredLogs, readStoredLogs, type StoredBlock } from './stored-blocks.ts';

export interface Comparison {
  readonly logs: number;
  /** Blocks that were wrong in the index. */
  readonly repaired: number;
  /** Providers that answered. */
  readonly providers: number;
  /** False if so many blocks differed that the rest was left for the next call. */
  readonly isComplete: boolean;
}

/** Blocks that are repaired in one call. */
const MAX_REPAIRS = 64;

/** The anchor is a block of ours that a provider must have. `known` is a provider that is known to have it. */
export async function compareBlocks(
  context: FollowerContext,
  providers: readonly Provider[],
  anchor: BlockId,
  from: number,
  to: number,
  known?: Provider,
): Promise<Comparison> {
  const { network, store, onEvent } = context;
  const { chainId } = network;
  const answers = await fetchRange(context, providers, anchor, from, to, known);
  const logs = await readStoredLogs(store, chainId, from, to);
  const stored = groupStoredLogs(logs);
  const repairs: BlockInput[] = [];
  /** Providers that were wrong in this range. If they lack more logs, those blocks are not settled again. */
  const wrong = new Set<Provider>();
  let isComplete = true;
  for (const number of blocksWithLogs(stored, answers)) {
    const ours = stored.get(number);
    const ourKeys = eventKeys(network, ours?.logs ?? []);
    const differs = ({ provider, blocks }: ProviderLogs) => {
      const theirs = blocks.get(number);
      const keys = eventKeys(network, theirs?.logs ?? []);
      const isSameBlock = ours === undefined || theirs === undefined || theirs.hash === ours.hash;
      if (isSameBlock && isEqual(keys, ourKeys)) return false;
      const onlyLacksLogs = keys.length < ourKeys.length && missingFrom(ourKeys, keys).length === 0;
      return !(wrong.has(provider) && onlyLacksLogs);
    };
    if (!answers.some(differs)) continue;
    if (repairs.length >= MAX_REPAIRS) {
      isComplete = false;
      break;
    }
    const block = ours
      ? { number, hash: ours.hash }
      : await findAgreedBlock(
          answers.map(({ provider }) => provider),
          number,
        );
    const settled = await settleBlock(context, answers, block, ours?.logs ?? []);
    for (const provider of settled.wrong) wrong.add(provider);
    const keys = settled.entries.map(({ key }) => key);
    if (!isEqual(ourKeys, keys)) repairs.push(await buildRepairedBlock(network, answers, block, settled.entries));
  }
  const [first] = repairs;
  if (first !== undefined) {
    await context.commit(({ epoch }) => store.repair({ chainId, epoch, blocks: repairs }));
    const names = answers.map(({ provider }) => provider.name);
    onEvent({ type: 'repaired', block: first.number, blocks: repairs.length, providers: names });
  }
  await compareTimes(context, answers, from, to);
  return { logs: logs.length, repaired: repairs.length, providers: answers.length, isComplete };
}

const blocksWithLogs = (stored: ReadonlyMap<number, StoredBlock>, answers: readonly ProviderLogs[]): number[] =>
  [...new Set([...stored.keys(), ...answers.flatMap(({ blocks }) => [...blocks.keys()])])].sort((a, b) => a - b);
