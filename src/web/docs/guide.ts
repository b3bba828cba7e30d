// The chapters of the API reference before its operations.

import { BATCH_OPERATION, MAX_QUESTIONS } from '../../api/batch-operation.ts';

const chapter = (id: string, title: string, ...paragraphs: readonly string[]) => ({ id, title, paragraphs });

export const GUIDE = [
  chapter(
    'start',
    'Requests',
    'In every operation `from` (or `vault`) is the cold wallet that issued the delegation, and `to` (or `delegate`) is the hot wallet that wants to act. A check answers with the bare value: `true`, `false`, or a balance.',
    'A broader delegation satisfies a narrower check. A delegation of the whole wallet counts for its contracts and tokens, and one of a contract counts for its tokens.',
    'To decide whether a wallet may act, use a check, not a list: a listed delegation may be limited to a right such as “vote”, which only `detail=full` shows. `unrestricted=true` leaves these out.',
    '`rights` takes a right as bytes32 or as text, `text:vote`. In full detail, `rightsText` is the right as text. `rightsId` has its first 24 bytes. `rightsName` and `expires` are those of a right that has 24 bytes of name and a 40-bit expiry, which the registry does not enforce, but [exclusive resolution](#exclusiveWallet) does.',
    'The query is validated strictly. An unknown, misspelled, repeated or malformed parameter is a 400 that names it, so `chainid=137` is never answered for mainnet. Only `_` and `utm_…` are ignored, and `contract` and `tokenId` on a check that does not need them.',
  ),
  chapter(
    'limits',
    'Rate limit and keys',
    'Without a key the limit is 25 requests in any 10 seconds, v1 and v2 together, unless the operator set another. `RateLimit-Policy` and `RateLimit` on every answer say how many are left, and a 429 has `Retry-After`. On v2 an API key in `X-API-KEY` removes the limit, unless the operator limits keys too. An unknown, malformed, expired or revoked key is a 401.',
  ),
  chapter(
    'time',
    'Points in time',
    'Every operation takes `block=<number>`, `block=finalized` or `timestamp=<Unix seconds, or ISO 8601 with a time zone>` (a date alone is midnight UTC), and answers as of the end of that block, or of the last block up to that time. A point that is not indexed yet is a 503, and one before the first indexed block is a 404. Neither is ever `false`.',
  ),
  chapter(
    'fresh',
    'Freshness and caching',
    '`X-Block-Number`, `X-Block-Hash` and `X-Block-Timestamp` name the block of the answer. If a chain is stale, requests for its head are a 503 with `Retry-After`; finalized blocks are still answered. Send the `ETag` back in `If-None-Match`, and an unchanged answer is a 304.',
  ),
  chapter(
    'lists',
    'Long lists',
    'Anyone can delegate to anyone, so a list can be very long. It is streamed whole, or comes in pages of `limit` delegations with `Link: <…>; rel="next"`. All pages are as of one block. If a reorg replaces that block, the next page is a 409, and a streamed list ends without its closing bracket.',
  ),
  chapter(
    'batch',
    'Many questions at once',
    `\`POST ${BATCH_OPERATION.path}\` answers up to ${MAX_QUESTIONS.toLocaleString('en')} questions of any kind, version and chain, in order. All questions of a chain are answered as of one block. A question that cannot be answered has a \`problem\` instead of a \`result\`, and \`complete\` is then \`false\`. With \`Accept: application/x-ndjson\` the answers are streamed as lines: the last line is \`{"complete":…}\`, or \`{"error":…}\` if a reorg replaced the block meanwhile. A response without either is cut off. Without a key, each question counts as a request, and a body as at least one for each KiB.`,
  ),
  chapter(
    'numbers',
    'Large numbers',
    'Token ids and balances are JSON integers with every digit, up to 2^256-1. JavaScript’s `JSON.parse` rounds integers above 2^53: use `numbers=string` there.',
  ),
];
