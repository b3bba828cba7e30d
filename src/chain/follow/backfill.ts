// Reads ranges of blocks while the index is far behind the head. Old history counts as verified when it is read, and is proven later.
// Newer blocks are read again with the window first, and proven before they are served.

import type { Bytes32 } from '../../registry/delegation.ts';
import type { BlockInput } from '../../store/store.ts';
import { fetchHeader, findAgreedBlock, findOther, MAX_DIFFERENCES, requireBlock } from '../compare/agreed-block.ts';
import type { Context } from '../compare/context.ts';
import { decideLogs } from '../compare/decide-logs.ts';
import { fetchReports, findDiffering, onlyComparable, type ProviderLogs } from '../compare/provider-logs.ts';
import { resolveBlocks } from '../compare/resolve-blocks.ts';
import { Inconsistent, isProviderFault } from '../rpc/errors.ts';
import { HistoryFault } from '../rpc/history-service.ts';
import type { Header, Node } from '../rpc/node.ts';
import type { Provider, TickProviders } from '../rpc/provider-pool.ts';
import { type BlockLogs, groupLogs } from '../rpc/registry-logs.ts';
import type { Ancestor, BlockRange, Commit } from './commit.ts';
import type { HistorySource } from './history-source.ts';
import { createGarbageCollector, type HistoryPart, readHistory } from './read-history.ts';
import { finalizedNumber, MIN_FINALIZED_AGE_SECONDS } from './window.ts';

/** Ranges that are prefetched while one is being written. */
const PREFETCHED_RANGES = 4;
/** How long one tick starts new calls. Each tick begins with a few calls about the head. */
const TICK_MS = 20_000;
/** This many of the newest finalized blocks are read twice before they count as verified. */
const READ_TWICE_BLOCKS = 10_000;
/** How long the other providers may take for a range. */
const CROSS_CHECK_TIMEOUT_MS = 20_000;

/** `proveStored` proves blocks that are stored, above the verified one and up to another. True if there may be more of them. */
export function createBackfill(
  context: Context,
  commit: Commit,
  proveStored: (providers: TickProviders, to: Ancestor) => Promise<boolean>,
  source: HistorySource | null,
) {
  const { network, finality, ticks } = context;

  async function readAhead(providers: TickProviders, tip: Header, ancestor: Ancestor): Promise<void> {
    await context.report({ tip: tip.number });
    const { node } = providers[0];
    const finalized = Math.min(await finalizedNumber(network, finality, node, tip), tip.number);
    const oldEnd = finalized - READ_TWICE_BLOCKS;
    if (ancestor.number < oldEnd) return readOld(providers, tip, ancestor, oldEnd);
    // Blocks up to the finalized one are proven together after they are stored, and not served before. Newer ones are proven first.
    const isFinal = ancestor.number < finalized;
    if (!isFinal && (await proveStored(providers, ancestor))) return;
    await readNew(providers, ancestor, isFinal ? finalized : tip.number, !isFinal);
  }

  /** The audit compares old history with the other providers, at the speed they allow. */
  async function readOld(providers: TickProviders, tip: Header, ancestor: Ancestor, last: number): Promise<void> {
    const { node, scanner } = providers[0].history;
    let before = ancestor;
    const onPart = async ({ from, to, logs }: HistoryPart, hash?: Bytes32) => {
      const end = await fetchHeader(context, node, to);
      if (hash !== undefined && end.hash !== hash) throw new Inconsistent(`block ${to} has another hash at the node`);
      const isOldEnough =
        end.timestamp <= tip.timestamp - MIN_FINALIZED_AGE_SECONDS &&
        (await findOther(providers.slice(1), end)) === null;
      await commit(await toRange(node, from, end, groupLogs(logs), true), before, isOldEnough);
      before = end;
    };
    const range = { from: ancestor.number + 1, to: last };
    const began = ticks();
    const { source: who, ms } = source?.next(TICK_MS) ?? { source: 'node', ms: TICK_MS };
    const deadline = began + ms;
    try {
      if (who === 'node') await readHistory(scanner, { ...range, deadline, ticks, onPart });
      else await readServed(range, deadline, onPart);
      source?.measured(who, before.number - ancestor.number, ticks() - began);
    } catch (error) {
      if (who === 'node' || !(error instanceof HistoryFault || isProviderFault(error))) throw error;
      source?.failed();
      context.onEvent({ type: 'history-failed', reason: (error as Error).message });
    }
  }

  /** What a service says is like an import: its blocks are on the chain, but their logs are only claimed. */
  async function readServed(
    { from, to }: Pick<HistoryPart, 'from' | 'to'>,
    deadline: number,
    onPart: (part: HistoryPart, hash: Bytes32) => Promise<void>,
  ): Promise<void> {
    const stop = new AbortController();
    const parts = (source as HistorySource).read(from, to, stop.signal);
    try {
      for await (const { hash, ...part } of parts) {
        await context.report({
          imported: { to: part.to, comparedFrom: part.to + 1, isCounted: context.state?.partial ?? false },
        });
        await onPart(part, hash);
        if (ticks() > deadline) return;
      }
    } finally {
      stop.abort();
    }
  }

  async function readNew(providers: TickProviders, ancestor: Ancestor, last: number, mustProve: boolean) {
    const deadline = ticks() + TICK_MS;
    const { node, scanner } = providers[0].history;
    const reads: Promise<BlockRange>[] = [];
    let next = ancestor.number + 1;
    const prefetch = () => {
      if (next > last || ticks() > deadline) return;
      const to = Math.min(last, next + scanner.rangeSize() - 1);
      const read = readRange(providers, next, to, mustProve);
      // The failure is thrown when this read is awaited in order.
      read.catch(() => {});
      reads.push(read);
      next = to + 1;
    };
    for (let count = 0; count < PREFETCHED_RANGES; count++) prefetch();
    let from = ancestor;
    const release = createGarbageCollector();
    for (let range = await reads.shift(); range !== undefined; range = await reads.shift()) {
      prefetch();
      // What was read links to the ancestor only if the chain still has it.
      if (from.hash !== null) await requireBlock(node, { number: from.number, hash: from.hash });
      await commit({ ...range, isProving: context.proof.isProven && !mustProve }, from);
      from = range.end;
      release(range.blocks.reduce((sum, { logs }) => sum + logs.length, 0));
    }
  }

  async function readRange(providers: TickProviders, from: number, to: number, mustProve: boolean) {
    const { node, scanner } = providers[0].history;
    // The chain id is asked for with the header afterwards, which must be the same.
    const before = await node.header(to);
    const fetch = (provider: Provider) => (provider === providers[0] ? scanner : provider.scanner).fetchLogs(from, to);
    const all = await fetchReports(context, providers, fetch, CROSS_CHECK_TIMEOUT_MS);
    const end = await fetchHeader(context, node, to);
    if (before?.hash !== end.hash) throw new Inconsistent(`block ${to} changed while it was read`);
    const reports = await onlyComparable(context, all, end);
    const [ours] = reports as [ProviderLogs];
    const blocks: Map<number, BlockLogs & { readonly isProven?: boolean }> = new Map(ours.blocks);
    const claimed = mustProve && context.proof.isProven ? blocks.keys() : [];
    const differing = findDiffering(context, reports);
    for (const number of new Set([...differing.slice(0, MAX_DIFFERENCES), ...claimed])) {
      const all = reports.map(({ provider }) => provider);
      const agreed = await findAgreedBlock(context, all, number, end);
      const having = reports.filter(({ provider }) => agreed.providers.includes(provider));
      const { header, logs, isProven } = await decideLogs(context, having, agreed.header);
      if (logs.length === 0) blocks.delete(number);
      else blocks.set(number, { number, hash: header.hash, timestamp: header.timestamp, logs, isProven });
    }
    // Those that were proven wrong are blamed by now.
    if (differing.length > MAX_DIFFERENCES)
      throw new Inconsistent(`the providers disagree about ${differing.length} blocks`);
    const decided = [...blocks.values()].sort((a, b) => a.number - b.number);
    return toRange(node, from, end, decided, false);
  }

  async function toRange(node: Node, from: number, end: Header, blocks: readonly BlockLogs[], isOld: boolean) {
    // The chain's first block is stored with its time, so that times before the first log can be answered.
    const isStart = context.state?.head == null && from === context.state?.firstBlock;
    const start = isStart ? await fetchHeader(context, node, from) : null;
    const known = new Map([end, ...(start === null ? [] : [start])].map((header) => [header.number, header]));
    const between = { after: start?.timestamp ?? context.state?.head?.timestamp ?? 0, until: end.timestamp };
    const found = await resolveBlocks(node, network, blocks, { known, between, isOld });
    if (start === null || found[0]?.number === from) return { end, blocks: found };
    const first: BlockInput = { number: from, hash: start.hash, timestamp: start.timestamp, logs: [] };
    return { end, blocks: [first, ...found] };
  }

  return { readAhead };
}
