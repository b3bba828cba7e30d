// Splits a URL into path and query, and parses a query strictly: unknown and repeated parameters are faults.

import type { ParameterFault } from './problems.ts';

/** The path and query of a request's URL, without the question mark. It may be relative or malformed: `new URL` would throw. */
export function splitUrl(url: string) {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  const hash = url.indexOf('#');
  const whole = start < 0 ? '/' : url.slice(start, hash < 0 ? undefined : hash);
  const mark = whole.indexOf('?');
  return mark < 0 ? { path: whole, query: '' } : { path: whole.slice(0, mark), query: whole.slice(mark + 1) };
}

/** Cache busters and campaign tags are accepted and have no meaning. */
export const isIgnored = (name: string) => name === '_' || name.startsWith('utm_');

const NO_NAMES: ReadonlySet<string> = new Set();

export interface Query {
  readonly values: ReadonlyMap<string, string>;
  readonly faults: ParameterFault[];
}

/** Names in `ignored` have no meaning here, whatever their value and however often they are given. */
export function parseQuery(query: string, known: ReadonlySet<string>, ignored: ReadonlySet<string> = NO_NAMES): Query {
  const values = new Map<string, string>();
  const faults: ParameterFault[] = [];
  if (query === '') return { values, faults };
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = decode(equals < 0 ? '' : part.slice(equals + 1));
    if (name !== null && value !== null && known.has(name) && !values.has(name)) {
      values.set(name, value);
      continue;
    }
    if (name !== null && (isIgnored(name) || ignored.has(name))) continue;
    const parameter = shorten(name ?? part);
    if (faults.some((fault) => fault.parameter === parameter)) continue;
    if (faults.length === MAX_FAULTS) break;
    faults.push({ parameter, detail: queryFault(name, value, known, faults.length === 0) });
  }
  return { values, faults };
}

export const MAX_FAULTS = 20;

const queryFault = (name: string | null, value: string | null, known: ReadonlySet<string>, listKnown: boolean) =>
  name === null || value === null ? 'is not valid percent-encoded UTF-8' : nameFault(name, known, listKnown);

/** What clients add to a URL so that it is not answered from a cache. */
const CACHE_BUSTERS: ReadonlySet<string> = new Set(['t', 'ts', '_', 'cb', 'nocache']);

/** What is wrong with a name that is not known, or that was already given. */
export function nameFault(name: string, known: ReadonlySet<string>, listKnown: boolean): string {
  if (known.has(name)) return 'is given more than once';
  if (CACHE_BUSTERS.has(name))
    return 'is not a known parameter; against caches nothing is needed, as no answer is cached for longer than it holds';
  const near = nearest(name, known);
  if (near !== null) return `is not a known parameter; did you mean ${near}?`;
  return listKnown ? `is not a known parameter; known are ${[...known].join(', ')}` : 'is not a known parameter';
}

export const shorten = (text: string) => (text.length > 64 ? `${text.slice(0, 64)}…` : text);

function decode(text: string): string | null {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** The known name that is at most two typos away, ignoring case. */
export function nearest(name: string, known: Iterable<string>): string | null {
  if (name.length > 32) return null;
  let best: { name: string; distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= 2 && distance <= candidate.length / 2 && distance < (best?.distance ?? 3)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name ?? null;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
