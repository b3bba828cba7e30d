// Answers what changed after a cursor: a page, or a stream.

import type { CHANGES_OPERATION } from '../../api/changes-operation.ts';
import { handled } from '../../api/operation.ts';
import { badRequest } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { streamResponse } from '../../api/sized-response.ts';
import { type FeedCursor, feedCursorText, readFeedCursor } from '../../feed/cursor.ts';
import { beginReading, type Feed, feedIdentity, headOf, readChain } from '../../feed/feed.ts';
import type { ChainState, ChangesQuery } from '../../store/store.ts';
import { requireCurrent } from '../context/as-of.ts';
import { type ChainPart, requireAnswered } from '../context/chain-parts.ts';
import { problemOf } from '../context/problem-of.ts';
import { requestedChains } from '../context/served-chains.ts';
import type { Call, StreamRequest } from '../context/service.ts';
import { ROW_WEIGHT, SHORT } from '../limits/long-lists.ts';
import { type Answer, manyChainsHeaders, setNext, tagged } from '../wire/answer.ts';
import { MAX_SCANNED, SCAN } from './chain-pages.ts';

export async function answerChanges(operation: typeof CHANGES_OPERATION, call: Call): Promise<Answer | Response> {
  const { query, service, request } = call;
  const asked = readRequest(operation, call.path, query);
  const { chainId, wallet, from, to, contract, final, start, numbers: mode, limit, cursor: text, ...rest } = asked;
  handled(rest);
  const chainIds = requestedChains(chainId, undefined, service.chainIds);
  const feed: Feed = { chainIds, isFinal: final === 'true', filter: { wallet, from, to, contract }, mode };
  const identity = feedIdentity(chainId, feed.filter, feed.isFinal);
  const headers = manyChainsHeaders(request, operation.budget);
  headers.append('vary', 'Accept');
  if (wantsStream(request)) {
    const lastId = request.headers.get('last-event-id') || text;
    const cursor = readPlace(lastId, identity, 'Last-Event-ID or cursor');
    return stream({ feed, identity, start, cursor }, headers, call);
  }
  const cursor = readPlace(text, identity, 'cursor');

  const { reading, parts, isEnd } = await readPage(feed, { cursor, start, limit }, call);
  const { chains, isComplete } = requireAnswered(parts);
  const next = feedCursorText(reading.cursor, identity);
  const body = `{"changes":[${reading.texts.join(',')}],"complete":${isComplete},"chains":${chains},"end":${isEnd},"cursor":"${next}"}`;
  setNext(headers, query, next);
  return tagged(request, headers, body);
}

/** Each chain answers for itself: with its block, or with its problem. */
async function readPage(
  feed: Feed,
  { cursor, start, limit }: Pick<StreamRequest, 'cursor' | 'start'> & { readonly limit: number },
  { request, service, caller, failed }: Call,
) {
  const { store, longLists } = service;
  const reading = beginReading(cursor);
  const bounds = { limit, mostScanned: MAX_SCANNED, signal: request.signal };
  let long = SHORT;
  const parts: ChainPart[] = [];
  let isEnd = true;

  const read = async (query: Omit<ChangesQuery, 'limit'>) => {
    // Where filters are combined, many are read for the few that are wanted.
    const most = reading.scanned > reading.count ? SCAN : Math.min(limit - reading.count, SCAN);
    if (reading.scanned > 0 && long === SHORT) long = await longLists.beginWhole(caller());
    const page = await long.read(ROW_WEIGHT * most, () => store.changes({ ...query, limit: most }));
    requireCurrent(page.chain, feed, service);
    return { ...page, scanned: page.isEnd ? page.changes.length : most };
  };
  const readState = async (chainId: number): Promise<ChainState> => {
    // A chain that does not answer now must not start at a later head.
    if (start === 'head' && !reading.cursor.has(chainId))
      reading.cursor.set(chainId, await headOf(chainId, feed, service));
    const { chain } = await readChain(feed, chainId, reading, bounds, read);
    if (chain !== null) return chain;
    isEnd = false;
    const pinned = await store.pin(chainId);
    requireCurrent(pinned.chain, feed, service);
    return pinned.chain;
  };
  try {
    for (const chainId of feed.chainIds) {
      try {
        parts.push(partOf(feed, await readState(chainId)));
      } catch (error) {
        const problem = problemOf(error, service, failed);
        // It is the caller's, not the chain's.
        if (problem.type === 'too-many-requests') throw problem;
        parts.push({ chainId, problem });
      }
    }
  } finally {
    long.end();
  }
  return { reading, parts, isEnd };
}

function partOf({ isFinal }: Feed, chain: ChainState): ChainPart {
  const { chainId, head, verified } = chain;
  const isHead = !isFinal || verified === head?.number;
  const block = isHead && head !== null ? head : { number: verified ?? -1, hash: null, timestamp: null };
  return { chainId, chain, block };
}

function readPlace(text: string | undefined, identity: string, parameter: string): FeedCursor {
  const cursor = text === undefined ? new Map() : readFeedCursor(text, identity);
  if (cursor === null) throw badRequest([{ parameter, detail: 'is not a cursor of this feed' }]);
  return cursor;
}

const EVENT_STREAM = 'text/event-stream';
const wantsStream = ({ headers }: Request) => headers.get('accept')?.includes(EVENT_STREAM) === true;

function stream(opened: StreamRequest, headers: Headers, call: Call): Response {
  const { request, service, failed, setIdleTimeout } = call;
  headers.set('content-type', EVENT_STREAM);
  headers.set('cache-control', 'no-store');
  // nginx would buffer the events.
  headers.set('x-accel-buffering', 'no');
  if (request.method === 'HEAD') return new Response(null, { headers });
  const { body, sent } = service.streams.open(opened, { service, failed, setIdleTimeout, caller: call.caller() });
  return streamResponse(body, sent, { headers });
}
