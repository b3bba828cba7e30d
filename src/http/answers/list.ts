// Answers lists: the delegations of a wallet, streamed whole or a page at a time. They are read a stretch at a time.

import { handled, type RequestOf } from '../../api/operation.ts';
import type { ListOperation } from '../../api/operations.ts';
import { badRequest } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { listPositionText, pageCursorText, readListPosition, readPageCursor } from '../../feed/cursor.ts';
import { detailedRecordText, typeOf } from '../../feed/delegation-json.ts';
import { type Address, type Bytes32, type DelegationKey, NO_RIGHTS } from '../../registry/delegation.ts';
import { hasRights } from '../../registry/versions.ts';
import { StoreError } from '../../store/errors.ts';
import { EMPTY } from '../../store/rows/cells.ts';
import { pack } from '../../store/rows/packed.ts';
import type { ListNow, ListPosition, ListQuery, PackedDelegation, PackedDelegations } from '../../store/store.ts';
import { chainReorganizing, pinBlock, pinnedBy, reportUnread, retryRewritten } from '../context/as-of.ts';
import { requireServed } from '../context/served-chains.ts';
import type { Call, Service } from '../context/service.ts';
import { type LongList, SHORT } from '../limits/long-lists.ts';
import { type Answer, blockHeaders, matchesETag, notModified, setNext } from '../wire/answer.ts';
import { type Parts, streamParts } from '../wire/stream-parts.ts';
import { badCursor, MAX_SCANNED, SCAN } from './chain-pages.ts';
import { recordBytes, walletBytes } from './record-bytes.ts';

/** In place of `SCAN` for the rest of a whole list as of the head: fewer while others are waiting, and more while nobody is. */
const SCAN_BESIDE = 125;
const SCAN_NOW = 1000;

/** A list as it was requested. */
type Requested = ReturnType<typeof readList>;

/** Reads a stretch of the list, from a position on. */
type Scan<S extends Stretch> = (limit: number, after: ListPosition | undefined) => Promise<S>;
interface Stretch {
  /** How many delegations of it match. */
  readonly size: number;
  /** As JSON, with commas between them, between a lead and a tail. */
  write(lead: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer>;
  readonly next: ListPosition | null;
}
/** A stretch that a page can end in. */
interface PageStretch extends Stretch {
  /** The first of them as JSON, with commas between them. */
  writeFirst(count: number): Uint8Array;
  positionOf(index: number): ListPosition;
}

export async function answerList(operation: ListOperation, call: Call): Promise<Answer | Response> {
  const requested = readList(operation, call);
  const answer = () => begin(requested, call);
  // A page that continues cannot take back what the pages before it have listed.
  return requested.cursor === null ? retryRewritten(answer, () => chainReorganizing(requested.list.chainId)) : answer();
}

// Another parameter does not compile until it is read here.
handled(
  {} as Omit<
    RequestOf<ListOperation>,
    | ('wallet' | 'chainId' | 'block' | 'timestamp' | 'limit' | 'cursor' | 'direction' | 'type' | 'contract')
    | ('rights' | 'unrestricted' | 'detail' | 'types' | 'numbers')
  >,
);

function readList(operation: ListOperation, { path, query, service }: Call) {
  const { version, budget } = operation;
  const request = readRequest(operation, path, query);
  const { wallet, chainId, block, timestamp, direction, limit, numbers, cursor: text } = request;
  const { type, contract, rights } = request;
  requireServed(chainId, version, service.chainIds);
  const unrestricted = hasRights(version) ? request.unrestricted : undefined;
  const filter = filterOf({ type, contract, rights, unrestricted });
  /** Everything that decides what is in the list: a cursor is valid in its own list only. */
  const identity = () => [chainId, version, wallet, block, timestamp, direction, type, contract, filter.rights].join();
  const cursor = text === undefined ? null : readPlace(text, identity());
  if (cursor !== null && direction !== undefined && cursor.after.side !== direction) throw badCursor();
  return {
    list: { chainId, version, wallet, ...(direction && { direction }) },
    matches: matcherOf(filter),
    isDetailed: request.detail === 'full',
    format: {
      mode: numbers,
      hasStandardTypes: hasStandardTypes(request.types, service),
      version,
      chainId,
      wallet: walletBytes(wallet),
    },
    asOf: { block, timestamp },
    budget,
    /** The page size; undefined for the whole list. */
    limit,
    cursor,
    identity,
  };
}

function readPlace(text: string, identity: string) {
  const { chosen = [], after: position } = readPageCursor(text, identity) ?? {};
  const [at] = chosen;
  const after = readListPosition(position ?? '');
  if (!at || !after || chosen.length !== 1) throw badCursor();
  return { at, after };
}

/** Which delegations of a list are wanted. */
interface ListFilter {
  readonly type: 'ALL' | 'CONTRACT' | 'TOKEN' | undefined;
  readonly contract: Address | undefined;
  readonly rights: Bytes32 | undefined;
}

/** `unrestricted`: only those without rights. */
export function filterOf(given: ListFilter & { readonly unrestricted: 'true' | 'false' | undefined }): ListFilter {
  const { type, contract, rights, unrestricted } = given;
  if (unrestricted !== 'true') return { type, contract, rights };
  if (rights !== undefined) throw badRequest([{ parameter: 'unrestricted', detail: 'cannot be combined with rights' }]);
  return { type, contract, rights: NO_RIGHTS };
}

/** Null if all of them are wanted. */
export function matcherOf({ type, contract, rights }: ListFilter): ((delegation: DelegationKey) => boolean) | null {
  if (type === undefined && contract === undefined && rights === undefined) return null;
  return (delegation) =>
    (type === undefined || typeOf(delegation) === type) &&
    (contract === undefined || delegation.contract === contract) &&
    (rights === undefined || (delegation.rights ?? NO_RIGHTS) === rights);
}

export const hasStandardTypes = (types: 'standard' | undefined, service: Service) =>
  types === 'standard' || service.hasStandardTypes === true;

async function begin(requested: Requested, { request, query, service, caller }: Call): Promise<Answer | Response> {
  const { list, matches, isDetailed, asOf, cursor, limit, budget, identity } = requested;
  const isHead = cursor === null && asOf.timestamp === undefined && (asOf.block ?? 'latest') === 'latest';
  // As of the head, the first delegations are read together with the state of the chain, if they are written as they are stored.
  const isNow = isHead && limit === undefined && !isDetailed && matches === null;
  const listed = isNow ? await listNow(requested, service, SCAN, undefined) : null;
  const pinning = { about: list, chosen: cursor?.at ?? null };
  const { chain, block, stamp, at } =
    listed === null
      ? await pinBlock(list.chainId, asOf, service, pinning)
      : pinnedBy(listed, Number.POSITIVE_INFINITY, service, pinning);
  const headers = blockHeaders(chain, block, service.now(), { request, budget, timestamp: asOf.timestamp });
  // The stamp alone identifies the list at the head; any other block needs its number too.
  const etag = `"${stamp.toString(36)}-${isHead ? 'head' : block.number}"`;
  headers.set('etag', etag);
  const isKnown = matchesETag(request, etag);

  // The first read comes before the status: a list that is refused must not start as a 200 or a 304.
  const scan = scanner(requested, at, service);
  if (limit === undefined) {
    const first = listed === null ? await scan(SCAN, undefined) : writable(listed, requested);
    if (isKnown) return notModified(headers);
    // Most lists are short, and a stream costs more than they do.
    if (first.next === null) return { status: 200, headers, body: first.write(OPEN, CLOSE) };
    const long = service.longLists.begin(caller());
    const rest = listed === null ? scan : nowScanner(requested, at, service, scan);
    const read = (after: ListPosition) => {
      const mostNow = service.longLists.isBesideShort() ? SCAN_BESIDE : SCAN_NOW;
      const most = listed === null ? SCAN : mostNow;
      return long.read(most, () => rest(most, after));
    };
    return streamParts(stretchesOf(first, read), { headers }, long.end, service);
  }
  const beginLong = () => service.longLists.begin(caller());
  const { body, next } = await page(scan, beginLong, limit, cursor?.after, request.signal);
  if (next !== null) {
    const place = { chosen: [at], chain: 0, section: 0, after: listPositionText(next) };
    setNext(headers, query, pageCursorText(place, identity()));
  }
  return isKnown ? notModified(headers) : { status: 200, headers, body };
}

function listNow({ list }: Requested, service: Service, limit: number, after: ListPosition | undefined) {
  const query = { ...list, limit, ...(after && { after }) };
  return reportUnread({ chainId: list.chainId, to: list.wallet }, service, service.store.listNow(query));
}

function scanner(
  { list, matches, isDetailed, format }: Requested,
  at: ListQuery['at'],
  service: Service,
): Scan<PageStretch> {
  const { store } = service;
  const { chainId, wallet } = list;
  const readPacked = async (query: ListQuery) => {
    if (matches === null) return store.listPacked(query);
    const { delegations, ...found } = await store.list({ ...query, matches });
    return { ...found, delegations: delegations.map((one) => packedFor(wallet, one)) };
  };
  return async (limit, after) => {
    const query = { ...list, at, limit, ...(after && { after }) };
    const about = { chainId, to: wallet };
    if (isDetailed) {
      const reading = store.listDetailed({ ...query, ...(matches && { matches }) });
      const { delegations, ...found } = await reportUnread(about, service, reading);
      const texts = delegations.map((one) => detailedRecordText(one, format));
      const writeFirst = (count: number) => Buffer.from(texts.slice(0, count).join(','));
      const write: Stretch['write'] = (lead, tail) => Buffer.concat([lead, writeFirst(texts.length), tail]);
      return { ...found, size: texts.length, write, writeFirst };
    }
    const { delegations, ...found } = await reportUnread(about, service, readPacked(query));
    return {
      ...found,
      size: delegations.length,
      write: (lead, tail) => recordBytes(joined(delegations), format, lead, tail),
      writeFirst: (count) => recordBytes(joined(delegations.slice(0, count)), format),
    };
  };
}

/** Reads as of the head as long as no delegation has changed since `at`, and as of its block from then on. */
function nowScanner(
  requested: Requested,
  at: { readonly revision: number; readonly stamp: number },
  service: Service,
  scanAt: Scan<Stretch>,
): Scan<Stretch> {
  let isUnchanged = true;
  return async (limit, after) => {
    if (isUnchanged) {
      const listed = await listNow(requested, service, limit, after).catch(nullIfUnsettled);
      isUnchanged = listed?.chain.revision === at.revision && listed.stamp === at.stamp;
      if (listed !== null && isUnchanged) return writable(listed, requested);
    }
    return scanAt(limit, after);
  };
}

/** A later revocation says nothing about the list as of its block. */
function nullIfUnsettled(error: unknown): null {
  if (error instanceof StoreError && error.code === 'revocation-unread') return null;
  throw error;
}

function writable({ parts, next }: ListNow, { format }: Requested): Stretch {
  const size = parts.reduce((sum, { count }) => sum + count, 0);
  return { size, write: (lead, tail) => recordBytes(parts, format, lead, tail), next };
}

function packedFor(wallet: Address, delegation: DelegationKey): PackedDelegation {
  const side = delegation.to === wallet ? 'incoming' : 'outgoing';
  return { side, bytes: pack(delegation, side) };
}

const joined = (delegations: readonly PackedDelegation[]): PackedDelegations[] =>
  (['incoming', 'outgoing'] as const).map((side) => {
    const ofSide = delegations.filter((one) => one.side === side);
    return { side, count: ofSide.length, bytes: Buffer.concat(ofSide.map(({ bytes }) => bytes)) };
  });

const [OPEN, COMMA, CLOSE, NEWLINE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']'), Buffer.from('\n')];

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
