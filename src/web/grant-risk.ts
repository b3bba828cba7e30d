// How much a grant puts at risk, and the order of danger in which pages list grants.

import { MAX_UINT256, NO_RIGHTS } from '../registry/delegation.ts';
import { UNITS } from '../registry/expiry-text.ts';
import { type Html, html } from './html.ts';

/** What the wallet can do at worst: a smaller number is worse. */
export const RISK_TEXTS = [
  'everything, without any limit',
  'any amount of a token',
  'everything in a contract',
  'something within limits',
] as const;

/** A grant of either form: as the API tells it, or as a delegation. */
interface Risked {
  readonly from: string;
  readonly to: string;
  readonly rights: string | null;
  readonly amount: bigint | string | number | null;
}

const ANY_AMOUNT = String(MAX_UINT256);

export function riskOf({ from, to, rights, amount }: Risked, kind: string): number {
  // What a wallet grants to itself gives nothing, and a right is a limit.
  if (from === to || (rights !== null && rights !== NO_RIGHTS)) return 3;
  if (kind === 'ALL') return 0;
  if (String(amount) === ANY_AMOUNT) return 1;
  return kind === 'CONTRACT' ? 2 : 3;
}

/** What every list in this order says. */
export const RISK_ORDER =
  'Most dangerous first: the whole wallet without any limit, any amount of a token, whole contracts, then the rest. Of each, the newest first.';

const [[, YEAR]] = UNITS;

/** Old grants are the forgotten ones. Both in Unix seconds. */
export const oldBadge = (since: number, now: number): Html | false =>
  now - since >= YEAR && html`<span class="badge">granted over a year ago</span>`;
