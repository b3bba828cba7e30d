// Proves stored blocks with logs against their hashes, newest first, and that their neighbours have none. Repairs the index.

import type { Bytes32 } from '../../registry/delegation.ts';
import type { BlockRef, ConfirmedBlock, LogRecord, RepairedBlock } from '../../store/store.ts';
import { findAgreedBlock, isOnChain } from '../compare/agreed-block.ts';
import { compareBlocks, storeFindings } from '../compare/compare-blocks.ts';
import { isEqual, readStoredLogs } from '../compare/compare-logs.ts';
import type { Context } from '../compare/context.ts';
import { proveByAny } from '../compare/decide-logs.ts';
import { toBlockInput } from '../compare/resolve-blocks.ts';
import { absenceBy } from '../prove/absence.ts';
import { fetchProven, rootsOf } from '../prove/block.ts';
import { stateSyncHash } from '../prove/receipts.ts';
import { readInputs, Unknown } from '../revocations/words.ts';
import type { BlockId, Header } from '../rpc/node.ts';
import type { Provider, TickProviders } from '../rpc/provider-pool.ts';
import type { Ancestor } from './commit.ts';

/** Blocks of one call. Each needs two calls to a node, and up to three more for its neighbours. */
const MAX_BLOCKS = 20;

export function createProver(context: Context) {
  /** What is left to prove below a head. */
  let newLeft: { readonly hash: Bytes32; readonly to: number } | null = null;
  /** The next finalized block to prove, from the newest down. Null: start again. */
  let provenDownTo: number | null = null;

  return {
    /** Proves blocks above the verified one, before newer blocks make the head fresh. True if there may be more. */
    async proveNew(providers: TickProviders, { number: to, hash }: Ancestor): Promise<boolean> {
      if (!context.proof.isProven || context.state === null || hash === null) return false;
      const from = (context.state.verified ?? context.state.firstBlock - 1) + 1;
      const range = { from, to: newLeft?.hash === hash ? newLeft.to : to };
      const { left, failure } = await proveStored(context, providers, range, { number: to, hash }, false);
      if (failure !== undefined) throw failure;
      newLeft = left === null ? null : { hash, to: left };
      if (left === null && context.state.proving) await context.report({ proving: false });
      return left !== null;
    },
    /** Proves some finalized blocks, newest first. True if there are more. */
    async proveOld(providers: TickProviders): Promise<boolean> {
      const anchor = await context.verifiedBlock();
      if (!context.proof.isProven || context.state === null || anchor === undefined) return false;
      const range = { from: context.state.firstBlock, to: provenDownTo ?? anchor.number };
      const { left, failure } = await proveStored(context, providers, range, anchor, true);
      // Blocks that no provider can prove now are tried again in the next round.
      provenDownTo = left;
      if (failure !== undefined) throw failure;
      return left !== null;
    },
  };
}

/**
 * The anchor is a block at the end of the range or above, from which the hashes of parents lead down. Returns the end of the rest of the
 * range, or null if nothing is left, and why a block could not be proven now.
 */
async function proveStored(
  context: Context,
  providers: TickProviders,
  range: { readonly from: number; readonly to: number },
  anchor: BlockId,
  withNeighbours: boolean,
) {
  const { network, store } = context;
  const { chainId } = network;
  const paced = providers.map((one): Provider => ({ ...one, node: one.history.node }));
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
  const names = providers.map(({ name }) => name);
  await storeFindings(context, proven, repairs, names);
  const left = unproven.length < MAX_BLOCKS ? null : (unproven.at(-1) as BlockRef).number - 1;
  return { left, failure: failures[0] };

  async function proveOne(block: BlockRef): Promise<void> {
    const stored = await readStored(block);
    if (stored === null) return;
    const agreed = await findAgreedBlock(context, paced, block.number, anchor);
    if (agreed.header.hash !== block.hash) {
      // Repairs it, or refuses its wallets.
      await compareBlocks(context, providers, anchor, block.number, block.number);
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
    try {
      const named = await readInputs(context, providers, header, stored);
      return named.some((delegate, position) => (stored[position]?.revoked ?? delegate) !== delegate);
    } catch (error) {
      if (error instanceof Unknown) return error.isDisputed;
      throw error;
    }
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
