// What all calls of a client share.

import type { Operations } from './api.ts';
import type { CallOptions, Params, Send } from './request.ts';

export type PointInTime = Pick<Operations['checkAllAny']['params'], 'block' | 'timestamp'>;

/** The chain and the point in time of calls that do not name their own. */
export interface Defaults extends PointInTime {
  readonly chainId?: number | undefined;
}

/** How answers are verified. */
export interface Verification {
  /** The hash of a block, from a source that you trust, such as your own node. */
  readonly blockHash: (block: ClaimedBlock) => string | Promise<string>;
  /** Seconds that the block of an answer as of `latest` may be old; 3,600 by default. An older state is proven as well as the newest. */
  readonly maxAge?: number | undefined;
}

/** The block of an answer, as the service names it. */
export interface ClaimedBlock {
  readonly chainId: number;
  readonly number: number;
  readonly hash: string;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface Context {
  readonly send: Send;
  readonly defaults: Defaults;
  /** Without it, answers are believed. */
  readonly verify?: Verification | undefined;
}

/** What a caller gives for an operation of the API. */
export type Query<Id extends keyof Operations> = Operations[Id]['params'] & CallOptions;

interface Split {
  readonly call: CallOptions;
  readonly params: Params;
}

/** The options of the call, and the parameters of the request with the defaults. A call has its own point in time, or the default one. */
export function splitQuery({ defaults }: Context, query: CallOptions): Split {
  const { signal, timeout, ...rest } = query;
  const given: Params = rest;
  const { chainId, ...asOf } = defaults;
  const hasPoint = given['block'] !== undefined || given['timestamp'] !== undefined;
  const params = { ...given, ...(hasPoint ? {} : asOf), chainId: given['chainId'] ?? chainId };
  return { call: { signal, timeout }, params };
}
