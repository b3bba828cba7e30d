// Logs requests, as LOG_REQUESTS says: a line when the body has been sent. Of what was asked, only the chain and the block.

import { onBodySent } from '../api/sized-response.ts';
import type { Answered } from '../http/server/app.ts';
import { readTraceParent } from '../http/wire/request-headers.ts';
import type { Log } from './log.ts';

/** Which requests are logged: those with at least this status, and one of so many others. */
export interface RequestLogRule {
  readonly leastStatus: number;
  readonly oneOf: number;
}

const ERROR_STATUS = 400;
const SERVER_ERROR_STATUS = 500;
const NEVER = Number.POSITIVE_INFINITY;

/** Null if the text is not a valid LOG_REQUESTS. */
export function readRequestLogRule(text: string): RequestLogRule | null {
  if (text === 'all') return { leastStatus: 0, oneOf: NEVER };
  if (text === 'off') return { leastStatus: NEVER, oneOf: NEVER };
  if (text === 'errors') return { leastStatus: ERROR_STATUS, oneOf: NEVER };
  const [, oneOf] = /^sample:([1-9]\d{0,6})$/.exec(text) ?? [];
  return oneOf === undefined ? null : { leastStatus: SERVER_ERROR_STATUS, oneOf: Number(oneOf) };
}

/** Orchestrators ask these every few seconds. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready']);

export function createRequestLog(rule: RequestLogRule, log: Log, keyIdOf: (key: string) => number | null) {
  const { leastStatus, oneOf } = rule;
  let sinceLast = oneOf;
  const isLogged = ({ route, status }: Answered) => {
    if (PROBES.has(route)) return false;
    if (status >= leastStatus) return true;
    if (++sinceLast < oneOf) return false;
    sinceLast = 0;
    return oneOf !== NEVER;
  };
  return (answered: Answered, request: Request, response: Response): void => {
    if (!isLogged(answered)) return;
    const readyAt = performance.now();
    const { id, method, route, status, problem } = answered;
    onBodySent(method, response, (bytes, isComplete) => {
      const seconds = answered.seconds + (performance.now() - readyAt) / 1000;
      const key = request.headers.get('x-api-key');
      const keyId = key === null ? undefined : (keyIdOf(key) ?? undefined);
      const traceId = readTraceParent(request)?.traceId;
      const { chainId, block } = askedOf(answered, request);
      const aborted = isComplete ? undefined : true;
      // JSON leaves out what is undefined.
      log('info', 'request', {
        id,
        method,
        route,
        status,
        chainId,
        block,
        problem,
        seconds,
        bytes,
        keyId,
        traceId,
        aborted,
      });
    });
  };
}

const CHAIN = /[?&]chainId=(\d{1,16})(?:&|$)/;
const BLOCK = /[?&]block=(\d{1,16}|0x[0-9a-f]{64}|latest|finalized|safe)(?:&|$)/i;

/** The chain and the block of a request to the API: the block of the answer, or the requested one. Nothing else that a caller wrote. */
export function askedOf({ route, block: answered }: Answered, { url }: Request) {
  if (!route.startsWith('/registry/')) return {};
  const block = answered ?? BLOCK.exec(url)?.[1];
  // Versions 1 and 2 answer for one chain, which is the first unless the request names another.
  if (!url.includes('chainId=')) return { chainId: /^\/registry\/v\d/.test(route) ? 1 : undefined, block };
  const chain = CHAIN.exec(url)?.[1];
  return { chainId: chain === undefined ? undefined : Number(chain), block };
}
