// Names each request: by its X-Request-Id, or by an id made here.

/** Long enough for a UUID and the ids of known proxies; nothing that could break a log. */
const CLEAN = /^[\w.:+/=-]{1,100}$/;
const PREFIX = crypto.randomUUID().slice(0, 8);
let made = 0;

export function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id');
  return given !== null && CLEAN.test(given) ? given : `${PREFIX}-${(++made).toString(36)}`;
}

const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** The W3C `traceparent` header; null without a valid one. */
export function readTraceParent(request: Request): TraceParent | null {
  const given = request.headers.get('traceparent');
  const [, traceId, spanId, flags = '0'] = (given !== null && TRACE_PARENT.exec(given)) || [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
