// Reads the headers of requests: what a caller accepts and prefers, and the names of the request and of its trace.

/** The quality that the header gives a type by name; 0 if it does not name the type. */
function qualityOf(accept: string, type: string): number {
  for (const part of accept.toLowerCase().split(',')) {
    const [name, ...params] = part.split(';').map((one) => one.trim());
    if (name !== type) continue;
    const quality = params.find((param) => param.startsWith('q='))?.slice(2) ?? '1';
    return /^[01](\.\d{0,3})?$/.test(quality) ? Number(quality) : 0;
  }
  return 0;
}

/** Browsers name HTML when they open an address. What programs and scripts send names JSON, or nothing. */
export function prefersHtml({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? '';
  const json = Math.max(qualityOf(accept, 'application/json'), qualityOf(accept, 'application/problem+json'));
  return qualityOf(accept, 'text/html') > json;
}

/** Browsers do not name Markdown. A caller that does wants it, unless it prefers HTML. */
export function prefersMarkdown({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? '';
  const quality = qualityOf(accept, 'text/markdown');
  return quality > 0 && quality >= qualityOf(accept, 'text/html');
}

/** A caller that does not name gzip may not know it. */
export const acceptsGzip = ({ headers }: Request): boolean =>
  qualityOf(headers.get('accept-encoding') ?? '', 'gzip') > 0;

/** Long enough for a UUID and the ids of known proxies; nothing that could break a log. */
const CLEAN = /^[\w.:+/=-]{1,100}$/;
const PREFIX = crypto.randomUUID().slice(0, 8);
let made = 0;

export function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id');
  return given !== null && CLEAN.test(given) ? given : `${PREFIX}-${(++made).toString(36)}`;
}

const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** The W3C `traceparent` header; null without a valid one. */
export function readTraceParent(request: Request) {
  const given = request.headers.get('traceparent');
  const [, traceId, spanId, flags = '0'] = (given !== null && TRACE_PARENT.exec(given)) || [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
