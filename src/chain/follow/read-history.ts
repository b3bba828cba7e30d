// Reads old history from one provider with several calls at once. Consecutive calls overlap by a few blocks: if both return the
// same logs there, the provider truncated neither response between them. Otherwise the gap is read again.

import type { NodeLog } from '../rpc/node.ts';
import { keyOf, type Scanner } from '../rpc/scanner.ts';

/** Logs in memory at once: read and not yet committed, or expected from calls in flight. About 50 MB. */
const MAX_HELD_LOGS = 16_000;
/** A part ends when it has this share of them, so that calls go on while it is committed. Larger commits cost less CPU per log. */
const PART_SHARE = 3 / 5;
const MAX_CALLS_IN_FLIGHT = 8;
/** Responses that wait for an earlier one, or for the commit before them. */
const MAX_CALLS_AHEAD = 256;
/** A part ends after this time: each part needs a few more calls for block hashes and times. */
const PART_MS = 5000;

export interface HistoryPart {
  readonly from: number;
  readonly to: number;
  readonly logs: readonly NodeLog[];
}

interface HistoryOptions extends Pick<HistoryPart, 'from' | 'to'> {
  /** No call starts after this time, by `ticks`. */
  readonly deadline: number;
  readonly ticks: () => number;
  readonly maxHeldLogs?: number;
  /** Called with consecutive parts, one at a time. */
  readonly onPart: (part: HistoryPart) => Promise<void>;
}

/** The response to one call. */
interface Piece extends HistoryPart {
  /** The lowest and the highest block of the response with logs: it may be truncated outside. Null if it is empty: it is not read again. */
  readonly blocks: { readonly lowest: number; readonly highest: number } | null;
  /** Known to have all logs of its blocks. */
  readonly isComplete: boolean;
}

type Joined = readonly [below: Piece | null, above: Piece | null];

/** If a call fails, passes on what was read before it, then throws. */
export async function readHistory(scanner: Scanner, options: HistoryOptions): Promise<void> {
  const { from, to, deadline, ticks, maxHeldLogs = MAX_HELD_LOGS, onPart } = options;
  const reads: Promise<Piece[]>[] = [];
  let next = from;
  let inFlight = 0;
  /** Logs of the responses in `reads`, and of those that were taken from it and are not yet committed. */
  let [waiting, taken] = [0, 0];
  let isStopped = false;
  let latest: Piece | null = null;

  const hasRoom = () => {
    // The consumer waits for this call.
    if (reads.length + inFlight === 0) return true;
    if (latest === null || inFlight >= MAX_CALLS_IN_FLIGHT || reads.length >= MAX_CALLS_AHEAD) return false;
    const expected = (latest.logs.length * scanner.rangeSize()) / sizeOf(latest);
    return taken + waiting + expected * (inFlight + 1) <= maxHeldLogs;
  };
  const fill = () => {
    while (next <= to && !isStopped && ticks() < deadline && hasRoom()) {
      const size = scanner.nextSize();
      const low = Math.max(from, next - findOverlap(latest, size));
      const high = Math.min(to, low + size - 1);
      const read = fetchPieces(scanner, low, high).then(receive, fail);
      // The failure is thrown when this read is awaited in order.
      read.catch(() => {});
      reads.push(read);
      next = high + 1;
      inFlight++;
    }
  };
  const receive = (pieces: Piece[]) => {
    inFlight--;
    for (const piece of pieces) waiting += piece.logs.length;
    latest = pieces.at(-1) ?? latest;
    fill();
    return pieces;
  };
  const fail = (error: unknown): never => {
    inFlight--;
    isStopped = true;
    throw error;
  };

  let logs: NodeLog[] = [];
  let start = from;
  let began = ticks();
  const release = createGarbageCollector();
  /** Its end is not checked yet. */
  let last: Piece | null = null;
  /** The last block whose logs are complete. */
  let checked = from - 1;
  const add = (piece: Piece | null) => {
    if (piece === null) return;
    for (const log of piece.logs) logs.push(log);
    checked = piece.to;
  };
  const endPart = (end: number): HistoryPart => {
    const part = { from: start, to: end, logs };
    [start, logs, began] = [end + 1, [], ticks()];
    return part;
  };
  const consume = async () => {
    for (let read = reads.shift(); read !== undefined; read = reads.shift()) {
      fill();
      for (const piece of await read) {
        waiting -= piece.logs.length;
        taken += piece.logs.length;
        const [below, above]: Joined = await join(scanner, last, piece);
        add(below);
        last = above;
      }
      const isPart = logs.length >= PART_SHARE * maxHeldLogs || ticks() - began > PART_MS;
      if (!isPart || checked < start) continue;
      const count = logs.length;
      // Where it ends with a log, the header of its end is also one of those that the times of logs are compared with.
      await onPart(endPart(spanOf(logs)?.highest ?? checked));
      taken = last?.logs.length ?? 0;
      release(count);
      fill();
    }
    add((await join(scanner, last, null))[0]);
  };
  fill();
  try {
    await consume();
  } finally {
    isStopped = true;
    if (checked >= start) await onPart(endPart(checked));
  }
}

const sizeOf = ({ from, to }: HistoryPart) => to - from + 1;

/**
 * Blocks that two calls have in common. Fewer blocks need fewer calls for the same range, but if they have no logs, a call for the
 * gap is needed: this is the minimum of both, for blocks with logs at random.
 */
function findOverlap(latest: Piece | null, rangeSize: number): number {
  if (latest === null) return 0;
  const size = sizeOf(latest);
  const blocks = new Set(latest.logs.map(({ blockNumber }) => blockNumber)).size;
  const overlap = blocks < 2 ? 0 : Math.ceil((size * Math.log(blocks)) / blocks);
  return Math.min(overlap, Math.min(size, rangeSize) >> 1);
}

/** One piece, or more if the provider rejects the size of the range. */
async function fetchPieces(scanner: Scanner, from: number, to: number): Promise<Piece[]> {
  const pieces: Piece[] = [];
  let end = to;
  for (let next = from; next <= to; end = Math.min(to, next + scanner.rangeSize() - 1)) {
    const isBlock = end === next;
    const logs = await (isBlock ? scanner.fetchLogs(next, end) : scanner.fetchUnchecked(next, end));
    if (logs === null) continue;
    const piece = { from: next, to: end, logs, blocks: spanOf(logs), isComplete: isBlock };
    pieces.push(piece);
    next = end + 1 - (end === to ? 0 : findOverlap(piece, scanner.rangeSize()));
  }
  return pieces;
}

/**
 * Checks that the provider truncated neither the end of one piece nor the start of the next, and reads both completely if it did.
 * Returns them without their common blocks in the second.
 */
async function join(scanner: Scanner, below: Piece | null, above: Piece | null): Promise<Joined> {
  if (await isWhole(scanner, below, above)) return [below, cutBelow(above, below)];
  const [first, second] = [below && (await fetchAgain(scanner, below)), above && (await fetchAgain(scanner, above))];
  return [first, cutBelow(second, first)];
}

async function isWhole(scanner: Scanner, below: Piece | null, above: Piece | null): Promise<boolean> {
  if (below !== null && above !== null) {
    const start = Math.max(below.from, above.from);
    const [ours, theirs] = [logsIn(below.logs, start, below.to), logsIn(above.logs, start, below.to)];
    if (!isSame(ours, theirs)) return false;
    if (ours.length > 0 && reachesOver(below, above, start)) return true;
  }
  const known = [...(below?.logs ?? []), ...(above?.logs ?? [])];
  for (const [low, high] of findGaps(scanner.rangeSize(), below, above)) {
    const logs = await scanner.fetchUnchecked(low, high);
    if (logs === null || !isSame(logs, logsIn(known, low, high))) return false;
  }
  return true;
}

/** Otherwise both may be truncated in the same way: their common logs would be the first, or the last, of each. */
const reachesOver = (below: Piece, above: Piece, start: number) =>
  (below.isComplete || (below.blocks?.lowest ?? start) < start) &&
  (above.isComplete || (above.blocks?.highest ?? below.to) > below.to);

/** What must be read again: from the last block with logs of one piece to the first of the next. */
function findGaps(rangeSize: number, below: Piece | null, above: Piece | null): [from: number, to: number][] {
  // It may be among the blocks that the piece before it has.
  const low = below?.isComplete === false && below.blocks ? Math.max(below.blocks.highest, below.from) : null;
  const high = above?.isComplete === false && above.blocks ? above.blocks.lowest : null;
  if (low !== null && high !== null && low < high && high - low < rangeSize) return [[low, high]];
  const gaps: [number, number][] = [];
  if (low !== null && below !== null) gaps.push([low, below.to]);
  if (high !== null && above !== null) gaps.push([above.from, high]);
  return gaps;
}

function spanOf(logs: readonly NodeLog[]): Piece['blocks'] {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, -1];
  for (const { blockNumber } of logs) {
    if (blockNumber < lowest) lowest = blockNumber;
    if (blockNumber > highest) highest = blockNumber;
  }
  return highest < 0 ? null : { lowest, highest };
}

const fetchAgain = async (scanner: Scanner, piece: Piece): Promise<Piece> =>
  piece.isComplete ? piece : { ...piece, logs: await scanner.fetchLogs(piece.from, piece.to), isComplete: true };

const logsIn = (logs: readonly NodeLog[], from: number, to: number) =>
  logs.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to);

function isSame(one: readonly NodeLog[], other: readonly NodeLog[]): boolean {
  const keys = new Set(one.map(keyOf));
  const others = new Set(other.map(keyOf));
  return keys.size === others.size && keys.isSubsetOf(others);
}

/** The piece without the blocks that the piece below it has. */
function cutBelow(piece: Piece | null, below: Piece | null): Piece | null {
  if (piece === null || below === null || piece.from > below.to) return piece;
  const from = below.to + 1;
  return { ...piece, from, logs: piece.logs.filter(({ blockNumber }) => blockNumber >= from) };
}

/** One collection costs 1 to 2 % of the CPU that this many logs cost. */
const LOGS_PER_COLLECTION = 16_000;

/**
 * Collects garbage during a backfill. Logs live long enough to look permanent to the runtime, which then lets the heap grow several
 * times over before it collects them. The function is to be called when logs are committed and no longer referenced.
 */
export function createGarbageCollector(): (logs: number) => void {
  let uncollected = 0;
  return (logs) => {
    uncollected += logs;
    if (uncollected < LOGS_PER_COLLECTION) return;
    uncollected = 0;
    Bun.gc(true);
  };
}
