// Compares a range of the index with all providers, and repairs blocks that are wrong in the index.

import type { BlockRef, ConfirmedBlock, RepairedBlock } from '../../store/store.ts';
import { rootsOf } from '../prove/block.ts';
import { stateSyncHash } from '../prove/receipts.ts';
import { Inconsistent, isProviderFault } from '../rpc/errors.ts';
import type { BlockId } from '../rpc/node.ts';
import type { Provider, Providers } from '../rpc/provider-pool.ts';
import { RpcError } from '../rpc/rpc.ts';
import { type AgreedBlock, findAgreedBlock, isOnChain, MAX_DIFFERENCES } from './agreed-block.ts';
import { type AnyLog, groupStoredLogs, isEqual, readStoredLogs, type StoredBlock } from './compare-logs.ts';
import type { Context } from './context.ts';
import { decideLogs, findDisputes, refute } from './decide-logs.ts';
import { blocksWithLogs, differs, fetchRange, type Reports } from './provider-logs.ts';
import { toBlockInput } from './resolve-blocks.ts';

export interface Comparison {
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
  context: Context,
  providers: Providers,
  anchor: BlockId,
  from: number,
  to: number,
  known?: Provider,
): Promise<Comparison> {
  const { network, store } = context;
  const { chainId } = network;
  let reports = await fetchRange(context, providers, anchor, from, to, known);
  const { length: answered } = reports;
  const stored = groupStoredLogs(await readStoredLogs(store, chainId, from, to));
  const unproven = new Set(
    (await store.unprovenBlocks(chainId, { from, to, limit: stored.size })).map((one) => one.number),
  );
  const repairs: RepairedBlock[] = [];
  const proven: ConfirmedBlock[] = [];
  let [differences, undecided, isComplete] = [0, 0, true];
  const lists = () => [stored, ...reports.map(({ blocks }) => blocks)];
  for (const number of blocksWithLogs(lists())) {
    // All that answered were wrong about the chain: the rest was compared with nobody.
    if (reports.length === 0) {
      isComplete = false;
      break;
    }
    if (!differs(network, lists(), number)) continue;
    const ours = stored.get(number);
    const isProven =
      ours !== undefined && context.proof.isProven && !unproven.has(number) && !hasMessages(number, ours);
    if (isProven && !(await refute(context, reports, ours, ours.logs))) continue;
    if (differences++ >= MAX_DIFFERENCES) {
      isComplete = false;
      break;
    }
    const agreed = await orNull(findAgreedBlock(context, providers, number, anchor));
    if (agreed !== null) reports = reports.filter(({ provider }) => agreed.providers.includes(provider));
    if (isProven && agreed?.header.hash === ours.hash) continue;
    const hashes = [...new Set((ours?.logs ?? []).map(({ transactionHash }) => transactionHash))];
    const decided = agreed && (await orNull(decideLogs(context, reports, agreed.header, hashes)));
    const isSame = ours === undefined || ours.hash === decided?.header.hash;
    if (decided !== null && isSame && isEqual(network, ours?.logs ?? [], decided.logs)) {
      const { timestamp } = decided.header;
      if (decided.isProven && ours !== undefined) proven.push({ number, hash: ours.hash, timestamp, isProven: true });
    } else if (decided !== null && (await mayReplace(ours, agreed as AgreedBlock)))
      repairs.push({ ...toBlockInput(network, decided.header, decided.logs, decided.isProven), replaces: ours?.hash });
    else {
      const isFinal = number <= (context.state?.verified ?? -1);
      if (!isFinal && (agreed === null || agreed.header.hash !== ours?.hash))
        throw new Inconsistent(`block ${number} changed while it was compared`);
      undecided++;
      const contradicting = lists().map((blocks) => blocks.get(number)?.logs ?? []);
      await context.dispute(await findDisputes(context, number, contradicting));
    }
  }
  const names = reports.map(({ provider }) => provider.name);
  await storeFindings(context, proven, repairs, names);
  await compareTimes(context, reports, from, to);
  return { repaired: repairs.length, undecided, providers: answered, isComplete };

  /** A block whose hash is not ours counts only if it is on the chain. */
  async function mayReplace(ours: StoredBlock | undefined, agreed: AgreedBlock): Promise<boolean> {
    const isKnown = ours === undefined ? !context.proof.isProven : ours.hash === agreed.header.hash;
    return isKnown || (await orNull(isOnChain(context, agreed, anchor))) === true;
  }

  /** Logs that no root commits to are compared again, whatever is proven. */
  function hasMessages(number: number, ours: StoredBlock): boolean {
    const logs = lists().flatMap((blocks): readonly AnyLog[] => blocks.get(number)?.logs ?? []);
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

/** Marks blocks whose logs are proven, and repairs others. */
export async function storeFindings(
  { network, store, commit, onEvent }: Context,
  proven: readonly ConfirmedBlock[],
  repairs: readonly RepairedBlock[],
  providers: readonly string[],
): Promise<void> {
  const { chainId } = network;
  if (proven.length > 0) await commit(({ epoch }) => store.confirm(chainId, epoch, proven));
  const blocks = repairs.toSorted((a, b) => a.number - b.number);
  const [first] = blocks;
  if (first === undefined) return;
  await commit(({ epoch }) => store.repair({ chainId, epoch, blocks }));
  onEvent({ type: 'repaired', block: first.number, blocks: blocks.length, providers });
}

/** Times that are compared in one call. */
const MAX_TIMES = 500;

/** Confirms block times that came from logs, by a second provider's logs or by headers, and corrects wrong ones. */
export async function compareTimes(context: Context, reports: Reports, from: number, to: number) {
  const { network, store, onEvent } = context;
  const { chainId } = network;
  const unchecked = await store.uncheckedTimes(chainId, { from, to, limit: MAX_TIMES });
  if (unchecked.length === 0) return;
  const isConfirmed = ({ number, timestamp }: BlockRef) => {
    const times = reports.flatMap(({ blocks }) => blocks.get(number)?.timestamp ?? []);
    return times.length > 1 && times.every((time) => time === timestamp);
  };
  const checked = unchecked.filter(isConfirmed);
  let wrong = 0;
  for (const { provider } of reports) {
    const left = unchecked.filter(({ number }) => !checked.some((one) => one.number === number));
    if (left.length === 0) break;
    const headers = await provider.node.headers(left.map(({ number }) => number)).catch(() => []);
    for (const [position, header] of headers.entries()) {
      const block = left[position] as BlockRef;
      if (header.hash !== block.hash || (context.proof.isProven && rootsOf(header) === null)) continue;
      if (header.timestamp !== block.timestamp) wrong++;
      checked.push({ ...block, timestamp: header.timestamp });
    }
  }
  if (checked.length === 0) return;
  checked.sort((a, b) => a.number - b.number);
  const confirmed = checked.map((block) => ({ ...block, isProven: false }));
  await context.commit(({ epoch }) => store.confirm(chainId, epoch, confirmed));
  if (wrong > 0) onEvent({ type: 'retimed', block: (checked[0] as BlockRef).number, blocks: wrong });
}
