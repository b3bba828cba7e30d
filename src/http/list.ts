// The lists: a wallet's delegations, whole and streamed, or a page at a time.

import type { Delegation } from '../registry/delegation.ts';
import { StoreError } from '../store/errors.ts';
import type { DetailedDelegation, HeldDelegation, ListPage, ListQuery, LogPosition, Moment } from '../store/store.ts';
import { cursorText, readCursor } from './cursor.ts';
import { detailedText, recordText, typeOf } from './json.ts';
import { readAsOf, requireFresh } from './moment.ts';
import type { ListOperation } from './operations.ts';
import { faults } from './problem.ts';
import { isKnown, replyHeaders, requireServed, type Service } from './reply.ts';
import { type ListRequest, readList } from './request.ts';

/** How many delegations are in memory at once. */
const SCAN = 1000;

export async function answerList(
  operation: ListOperation,
  wallet: string,
  query: string,
  request: Request,
  service: Service,
): Promise<Response> {
  const asked = readList(operation, wallet, query);
  const { chainId, version, limit } = asked;
  requireServed(chainId, version, service.chainIds);
  const identity = listIdentity(asked);
  const cursor = asked.cursor === undefined ? null : readCursor(asked.cursor, identity);
  if (asked.cursor !== undefined && cursor === null) {
    throw faults([{ parameter: 'cursor', detail: 'is not a cursor of this very list' }]);
  }

  const { state, block } = await pin(asked, cursor?.at.block, service);
  const now = service.now();
  requireFresh(state, block.number, now, service.maxLag);
  const at = cursor?.at ?? { block: block.number, revision: state.revision };
  const headers = replyHeaders(state, block, now, asked);
  headers['etag'] = `"${service.store.id}-${state.revision}-${block.number}"`;
  if (isKnown(request, headers['etag'])) return new Response(null, { status: 304, headers });

  const scan = scanner(asked, at, service);
  // The first stretch is read before anything is sent: what is refused must not begin as a 200.
  if (limit === undefined) return new Response(stream(scan, await scan(SCAN, undefined)), { headers });
  const { texts, next } = await page(scan, limit, cursor?.after);
  if (next !== null) {
    const link = new URLSearchParams(query);
    link.set('cursor', cursorText({ at, after: next }, identity));
    headers['link'] = `</registry/v${version}/${wallet}?${link}>; rel="next"`;
  }
  return new Response(`[${texts.join(',')}]`, { headers });
}

/** Everything that decides what is in a list, so that a cursor cannot wander into another. */
const listIdentity = ({ chainId, version, wallet, block, timestamp, direction, type, contract, rights }: ListRequest) =>
  [chainId, version, wallet, block, timestamp, direction, type, contract, rights].join();

/** Fixes the block that the whole list is read as of, and the state of the chain that it belongs to. */
function pin(asked: ListRequest, pinned: number | undefined, { store }: Service) {
  const { chainId } = asked;
  const read = async (at: number | undefined) => {
    const state = await store.chain(chainId);
    if (state?.head == null) throw new StoreError('not-started', `Chain ${chainId} is not indexed yet.`);
    const number = at ?? state.head.number;
    const [kept] = await store.blocks(chainId, { from: number, to: number });
    const block: Moment = kept ?? { number, hash: null, timestamp: null };
    return { state, block };
  };
  return pinned === undefined ? readAsOf(store, chainId, asked, read) : read(pinned);
}

/** A stretch of the list as JSON texts, from a position on. */
type Scan = (limit: number, after: LogPosition | undefined) => Promise<Stretch>;
interface Stretch {
  readonly texts: Text[];
  readonly next: LogPosition | null;
}
interface Text {
  readonly json: string;
  readonly since: LogPosition;
}

function scanner(asked: ListRequest, at: ListQuery['at'], { store }: Service): Scan {
  const { chainId, version, wallet, direction, numbers, detailed } = asked;
  const matches = filterOf(asked);
  const base = { chainId, version, wallet, at, ...(direction ? { direction } : {}), ...(matches ? { matches } : {}) };
  const texts = <D extends HeldDelegation>({ delegations, next }: ListPage<D>, text: (delegation: D) => string) => ({
    texts: delegations.map((delegation) => ({ json: text(delegation), since: delegation.since })),
    next,
  });
  return async (limit, after) => {
    const query = { ...base, limit, ...(after ? { after } : {}) };
    return detailed
      ? texts(await store.listDetailed(query), (one: DetailedDelegation) => detailedText(one, chainId, numbers))
      : texts(await store.list(query), (one) => recordText(one, numbers));
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
async function page(scan: Scan, limit: number, from: LogPosition | undefined) {
  const found: Text[] = [];
  let next: LogPosition | null | undefined = from;
  do {
    const part = await scan(SCAN, next);
    found.push(...part.texts);
    next = part.next;
  } while (found.length < limit && next !== null);
  const more = found.length > limit || (found.length === limit && next !== null);
  const texts = found.slice(0, limit).map(({ json }) => json);
  return { texts, next: more ? (found[limit - 1]?.since ?? null) : null };
}

/** Writes the whole list as fast as it is read, with one stretch in memory. */
function stream(scan: Scan, first: Stretch): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let ready: Stretch | null = first;
  let after: LogPosition | null = null;
  let opened = false;
  return new ReadableStream({
    async pull(controller) {
      // A stretch may be empty after filtering, and a pull must give something.
      for (;;) {
        const { texts, next }: Stretch = ready ?? (await scan(SCAN, after ?? undefined));
        ready = null;
        after = next;
        const text = texts.map(({ json }) => json).join(',');
        const lead = opened ? (text === '' ? '' : ',') : '[';
        const tail = next === null ? ']' : '';
        opened ||= text !== '';
        const chunk = (opened || next === null ? lead : '') + text + tail;
        if (chunk !== '') controller.enqueue(encoder.encode(chunk));
        if (next === null) return controller.close();
        if (chunk !== '') return;
      }
    },
  });
}
