// Proves stored blocks with logs against their hashes, newest first, and that their neighbours have none. Repairs the index.

import type { BlockRef, ConfirmedBlock, LogRecord, RepairedBlock } from '../../store/store.ts';
import { findAgreedBlock, isOnChain } from '../compare/agreed-block.ts';
import { compareBlocks, storeFindings } from '../compare/compare-blocks.ts';
import { isEqual, readStoredLogs } from '../compare/compare-logs.ts';
import { allProviders, type FollowerContext, type TickProviders } from '../compare/context.ts';
import { proveByAny } from '../compare/decide-logs.ts';
import { toBlockInput } from '../compare/resolve-blocks.ts';
import { absenceBy } from '../prove/absence.ts';
import { fetchProven, rootsOf } from '../prove/block.ts';
import { stateSyncHash } from '../prove/receipts.ts';
import { readInputs } from '../revocations/named-by-input.ts';
import type { BlockId, Header } from '../rpc/node.ts';
import type { Provider } from '../rpc/provider-pool.ts';

/** Blocks of one call. Each needs two calls to a node, and up to three more for its neighbours. */
const MAX_BLOCKS = 20;

export interface ProvenStored {
  /** The end of the rest of the range. Null if nothing is left. */
  readonly left: number | null;
  /** Why a block could not be proven now. */
  readonly failure?: unknown;
}

/** The anchor is a block at the end of the range or above, from which the hashes of parents lead down. */
export async function proveStored(
  context: FollowerContext,
  providers: TickProviders,
  range: { readonly from: number; readonly to: number },
  anchor: BlockId,
  withNeighbours: boolean,
): Promise<ProvenStored> {
  const { network, store } = context;
  const { chainId } = network;
  const paced = allProviders(providers).map((one): Provider => ({ ...one, node: one.history.node }));
  const unproven = await store.unprovenBlocks(chainId, { ...range, limit: MAX_BLOCKS });
  const proven: ConfirmedBlock[] = [];
  const repairs: RepairedBlock[] = [];
  const failures: unknown[] = [];
  await Promise.all(
    unproven.map((block) =>
      proveOne(block).catch((error) => {
        failures.push(error);
      }),
    ),
  );
  await storeFindings(context, proven, repairs, paced);
  const left = unproven.length < MAX_BLOCKS ? null : (unproven.at(-1) as BlockRef).number - 1;
  return { left, failure: failures[0] };

  async function proveOne(block: BlockRef): Promise<void> {
    const stored = await readStored(block);
    if (stored === null) return;
    const agreed = await findAgreedBlock(context, paced, block.number, anchor);
    if (agreed.header.hash !== block.hash) {
      // Repairs it, or refuses its wallets.
      await compareBlocks(context, allProviders(providers), anchor, block.number, block.number);
      return;
    }
    const known = rootsOf(agreed.header) === null ? undefined : agreed.header;
    const { header, logs } = await proveByAny(context, agreed.providers, block, known);
    const isRight = isEqual(network, stored, logs);
    if (!isRight || (await isWronglyNamed(header, stored))) repairs.push(toBlockInput(network, header, logs, true));
    else proven.push({ number: block.number, hash: block.hash, timestamp: header.timestamp, isProven: true });
    if (withNeighbours) await proveNeighbours(header);
  }

  /** Whether providers contradict a delegate that one of them named by a transaction's input. */
  async function isWronglyNamed(header: Header, stored: readonly LogRecord[]): Promise<boolean> {
    if (stored.every(({ revoked }) => revoked == null)) return false;
    const { value, isDisputed } = await readInputs(context, providers, header, stored);
    return isDisputed || (value?.some((named, at) => (stored[at]?.revoked ?? named) !== named) ?? false);
  }

  /** Null if there are messages of another chain among them, which can only be compared. */
  async function readStored(block: BlockId): Promise<readonly LogRecord[] | null> {
    const logs = await readStoredLogs(store, chainId, block.number);
    const message = stateSyncHash(network, block);
    return logs.some(({ transactionHash }) => transactionHash === message) ? null : logs;
  }

  /** The parent is proven by the block. The next one must be on the chain: anybody can make one. */
  async function proveNeighbours(header: Header): Promise<void> {
    const [{ node }] = paced as [Provider];
    const parent = header.number > range.from ? await fetchProven(node, header.parentHash).catch(() => null) : null;
    const next =
      header.number < range.to
        ? await findAgreedBlock(context, paced, header.number + 1, anchor).catch(() => null)
        : null;
    const isNext = next !== null && (await isOnChain(context, next, anchor));
    for (const one of [parent, isNext ? next.header : null]) {
      if (one === null || rootsOf(one) === null) continue;
      if (['excluded', 'compared'].includes(absenceBy(network, one.bloom))) continue;
      const { logs } = await proveByAny(context, paced, one, one);
      const stored = await readStored(one);
      if (stored !== null && !isEqual(network, stored, logs)) repairs.push(toBlockInput(network, one, logs, true));
    }
  }
}
