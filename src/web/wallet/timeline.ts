// Makes a time line of grants: what began, what ended, and what changed its amount.

import { grantId } from '../grant-id.ts';
import type { PastGrant } from './wallet-reader.ts';
import type { Direction } from './wallet-view.ts';

type Log = PastGrant['since'];

export interface TimelineEvent {
  /** `gone` is an end or a change: the grant that may follow it was not read. */
  readonly kind: 'began' | 'ended' | 'changed' | 'gone';
  readonly direction: Direction;
  /** The grant after the event, or the one that ended. */
  readonly grant: PastGrant;
  /** Before a change. */
  readonly before: PastGrant | null;
  readonly at: Log;
}

export interface PastRow {
  readonly direction: Direction;
  readonly grant: PastGrant;
}

/** Names a grant at one log: a change of its amount ends one entry there and begins the next. */
const keyAt = ({ direction, grant }: PastRow, { block, logIndex }: Log) =>
  [direction, grant.chainId, grant.from, grantId(grant), block, logIndex].join();

/** Newest first. Without the newest grants, the end of an amount may be a change. */
export function timelineOf(rows: readonly PastRow[], hasNewest: boolean): TimelineEvent[] {
  const begun = new Map(rows.map((row) => [keyAt(row, row.grant.since), row]));
  const followed = new Set<string>();
  const events: TimelineEvent[] = [];
  const add = (kind: TimelineEvent['kind'], { direction, grant }: PastRow, at: Log, before: PastGrant | null = null) =>
    events.push({ kind, direction, grant, before, at });
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
  return events.sort(byNewestLog);
}

/** Blocks of one chain can have the same time, and logs of one block have. */
const byNewestLog = (a: TimelineEvent, b: TimelineEvent) =>
  b.at.timestamp - a.at.timestamp ||
  a.grant.chainId - b.grant.chainId ||
  b.at.block - a.at.block ||
  b.at.logIndex - a.at.logIndex;
