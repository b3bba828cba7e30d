// Answers what changed after a cursor: a page, or a stream.

import type { CHANGES_OPERATION } from '../api/changes-operation.ts';
import { handled } from '../api/operation.ts';
import { badRequest } from '../api/problems.ts';
import { readRequest } from '../api/request.ts';
import { streamResponse } from '../api/sized-response.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import { noneAnswered } from './chain-pages.ts';
import { type FeedCursor, feedCursorText, readFeedCursor } from './changes-cursor.ts';
import { type Feed, feedIdentity } from './feed.ts';
import { manyChainsHeaders, matchesETag, nextUrl, notModified } from './headers.ts';
import { problemBody } from './problem-response.ts';
import { readFeed } from './read-feed.ts';
import { requestedChains } from './served-chains.ts';
import type { StreamRequest } from './service.ts';

export async function answerChanges(operation: typeof CHANGES_OPERATION, call: Call): Promise<Answer | Response> {
  const { query, service, request } = call;
  const asked = readRequest(operation, call.path, query);
  const { chainId, wallet, from, to, contract, final, start, numbers: mode, limit, cursor: text, ...rest } = asked;
  handled(rest);
  const chainIds = requestedChains(chainId, undefined, service.chainIds);
  const feed: Feed = { chainIds, isFinal: final === 'true', filter: { wallet, from, to, contract }, mode };
  const identity = feedIdentity({ chainId, wallet, from, to, contract, final });
  const headers = manyChainsHeaders(request, operation.budget);
  headers['vary'] = [headers['vary'], 'Accept'].filter(Boolean).join(', ');
  if (wantsStream(request)) {
    const lastId = request.headers.get('last-event-id') || text;
    return stream(
      { feed, identity, start, cursor: readPlace(lastId, identity, 'Last-Event-ID or cursor') },
      headers,
      call,
    );
  }
  const cursor = readPlace(text, identity, 'cursor');

  const page = await readFeed(feed, { cursor, start, limit }, call);
  const problems = page.parts.flatMap((part) => ('problem' in part ? [part] : []));
  if (problems.length === page.parts.length) throw noneAnswered(problems);
  const chains = page.parts.map((part) => ('problem' in part ? { ...part, problem: problemBody(part.problem) } : part));
  const next = feedCursorText(page.cursor, identity);
  const body = `{"changes":[${page.entries.join(',')}],"complete":${problems.length === 0},"chains":${JSON.stringify(chains)},"end":${page.isEnd},"cursor":"${next}"}`;
  headers['etag'] = `"${Bun.hash.wyhash(body).toString(36)}"`;
  headers['link'] = `<${nextUrl(query, next)}>; rel="next"`;
  return matchesETag(request, headers['etag']) ? notModified(headers) : { status: 200, headers, body };
}

function readPlace(text: string | undefined, identity: string, parameter: string): FeedCursor {
  const cursor = text === undefined ? new Map() : readFeedCursor(text, identity);
  if (cursor === null) throw badRequest([{ parameter, detail: 'is not a cursor of this feed' }]);
  return cursor;
}

const EVENT_STREAM = 'text/event-stream';

const wantsStream = ({ headers }: Request) => headers.get('accept')?.includes(EVENT_STREAM) === true;

function stream(opened: StreamRequest, headers: Record<string, string>, call: Call): Response {
  const { request, service, failed, setIdleTimeout } = call;
  headers['content-type'] = EVENT_STREAM;
  headers['cache-control'] = 'no-store';
  // nginx would buffer the events.
  headers['x-accel-buffering'] = 'no';
  if (request.method === 'HEAD') return new Response(null, { headers });
  const { body, sent } = service.streams.open(opened, { service, failed, setIdleTimeout, caller: call.caller() });
  return streamResponse(body, sent, { headers });
}
