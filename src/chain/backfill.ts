// Reads ranges of blocks while the index is far behind the head. Old history counts as verified when it is read. Newer blocks
// are read again with the window first.

import type { BlockInput } from '../store/store.ts';
import type { Ancestor, BlockRange, Commit } from './commit.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import { crossCheck } from './cross-check.ts';
import { Inconsistent, WrongChain } from './errors.ts';
import { finalizedNumber, MIN_FINALIZED_AGE_SECONDS } from './finality.ts';
import { hasBlock } from './find-block.ts';
import { createGarbageCollector } from './garbage.ts';
import { type BlockLogs, groupLogs } from './group-logs.ts';
import type { Header, Node } from './node.ts';
import { type HistoryPart, readHistory } from './read-history.ts';
import { resolveBlocks } from './resolve-blocks.ts';
import { RpcError } from './rpc.ts';

/** Ranges that are prefetched while one is being written. */
const PREFETCHED_RANGES = 4;
/** How long one tick starts new calls. Each tick begins with a few calls about the head. */
const TICK_MS = 20_000;
/** This many of the newest finalized blocks are read twice before they count as verified. */
const READ_TWICE_BLOCKS = 10_000;
/** How long the other providers may take for a range. */
const CROSS_CHECK_TIMEOUT_MS = 20_000;

export function createBackfill(context: FollowerContext, commit: Commit) {
  const { network, finality } = context;
  const { chainId } = network;

  async function readAhead(providers: TickProviders, tip: Header, ancestor: Ancestor): Promise<void> {
    await context.report({ tip: tip.number });
    const { node } = providers.first;
    const oldEnd = Math.min(await finalizedNumber(network, finality, node, tip), tip.number) - READ_TWICE_BLOCKS;
    const deadline = performance.now() + TICK_MS;
    if (ancestor.number < oldEnd) await readOld(providers, tip, ancestor, { to: oldEnd, deadline });
    else await readNew(providers, tip, ancestor, deadline);
  }

  /** The audit compares old history with the other providers, at the speed they allow. */
  async function readOld(
    { first: { history } }: TickProviders,
    tip: Header,
    ancestor: Ancestor,
    limits: { readonly to: number; readonly deadline: number },
  ): Promise<void> {
    const { node, scanner } = history;
    let before = ancestor;
    const onPart = async ({ from, to, logs }: HistoryPart) => {
      const end = await headerAt(node, to);
      const isOldEnough = end.timestamp <= tip.timestamp - MIN_FINALIZED_AGE_SECONDS;
      await commit(await toRange(node, from, end, groupLogs(logs)), before, isOldEnough);
      before = end;
    };
    await readHistory(scanner, { from: ancestor.number + 1, ...limits, onPart });
  }

  async function readNew(providers: TickProviders, tip: Header, ancestor: Ancestor, deadline: number): Promise<void> {
    const { node, scanner } = providers.first.history;
    const reads: Promise<BlockRange>[] = [];
    let next = ancestor.number + 1;
    const prefetch = () => {
      if (next > tip.number || performance.now() > deadline) return;
      const to = Math.min(tip.number, next + scanner.rangeSize - 1);
      const read = readRange(providers, next, to);
      // The failure is thrown when this read is awaited in order.
      read.catch(() => {});
      reads.push(read);
      next = to + 1;
    };
    for (let count = 0; count < PREFETCHED_RANGES; count++) prefetch();
    let from = ancestor;
    const garbage = createGarbageCollector();
    for (let range = await reads.shift(); range !== undefined; range = await reads.shift()) {
      prefetch();
      await requireUnchanged(node, from);
      await commit(range, from);
      from = range.end;
      garbage.release(range.blocks.reduce((sum, { logs }) => sum + logs.length, 0));
    }
  }

  async function headerAt(node: Node, block: number): Promise<Header> {
    const { chainId: found, header } = await node.headerAndChainId(block);
    if (found !== chainId) throw new WrongChain(found);
    if (header === null) throw new RpcError('refused', `the provider does not have block ${block}`);
    return header;
  }

  async function readRange(providers: TickProviders, from: number, to: number): Promise<BlockRange> {
    const { node, scanner } = providers.first.history;
    const before = await headerAt(node, to);
    const logs = await scanner.fetchLogs(from, to);
    const end = await headerAt(node, to);
    if (before.hash !== end.hash) throw new Inconsistent(`block ${to} changed while it was read`);
    const settled = await crossCheck(context, providers, groupLogs(logs), {
      end,
      fetch: (provider) => provider.scanner.fetchLogs(from, to),
      timeoutMs: CROSS_CHECK_TIMEOUT_MS,
    });
    return toRange(node, from, end, settled);
  }

  async function toRange(node: Node, from: number, end: Header, blocks: readonly BlockLogs[]): Promise<BlockRange> {
    // The chain's first block is stored with its time, so that times before the first log can be answered.
    const isStart = context.state?.head == null && from === context.state?.firstBlock;
    const start = isStart && from < end.number ? await headerAt(node, from) : null;
    const known = new Map([end, ...(start === null ? [] : [start])].map((header) => [header.number, header]));
    const between = { after: start?.timestamp ?? context.state?.head?.timestamp ?? 0, until: end.timestamp };
    const found = await resolveBlocks(node, network, blocks, { known, between });
    if (start === null || found[0]?.number === from) return { end, blocks: found };
    const first: BlockInput = { number: from, hash: start.hash, timestamp: start.timestamp, logs: [] };
    return { end, blocks: [first, ...found] };
  }

  return { readAhead };
}

/** What was read links to the ancestor only if the chain still has it. */
async function requireUnchanged(node: Node, { number, hash }: Ancestor): Promise<void> {
  if (hash !== null && !(await hasBlock(node, { number, hash }))) {
    throw new Inconsistent(`block ${number} changed while the blocks after it were read`);
  }
}
