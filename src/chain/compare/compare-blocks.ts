// Compares a range of the index with all providers, and repairs blocks that are wrong in the index.

import type { BlockRef, ConfirmedBlock, RepairedBlock } from '../../store/store.ts';
import { stateSyncHash } from '../prove/receipts.ts';
import { Inconsistent, isProviderFault } from '../rpc/errors.ts';
import type { BlockId } from '../rpc/node.ts';
import type { Provider } from '../rpc/provider-pool.ts';
import { RpcError } from '../rpc/rpc.ts';
import { type AgreedBlock, findAgreedBlock, isOnChain, MAX_DIFFERENCES } from './agreed-block.ts';
import { eventKeys, isEqual } from './compare-logs.ts';
import { compareTimes } from './compare-times.ts';
import type { FollowerContext } from './context.ts';
import { decideLogs, refute } from './decide-logs.ts';
import { findDisputes } from './disputed-wallets.ts';
import { fetchRange } from './fetch-range.ts';
import type { ProviderLogs } from './provider-logs.ts';
import { toBlockInput } from './resolve-blocks.ts';
import { groupStoredLogs, readStoredLogs, type StoredBlock } from './stored-blocks.ts';

export interface Comparison {
  readonly logs: number;
  /** Blocks that were wrong in the index. */
  readonly repaired: number;
  /** Blocks that providers disagree about, without proof. Answers about their wallets are refused. */
  readonly undecided: number;
  /** Providers that answered. */
  readonly providers: number;
  /** False if so many blocks differed that the rest was left for the next call. */
  readonly isComplete: boolean;
}

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
  let answers: readonly ProviderLogs[] = await fetchRange(context, providers, anchor, from, to, known);
  const { length: answered } = answers;
  const logs = await readStoredLogs(store, chainId, from, to);
  const stored = groupStoredLogs(logs);
  const unproven = new Set((await store.unprovenBlocks(chainId, { from, to, limit: stored.size })).map(numberOf));
  const repairs: RepairedBlock[] = [];
  const proven: ConfirmedBlock[] = [];
  let [differences, undecided, isComplete] = [0, 0, true];
  for (const number of blocksWithLogs(stored, answers)) {
    const ours = stored.get(number);
    const ourKeys = eventKeys(network, ours?.logs ?? []);
    const differing = answers.filter(({ blocks }) => {
      const theirs = blocks.get(number);
      return !isSame(ours, theirs) || !isEqual(eventKeys(network, theirs?.logs ?? []), ourKeys);
    });
    if (differing.length === 0) continue;
    const isProven =
      ours !== undefined && context.proof.isProven && !unproven.has(number) && !hasMessages(number, ours);
    if (isProven && !(await refute(context, differing, ours, ours.logs))) continue;
    if (differences++ >= MAX_DIFFERENCES || answers.length === 0) {
      isComplete = false;
      break;
    }
    const agreed = await orNull(findAgreedBlock(context, providers, number, anchor));
    if (agreed !== null) answers = answers.filter(({ provider }) => agreed.providers.includes(provider));
    if (isProven && agreed?.header.hash === ours.hash) continue;
    const hashes = [...new Set((ours?.logs ?? []).map(({ transactionHash }) => transactionHash))];
    const decided = agreed && (await orNull(decideLogs(context, answers, agreed.header, hashes)));
    if (decided !== null && isSame(ours, decided.header) && isEqual(ourKeys, eventKeys(network, decided.logs))) {
      const { timestamp } = decided.header;
      if (decided.isProven && ours !== undefined) proven.push({ number, hash: ours.hash, timestamp, isProven: true });
    } else if (decided !== null && (await mayReplace(ours, agreed as AgreedBlock)))
      repairs.push({ ...toBlockInput(network, decided.header, decided.logs, decided.isProven), replaces: ours?.hash });
    else {
      const isFinal = number <= (context.state?.verified ?? -1);
      if (!isFinal && (agreed === null || agreed.header.hash !== ours?.hash))
        throw new Inconsistent(`block ${number} changed while it was compared`);
      undecided++;
      const lists = answers.map(({ blocks }) => blocks.get(number)?.logs ?? []);
      await context.dispute(await findDisputes(context, number, [ours?.logs ?? [], ...lists]));
    }
  }
  const [first] = repairs;
  if (first !== undefined) {
    await context.commit(({ epoch }) => store.repair({ chainId, epoch, blocks: repairs }));
    const names = answers.map(({ provider }) => provider.name);
    onEvent({ type: 'repaired', block: first.number, blocks: repairs.length, providers: names });
  }
  if (proven.length > 0) await context.commit(({ epoch }) => store.confirm(chainId, epoch, proven));
  await compareTimes(context, answers, from, to);
  return { logs: logs.length, repaired: repairs.length, undecided, providers: answered, isComplete };

  /** A block whose hash is not ours counts only if it is on the chain. */
  async function mayReplace(ours: StoredBlock | undefined, agreed: AgreedBlock): Promise<boolean> {
    const isKnown = ours === undefined ? !context.proof.isProven : ours.hash === agreed.header.hash;
    return isKnown || (await orNull(isOnChain(context, agreed, anchor))) === true;
  }

  /** Logs that no root commits to are compared again, whatever is proven. */
  function hasMessages(number: number, ours: StoredBlock): boolean {
    const logs = [ours.logs, ...answers.map(({ blocks }) => blocks.get(number)?.logs ?? [])].flat();
    return logs.some(({ transactionHash }) => transactionHash === stateSyncHash(network, ours));
  }
}

/** Null if it cannot be decided. */
async function orNull<T>(deciding: Promise<T>): Promise<T | null> {
  try {
    return await deciding;
  } catch (error) {
    if (!isProviderFault(error) || (error instanceof RpcError && error.fault === 'unreachable')) throw error;
    return null;
  }
}

const isSame = (ours: Pick<BlockRef, 'hash'> | undefined, theirs: Pick<BlockRef, 'hash'> | undefined) =>
  ours === undefined || theirs === undefined || ours.hash === theirs.hash;

const numberOf = ({ number }: BlockRef) => number;

const blocksWithLogs = (stored: ReadonlyMap<number, StoredBlock>, answers: readonly ProviderLogs[]): number[] =>
  [...new Set([...stored.keys(), ...answers.flatMap(({ blocks }) => [...blocks.keys()])])].sort((a, b) => a - b);
