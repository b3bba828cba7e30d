// The query of the explorer page.

import { Fault, timestamp as timestampParam } from '../../api/params.ts';
import type { ParameterFault } from '../../api/problems.ts';
import { shorten } from '../../api/query.ts';
import { findAddress } from '../address-input.ts';
import { dateText } from '../time-text.ts';

/** The query parameters of the page. */
export const EXPLORER_FIELDS: ReadonlySet<string> = new Set([
  ...['wallet', 'chain', 'asOf', 'asOfUtc'],
  ...['view', 'direction', 'kind', 'unlimited', 'order', 'page', 'cursor'],
  ...['from', 'to', 'type', 'contract', 'tokenId', 'rights', 'chainId', 'at', 'atUtc'],
]);

const ADDRESSES = ['wallet', 'from', 'to', 'contract'] as const;

/** With the one address in place of each text that holds one. */
export const withAddresses = (values: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([
    ...values,
    ...ADDRESSES.flatMap((name) => (values.has(name) ? [[name, findAddress(values.get(name) ?? '')] as const] : [])),
  ]);

/** The field of a point in time, by that of its date picker. */
const PICKED: ReadonlyMap<string, string> = new Map([
  ['asOfUtc', 'asOf'],
  ['atUtc', 'at'],
]);

/** With picked times as points in time. The forms have empty pickers, so what is picked was entered last. */
export function withPickedTimes(values: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const picked = [...PICKED].flatMap(([from, to]) => {
    const text = values.get(from)?.trim() ?? '';
    return text === '' ? [] : [[to, `${text.replace('T', ' ')} UTC`] as const];
  });
  return new Map([...[...values].filter(([name]) => !PICKED.has(name)), ...picked]);
}

/** The parsed query of the page. */
export interface ExplorerQuery {
  readonly values: ReadonlyMap<string, string>;
  /** Parameters that were rejected. */
  readonly faults: readonly ParameterFault[];
  readonly chainIds: readonly number[];
  /** The origin of the service, for links and commands to copy. */
  readonly origin: string;
  readonly sandbox: boolean;
  /** Whether answers can be proven. */
  readonly proves: boolean;
  /** Whether a wallet can be entered by its name. */
  readonly takesNames: boolean;
  /** Unix seconds. */
  readonly now: number;
}

export const entered = ({ values }: Pick<ExplorerQuery, 'values'>, name: string): string =>
  values.get(name)?.trim() ?? '';

export const isNow = (text: string): boolean => text === '' || text === 'now';

/** Why the API cannot answer as of the text, whatever it is asked; null if it may. */
export function pointInTimeFault(text: string, now: number): string | null {
  const { timestamp } = pointInTime(text);
  if (timestamp === undefined) return null;
  const at = timestampParam.read(timestamp);
  if (at instanceof Fault)
    return `“${shorten(timestamp)}” is not a point in time that this page knows. Enter a block number, a date such as 2026-10-20, or a time with its zone such as 2026-10-20 14:30 UTC.`;
  return at > now ? `${dateText(at)} is in the future. Nobody knows yet who may act then.` : null;
}

/** The point in time in words. A date is midnight. */
export function pointInTimeText(text: string): string {
  const { block, timestamp = '' } = pointInTime(text);
  if (block !== undefined) return block === 'finalized' ? 'the finalized block' : `block ${block}`;
  const at = timestampParam.read(timestamp);
  return at instanceof Fault ? timestamp : dateText(at);
}

/** The point in time as the API takes it. */
export function pointInTime(text: string | undefined): { readonly block?: string; readonly timestamp?: string } {
  const when = text?.trim() ?? '';
  if (isNow(when)) return {};
  if (/^\d+$/.test(when) || when === 'finalized') return { block: when };
  return { timestamp: when };
}
