// The response headers of the API.

import { bytes32, count, integer, literal, oneOfStrings, type Shape, string, unixSeconds } from './shape.ts';

export const HEADERS = {
  'X-Block-Number': { description: 'The block that the answer is true for.', shape: count },
  'X-Block-Hash': { description: 'The hash of that block, if the index has it.', shape: bytes32 },
  'X-Block-Timestamp': { description: 'The timestamp of that block, if the index has it.', shape: unixSeconds },
  'X-As-Of-Timestamp': { description: 'The requested `timestamp`.', shape: unixSeconds },
  'X-Indexed-From': {
    description:
      'Sent if the registry may be older than the first indexed block, which this is. Earlier grants are unknown.',
    shape: count,
  },
  ETag: { description: 'Send it back in `If-None-Match` to get a 304 while the answer is the same.', shape: string },
  'Cache-Control': {
    description:
      "Answers never outlive the chain's next block, nor those of exclusive resolution the next expiry. `private` if the request had a key; problems are `no-store`.",
    shape: string,
  },
  Vary: {
    description:
      'A cache must not use the answer for a request with another key, or another `Accept` where it is named.',
    shape: oneOfStrings('X-API-KEY', 'X-API-KEY, Accept'),
  },
  Link: { description: 'The next page, with rel="next", relative to the URL of the request.', shape: string },
  'Retry-After': { description: 'Seconds to wait before a retry.', shape: integer },
  'RateLimit-Policy': { description: 'Without a key: the limit, such as `"anon";q=25;w=10`.', shape: string },
  RateLimit: {
    description: 'Without a key: how many requests are left, and the seconds until one more is allowed.',
    shape: string,
  },
  'WWW-Authenticate': { description: 'How to send an API key.', shape: string },
  Allow: { description: 'The methods of this path.', shape: string },
  'X-Request-Id': {
    description:
      "The request's own `X-Request-Id`, if it has at most 100 letters, digits and `._:+/=-`; otherwise one made by the service. The operator's log has it.",
    shape: string,
  },
  'X-Sandbox': { description: 'Sent by a sandbox: its chain and wallets are made up.', shape: literal('true') },
} as const satisfies Readonly<Record<string, { readonly description: string; readonly shape: Shape<unknown> }>>;

export type HeaderName = keyof typeof HEADERS;

/** The headers of an answer that is true as of a block. */
export const BLOCK_HEADERS = [
  'X-Block-Number',
  'X-Block-Hash',
  'X-Block-Timestamp',
  'X-As-Of-Timestamp',
  'X-Indexed-From',
  'ETag',
] as const satisfies readonly HeaderName[];
