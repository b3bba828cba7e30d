// Answers lists: the delegations of a wallet, streamed whole or a page at a time.

import { type Budget, handled } from '../../api/operation.ts';
import type { ListOperation } from '../../api/operations.ts';
import { badRequest } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import {
  type ChosenBlock,
  listPositionText,
  pageCursorText,
  readListPosition,
  readPageCursor,
} from '../../feed/cursor.ts';
import { NO_RIGHTS } from '../../registry/delegation.ts';
import { hasRights } from '../../registry/versions.ts';
import { EMPTY } from '../../store/rows/cells.ts';
import type { ListPosition } from '../../store/store.ts';
import { type AsOf, chainReorganizing, readAsOf, requireFresh, retryRewritten } from '../context/as-of.ts';
import { requireServed } from '../context/served-chains.ts';
import type { Service } from '../context/service.ts';
import { type LongList, SHORT } from '../limits/long-lists.ts';
import type { Caller } from '../limits/shares.ts';
import { type Answer, blockHeaders, matchesETag, notModified, setNext } from '../wire/answer.ts';
import { type Parts, streamParts } from '../wire/stream-parts.ts';
import {
  isPlain,
  type ListRequest,
  listNow,
  nowScanner,
  type PageStretch,
  type Scan,
  type Stretch,
  scanner,
  writable,
} from './list-stretches.ts';

/** How many delegations are read at once: they are all in memory, and other requests wait for them. */
const SCAN = 250;
/** The same for the rest of a whole list as of the head: fewer while others are waiting, and more while nobody is. */
const SCAN_BESIDE = 125;
const SCAN_NOW = 1000;
/** A page is sent after this many delegations were read, however few of them a filter left. */
const MAX_SCANNED = 10_000;

/** A list as it was requested. */
interface Requested extends ListRequest {
  readonly budget: Budget;
  readonly asOf: AsOf;
  /** The page size; undefined for the whole list. */
  readonly limit: number | undefined;
  readonly cursor: { readonly at: ChosenBlock; readonly after: ListPosition } | null;
  /** As the caller sent it, for the link to the next page. */
  readonly query: string;
}

export async function answerList(
  operation: ListOperation,
  path: Readonly<Record<string, string>>,
  query: string,
  request: Request,
  service: Service,
  caller: () => Caller,
): Promise<Answer | Response> {
  const requested = readList(operation, path, query, service);
  const answer = () => begin(requested, request, service, caller);
  // A page that continues cannot take back what the pages before it have listed.
  return requested.cursor === null ? retryRewritten(answer, () => chainReorganizing(requested.list.chainId)) : answer();
}

function readList(
  operation: ListOperation,
  path: Readonly<Record<string, string>>,
  query: string,
  service: Service,
): Requested {
  const {
    wallet,
    chainId,
    block,
    timestamp,
    direction,
    type,
    contract,
    rights,
    unrestricted,
    detail,
    types,
    numbers,
    limit,
    cursor,
    ...rest
  } = readRequest(operation, path, query);
  handled(rest);
  const { version } = operation;
  requireServed(chainId, version, service.chainIds);
  const list = { chainId, version, wallet, direction };
  const asOf = { block, timestamp };
  const isUnrestricted = unrestricted === 'true';
  if (isUnrestricted && rights !== undefined)
    throw badRequest([{ parameter: 'unrestricted', detail: 'cannot be combined with rights' }]);
  const filter = { type, contract, rights: isUnrestricted && hasRights(version) ? NO_RIGHTS : rights };
  const place = cursor === undefined ? null : readPlace(cursor, listIdentity({ list, asOf, filter }));
  const isOutside = place !== null && direction !== undefined && place.after.side !== direction;
  if ((cursor !== undefined && place === null) || isOutside)
    throw badRequest([{ parameter: 'cursor', detail: 'is not a cursor of this list' }]);
  const hasStandardTypes = types === 'standard' || service.hasStandardTypes === true;
  const format = { isDetailed: detail === 'full', mode: numbers, hasStandardTypes };
  return { budget: operation.budget, list, asOf, filter, format, limit, cursor: place, query };
}

function readPlace(text: string, identity: string): Requested['cursor'] {
  const { chosen = [], after } = readPageCursor(text, identity) ?? {};
  const [at] = chosen;
  const position = readListPosition(after ?? '');
  return at && position && chosen.length === 1 ? { at, after: position } : null;
}

async function begin(
  requested: Requested,
  request: Request,
  service: Service,
  caller: () => Caller,
): Promise<Answer | Response> {
  const { asOf, cursor, limit } = requested;
  const isHead = cursor === null && asOf.timestamp === undefined && (asOf.block ?? 'latest') === 'latest';
  // As of the head, the first delegations are read together with the state of the chain.
  const isNow = isHead && limit === undefined && isPlain(requested);
  const listed = isNow ? await listNow(requested, service, SCAN, undefined) : null;
  const { result, reach } =
    listed === null ? await pin(requested, service) : { result: listed, reach: Number.POSITIVE_INFINITY };
  const { chain: state, block, stamp } = result;
  const now = service.now();
  requireFresh(state, reach, now, service, requested.list);
  const at = cursor?.at ?? { block: block.number, revision: state.revision, stamp };
  // The block and the delegations may be read from two replicas: the second must not be behind the first.
  const pinned = { ...at, seen: state.revision };
  const headers = blockHeaders(state, block, now, { request, budget: requested.budget, timestamp: asOf.timestamp });
  // The stamp alone identifies the list at the head; any other block needs its number too.
  headers['etag'] = `"${stamp.toString(36)}-${isHead ? 'head' : block.number}"`;
  const isKnown = matchesETag(request, headers['etag']);

  // The first read comes before the status: a list that is refused must not start as a 200 or a 304.
  const scan = scanner(requested, pinned, service);
  if (limit === undefined) {
    const first = listed === null ? await scan(SCAN, undefined) : writable(listed, requested);
    if (isKnown) return notModified(headers);
    // Most lists are short, and a stream costs more than they do.
    if (first.next === null) return { status: 200, headers, body: arrayOf(first) };
    const long = service.longLists.begin(caller());
    const rest = listed === null ? scan : nowScanner(requested, at, service, scan);
    const read = (after: ListPosition) => {
      const mostNow = service.longLists.isBesideShort() ? SCAN_BESIDE : SCAN_NOW;
      const most = listed === null ? SCAN : mostNow;
      return long.read(most, () => rest(most, after));
    };
    const { answerTimeout: seconds, onError } = service;
    return streamParts(stretchesOf(first, read), { seconds, headers, onError, onEnd: long.end });
  }
  const beginLong = () => service.longLists.begin(caller());
  const { body, next } = await page(scan, beginLong, limit, cursor?.after, request.signal);
  if (next !== null) {
    const nextCursor = pageCursorText(
      { chosen: [at], chain: 0, section: 0, after: listPositionText(next) },
      listIdentity(requested),
    );
    setNext(headers, requested.query, nextCursor);
  }
  return isKnown ? notModified(headers) : { status: 200, headers, body };
}

/** Everything that decides what is in a list: a cursor is valid in its own list only. */
function listIdentity({ list, asOf, filter }: Pick<Requested, 'list' | 'asOf' | 'filter'>): string {
  const { chainId, version, wallet, direction } = list;
  const { type, contract, rights } = filter;
  return [chainId, version, wallet, asOf.block, asOf.timestamp, direction, type, contract, rights].join();
}

/** Fixes the block that the whole list is read as of, and the state of its chain. */
function pin({ list: { chainId }, asOf, cursor }: Requested, { store }: Service) {
  // A cursor names its block.
  const pinned = cursor === null ? asOf : { block: cursor.at.block };
  return readAsOf(store, chainId, pinned, (at) => store.pin(chainId, at));
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');
const NEWLINE = Buffer.from('\n');

const arrayOf = (stretch: Stretch) => stretch.write(OPEN, CLOSE);

/** Collects a page. The store reads a bounded number of delegations at a time, and a filter may leave few of them. */
async function page(
  scan: Scan<PageStretch>,
  beginLong: () => LongList,
  limit: number,
  from: ListPosition | undefined,
  signal: AbortSignal,
) {
  const parts: Uint8Array[] = [];
  const body = () =>
    Buffer.concat([OPEN, ...parts.flatMap((part, index) => (index === 0 ? [part] : [COMMA, part])), CLOSE]);
  let [room, scanned] = [limit, 0];
  let last: ListPosition | null = null;
  let next: ListPosition | null | undefined = from;
  let long = SHORT;
  try {
    // One more than the page size, to know whether there is a next page.
    for (let stretch = Math.min(limit + 1, SCAN); next !== null && scanned < MAX_SCANNED; stretch = SCAN) {
      if (signal.aborted) break;
      if (scanned > 0 && long === SHORT) long = beginLong();
      const after: ListPosition | undefined = next;
      const found: PageStretch = await long.read(stretch, () => scan(stretch, after));
      const { size, writeFirst, positionOf } = found;
      const taken = Math.min(size, room);
      room -= taken;
      if (taken > 0) {
        parts.push(writeFirst(taken));
        last = positionOf(taken - 1);
      }
      if (size > taken) return { body: body(), next: last };
      scanned += stretch;
      next = found.next;
    }
    return { body: body(), next: next ?? null };
  } finally {
    long.end();
  }
}

/** The whole list, with one stretch in memory. */
async function* stretchesOf(first: Stretch, read: (after: ListPosition) => Promise<Stretch>): Parts {
  let [stretch, lead, written]: [Stretch, Uint8Array, number] = [first, OPEN, 0];
  for (;;) {
    const { size, write, next } = stretch;
    written += size;
    // If a filter left nothing, a newline keeps the connection from looking idle.
    yield write(lead, next === null ? CLOSE : size > 0 ? EMPTY : NEWLINE);
    if (next === null) return;
    stretch = await read(next);
    lead = written > 0 && stretch.size > 0 ? COMMA : EMPTY;
  }
}
