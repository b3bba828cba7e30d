// Makes a time line of grants: what began, what ended, and what changed its amount.

import { grantId } from '../grant-id.ts';
import { byNewest, type GrantRow, type PastGrant } from './grant.ts';

type Log = PastGrant['since'];

/** Its grant is the one after the event, or the one that ended. */
export interface TimelineEvent extends GrantRow<PastGrant> {
  /** `gone` is an end or a change: the grant that may follow it was not read. */
  readonly kind: 'began' | 'ended' | 'changed' | 'gone';
  /** Before a change. */
  readonly before: PastGrant | null;
  readonly at: Log;
}

export type PastRow = GrantRow<PastGrant>;

/** Names a grant at one log: a change of its amount ends one entry there and begins the next. */
const keyAt = ({ direction, grant }: PastRow, { block, logIndex }: Log) =>
  [direction, grant.chainId, grant.from, grantId(grant), block, logIndex].join();

/** Newest first. Without the newest grants, the end of an amount may be a change. */
export function timelineOf(rows: readonly PastRow[], hasNewest: boolean): TimelineEvent[] {
  const begun = new Map(rows.map((row) => [keyAt(row, row.grant.since), row]));
  const followed = new Set<string>();
  const events: TimelineEvent[] = [];
  const add = (kind: TimelineEvent['kind'], row: PastRow, at: Log, before: PastGrant | null = null) =>
    events.push({ ...row, kind, before, at });
  for (const row of rows) {
    const { until, amount } = row.grant;
    if (until === null) continue;
    const key = keyAt(row, until);
    const next = begun.get(key);
    if (next === undefined) add(amount === null || hasNewest ? 'ended' : 'gone', row, until);
    else {
      followed.add(key);
      add('changed', next, until, row.grant);
    }
  }
  for (const row of rows) if (!followed.has(keyAt(row, row.grant.since))) add('began', row, row.grant.since);
  const placeOf = ({ grant: { chainId }, at }: TimelineEvent) => ({ chainId, since: at });
  return events.sort((a, b) => byNewest(placeOf(a), placeOf(b)));
}
