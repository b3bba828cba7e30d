// The lists: a wallet's delegations, whole and streamed, or a page at a time.

import type { ListOperation } from '../api/operations.ts';
import { faults, Problem } from '../api/problems.ts';
import { isIgnored } from '../api/query.ts';
import { type ListRequest, readList } from '../api/request.ts';
import type { Delegation } from '../registry/delegation.ts';
import { StoreError } from '../store/errors.ts';
import type { HeldDelegation, ListQuery, LogPosition } from '../store/store.ts';
import { readAsOf, requireFresh } from './as-of.ts';
import { type Cursor, cursorText, readCursor } from './cursor.ts';
import { detailedText, recordText, typeOf } from './json.ts';
import { isKnown, replyHeaders, requireServed, type Service, tellUnread } from './reply.ts';

/** How many delegations are read at once: they are all in memory, and other requests wait for them. */
const SCAN = 250;
/** A page that a filter leaves nearly empty is sent as it is after so many delegations looked at. */
const MOST_SCANNED = 50_000;
/** How often a list is begun anew because history changed while its first delegations were read. */
const TRIES = 5;

export async function answerList(
  operation: ListOperation,
  wallet: string,
  query: string,
  request: Request,
  service: Service,
): Promise<Response> {
  const asked = readList(operation, wallet, query);
  requireServed(asked.chainId, asked.version, service.chainIds);
  const cursor = asked.cursor === undefined ? null : readCursor(asked.cursor, listIdentity(asked));
  if (asked.cursor !== undefined && cursor === null) {
    throw faults([{ parameter: 'cursor', detail: 'is not a cursor of this very list' }]);
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await begin(asked, cursor, query, request, service);
    } catch (error) {
      const rewritten = error instanceof StoreError && error.code === 'rewritten';
      if (!rewritten || cursor !== null) throw error;
      if (attempt === TRIES) {
        throw new Problem('not-yet-indexed', `Chain ${asked.chainId} is being reorganised.`, { retryAfter: 5 });
      }
    }
  }
}

async function begin(
  asked: ListRequest,
  cursor: Cursor | null,
  query: string,
  request: Request,
  service: Service,
): Promise<Response> {
  const { result, reach } = await pin(asked, cursor?.at.block, service);
  const { chain: state, block, stamp } = result;
  const now = service.now();
  requireFresh(state, reach, now, service);
  const at = cursor?.at ?? { block: block.number, revision: state.revision, stamp };
  // What names the block and what holds at it may come from two replicas: the second must not be behind the first.
  const read = { ...at, seen: state.revision };
  const headers = replyHeaders(state, block, now, asked);
  // At the head, what has not changed since is the same list; at any other block the number tells lists apart.
  const isHead = cursor === null && asked.timestamp === undefined && (asked.block ?? 'latest') === 'latest';
  headers['etag'] = `"${stamp.toString(36)}-${isHead ? 'head' : block.number}"`;
  const known = isKnown(request, headers['etag']);
  const unchanged = () => new Response(null, { status: 304, headers });

  // Something is read before anything is sent: what is refused must not begin as a 200 or a 304.
  const scan = scanner(asked, read, service);
  if (asked.limit === undefined) {
    const first = await scan(SCAN, undefined);
    if (known) return unchanged();
    // Most lists are short, and a stream costs more than they do.
    if (first.next === null) return new Response(`[${first.texts.join(',')}]`, { headers });
    const deadline = performance.now() + 1000 * service.answerTimeout;
    return new Response(stream(scan, first, deadline, service), { headers });
  }
  const { body, next } = await page(scan, asked.limit, cursor?.after, request.signal);
  if (next !== null) {
    const cursorOfNext = cursorText({ at, after: next }, listIdentity(asked));
    headers['link'] = `<${linkOf(query, cursorOfNext)}>; rel="next"`;
  }
  return known ? unchanged() : new Response(body, { headers });
}

/** The same query with another cursor, relative to the address that was asked: the service may stand below any path. */
function linkOf(query: string, cursor: string): string {
  const link = new URLSearchParams(query);
  for (const name of [...link.keys()]) if (isIgnored(name)) link.delete(name);
  link.set('cursor', cursor);
  return `?${link}`;
}

/** Everything that decides what is in a list, so that a cursor cannot wander into another. */
const listIdentity = ({ chainId, version, wallet, block, timestamp, direction, type, contract, rights }: ListRequest) =>
  [chainId, version, wallet, block, timestamp, direction, type, contract, rights].join();

/** Fixes the block that the whole list is read as of, and the state of the chain that it belongs to. */
const pin = (asked: ListRequest, pinned: number | undefined, { store }: Service) =>
  // A cursor names its block itself.
  readAsOf(store, asked.chainId, pinned === undefined ? asked : { block: pinned }, (at) =>
    store.pin(asked.chainId, at),
  );

/** A stretch of the list, from a position on: the delegations, and the JSON text of each. */
type Scan = (limit: number, after: LogPosition | undefined) => Promise<Stretch>;
interface Stretch {
  readonly delegations: readonly HeldDelegation[];
  readonly texts: readonly string[];
  readonly next: LogPosition | null;
}

function scanner(asked: ListRequest, at: ListQuery['at'], service: Service): Scan {
  const { store } = service;
  const { chainId, version, wallet, direction, numbers, detailed } = asked;
  const matches = filterOf(asked);
  const base = { chainId, version, wallet, at, ...(direction ? { direction } : {}), ...(matches ? { matches } : {}) };
  return async (limit, after) => {
    // A read may keep the whole process busy: whoever waits has a turn between two of them.
    if (after !== undefined) await new Promise(setImmediate);
    const query = { ...base, limit, ...(after ? { after } : {}) };
    if (detailed) {
      const found = await tellUnread({ chainId, to: wallet }, service, store.listDetailed(query));
      return { ...found, texts: found.delegations.map((one) => detailedText(one, chainId, numbers)) };
    }
    const found = await tellUnread({ chainId, to: wallet }, service, store.list(query));
    return { ...found, texts: found.delegations.map((one) => recordText(one, numbers)) };
  };
}

function filterOf({ type, contract, rights }: ListRequest): ((delegation: Delegation) => boolean) | null {
  if (type === undefined && contract === undefined && rights === undefined) return null;
  return (delegation) =>
    (type === undefined || typeOf(delegation) === type) &&
    (contract === undefined || delegation.contract === contract) &&
    (rights === undefined || delegation.rights === rights);
}

/** Collects a page. The store looks at a bounded number of delegations at a time, and a filter may leave few of them. */
async function page(scan: Scan, limit: number, from: LogPosition | undefined, signal: AbortSignal) {
  // A stretch is joined as soon as it is read: ten thousand small strings that live long are found late as garbage.
  const parts: string[] = [];
  let [room, scanned] = [limit, 0];
  let last: LogPosition | null = null;
  let next: LogPosition | null | undefined = from;
  // One more than the page holds tells whether there is a next one.
  for (let stretch = Math.min(limit + 1, SCAN); next !== null && scanned < MOST_SCANNED; stretch = SCAN) {
    if (signal.aborted) break;
    const { texts, delegations, next: following }: Stretch = await scan(stretch, next);
    const taken = texts.slice(0, room);
    if (taken.length > 0) parts.push(taken.join(','));
    room -= taken.length;
    last = delegations[taken.length - 1]?.since ?? last;
    if (texts.length > taken.length) return { body: `[${parts.join(',')}]`, next: last };
    scanned += stretch;
    next = following;
  }
  return { body: `[${parts.join(',')}]`, next: next ?? null };
}

/** Writes the whole list as fast as it is read, with one stretch in memory. It breaks off rather than end wrongly. */
function stream(scan: Scan, first: Stretch, deadline: number, { onError }: Service): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let ready: Stretch | null = first;
  let after: LogPosition | null = null;
  let written = 0;
  let cancelled = false;

  async function chunk(): Promise<string> {
    if (ready === null && performance.now() > deadline) throw new Error('A list took longer than an answer may.');
    const { texts, next }: Stretch = ready ?? (await scan(SCAN, after ?? undefined));
    const lead = ready !== null ? '[' : written > 0 && texts.length > 0 ? ',' : '';
    ready = null;
    after = next;
    written += texts.length;
    // Where a filter left nothing, a blank keeps the connection from looking idle.
    return lead + (texts.length > 0 || next === null ? texts.join(',') : '\n') + (next === null ? ']' : '');
  }

  return new ReadableStream({
    async pull(controller) {
      try {
        const text = await chunk();
        if (cancelled) return;
        controller.enqueue(encoder.encode(text));
        if (after === null) controller.close();
      } catch (error) {
        if (cancelled) return;
        onError?.(error);
        controller.error(error);
      }
    },
    cancel() {
      cancelled = true;
    },
  });
}
