// The query of the explorer page.

import type { ParameterFault } from '../../api/problems.ts';
import type { CheckOptions } from '../../api/url.ts';

/** The query parameters of the page. */
export const EXPLORER_FIELDS: ReadonlySet<string> = new Set([
  ...['wallet', 'chain', 'asOf'],
  ...['view', 'direction', 'kind', 'unlimited', 'order', 'page', 'cursor'],
  ...['from', 'to', 'type', 'contract', 'tokenId', 'rights', 'chainId', 'at'],
]);

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
  /** Unix seconds. */
  readonly now: number;
}

export const entered = ({ values }: Pick<ExplorerQuery, 'values'>, name: string): string =>
  values.get(name)?.trim() ?? '';

export const isNow = (text: string): boolean => text === '' || text === 'now';

/** The point in time as the API takes it. */
export function pointInTime(text: string | undefined): Pick<CheckOptions, 'block' | 'timestamp'> {
  const when = text?.trim() ?? '';
  if (isNow(when)) return {};
  if (/^\d+$/.test(when) || when === 'finalized') return { block: when };
  return { timestamp: when };
}
