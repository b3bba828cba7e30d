// Reads many blocks at once: old history for good, and otherwise up to where block by block takes over. What is not old is read
// a second time with the window before it counts as final.

import type { BlockInput } from '../store/store.ts';
import type { Ancestor, BlockRange, Commit } from './commit.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import { crossCheck } from './cross-check.ts';
import { Inconsistent, WrongChain } from './errors.ts';
import { finalizedNumber, MIN_FINALIZED_AGE_SECONDS } from './finality.ts';
import { hasBlock } from './find-block.ts';
import { groupLogs } from './group-logs.ts';
import type { Header, Node } from './node.ts';
import { resolveBlocks } from './resolve-blocks.ts';
import { RpcError } from './rpc.ts';

/** Ranges that are read ahead of the one that is being written, and for how long in one tick. */
const AHEAD = 4;
const AHEAD_MS = 5000;
/** So many of the newest final blocks are read twice before they count as verified. */
const READ_TWICE_BLOCKS = 10_000;
/** Other providers are waited for so long. */
const SECOND_MS = 20_000;

export function createBackfill(context: FollowerContext, commit: Commit) {
  const { network, store, finality } = context;
  const { chainId } = network;

  async function readAhead(sources: TickProviders, tip: Header, base: Ancestor): Promise<void> {
    await context.commit(async ({ epoch }) => ({ state: await store.report(chainId, epoch, { tip: tip.number }) }));
    const { node, scanner } = sources.first;
    const old = Math.min(await finalizedNumber(network, finality, node, tip), tip.number) - READ_TWICE_BLOCKS;
    const isOld = base.number < old;
    const last = isOld ? old : tip.number;
    const reads: Promise<BlockRange>[] = [];
    const deadline = performance.now() + AHEAD_MS;
    let next = base.number + 1;
    const launch = () => {
      if (next > last || performance.now() > deadline) return;
      const to = Math.min(last, next + scanner.rangeSize - 1);
      const read = readRange(sources, next, to, isOld);
      // Whoever comes first to fail is told of in its turn.
      read.catch(() => {});
      reads.push(read);
      next = to + 1;
    };
    for (let turn = 0; turn < AHEAD; turn++) launch();
    let from = base;
    for (let stretch = await reads.shift(); stretch !== undefined; stretch = await reads.shift()) {
      launch();
      if (!isOld) await requireStill(node, from);
      const isPast = stretch.end.timestamp <= tip.timestamp - MIN_FINALIZED_AGE_SECONDS;
      await commit(stretch, from, isOld && isPast);
      from = stretch.end;
    }
  }

  async function readRange(sources: TickProviders, from: number, to: number, isFinal: boolean): Promise<BlockRange> {
    const { node, scanner } = sources.first;
    const headerAt = async (block: number) => {
      const { chainId: found, header } = await node.headerAndChainId(block);
      if (found !== chainId) throw new WrongChain(found);
      if (header === null) throw new RpcError('refused', `the provider has no block ${block}`);
      return header;
    };
    const before = isFinal ? null : await headerAt(to);
    const logs = await scanner.fetchLogs(from, to);
    const end = await headerAt(to);
    if (before !== null && before.hash !== end.hash) throw new Inconsistent(`block ${to} changed while it was read`);
    // The first block of all is kept with its time: what is asked of a time before the first log is known from there on.
    const isStart = context.state?.head == null && from === context.state?.firstBlock;
    const start = isStart && from < to ? await headerAt(from) : null;
    const known = new Map([end, ...(start === null ? [] : [start])].map((header) => [header.number, header]));
    const between = { after: start?.timestamp ?? context.state?.head?.timestamp ?? 0, until: end.timestamp };
    // Old history is compared by the audit, at the pace of the others.
    const settled = isFinal
      ? groupLogs(logs)
      : await crossCheck(context, sources, groupLogs(logs), {
          end,
          ask: (source) => source.scanner.fetchLogs(from, to),
          timeoutMs: SECOND_MS,
        });
    const found = await resolveBlocks(node, network, settled, { known, between });
    if (start === null || found[0]?.number === from) return { end, blocks: found };
    const kept: BlockInput = { number: from, hash: start.hash, timestamp: start.timestamp, logs: [] };
    return { end, blocks: [kept, ...found] };
  }

  return { readAhead };
}

/** What was read stands on the base only if the base is still the chain's. */
async function requireStill(node: Node, { number, hash }: Ancestor): Promise<void> {
  if (hash !== null && !(await hasBlock(node, { number, hash }))) {
    throw new Inconsistent(`block ${number} changed while what follows was read`);
  }
}
