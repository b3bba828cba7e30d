// Decides which attempts may run at once, and how many a host gets in a minute: no owner and no receiver has all the room, and a
// receiver that does not want deliveries is not flooded.

import { hostOf } from './target.ts';
import type { WebhookRecord } from './webhooks.ts';

/** What an attempt takes room for. */
export interface Work {
  /** Sent because somebody asked for it: a challenge or a test. */
  readonly isTest: boolean;
  /** It failed before, or its receiver is slow. */
  readonly isTroubled: boolean;
  readonly owner: string | null;
  readonly host: string;
}

/** Attempts at once in one process. */
const MOST_AT_ONCE = 32;
/** Of these, attempts that are likely to take long: dead and slow receivers leave room for the others. */
const MOST_TROUBLED = 16;
/** Of these, attempts for one owner, other than the operator, and to one host. */
const MOST_OF_OWNER = 4;
const MOST_TO_HOST = 8;
/** Tests have a little room of their own: their owners can ask for as many as they like. */
const MOST_TESTS = 4;
/** Attempts to one host in a minute, and those of tests and of troubled deliveries. */
const MOST_A_MINUTE = 600;
const MOST_TRIES_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** An attempt that takes longer makes its receiver a slow one. */
const SLOW_MS = 2000;

/** `scale` makes a minute shorter, for tests. */
export function createRoom(now: () => number, scale: number) {
  const taken = new Set<Work>();
  const slow = new Set<number>();
  let minute = 0;
  const attempts = new Map<string, { all: number; tries: number }>();
  const count = (isCounted: (work: Work) => boolean) => [...taken].filter(isCounted).length;

  return {
    workOf: ({ id, testRequestedAt, failures, owner, url }: WebhookRecord): Work => ({
      isTest: testRequestedAt !== null,
      isTroubled: failures > 0 || slow.has(id),
      owner,
      host: hostOf(new URL(url)),
    }),
    /** Whether there is room for it now. */
    has({ isTest, isTroubled, owner, host }: Work): boolean {
      if (isTest)
        return count((one) => one.isTest) < MOST_TESTS && count((one) => one.isTest && one.owner === owner) === 0;
      return (
        count((one) => !one.isTest) < MOST_AT_ONCE &&
        (!isTroubled || count((one) => one.isTroubled && !one.isTest) < MOST_TROUBLED) &&
        (owner === null || count((one) => one.owner === owner) < MOST_OF_OWNER) &&
        count((one) => one.host === host) < MOST_TO_HOST
      );
    },
    /** Counts an attempt that begins. False if its host has had too many in this minute. */
    isInPace({ host, isTest, isTroubled }: Work): boolean {
      const current = Math.floor(now() / (MINUTE_MS * scale));
      if (current !== minute) attempts.clear();
      minute = current;
      const ofHost = attempts.get(host) ?? { all: 0, tries: 0 };
      const isTry = isTest || isTroubled;
      if (ofHost.all >= MOST_A_MINUTE || (isTry && ofHost.tries >= MOST_TRIES_A_MINUTE)) return false;
      ofHost.all++;
      if (isTry) ofHost.tries++;
      attempts.set(host, ofHost);
      return true;
    },
    /** Takes the room; returns what gives it back. */
    take(work: Work): () => void {
      taken.add(work);
      return () => void taken.delete(work);
    },
    /** Remembers how long an attempt took. */
    note({ id }: { readonly id: number }, ms: number): void {
      if (ms > SLOW_MS) slow.add(id);
      else slow.delete(id);
    },
    isSlow: ({ id }: { readonly id: number }): boolean => slow.has(id),
    /** Forgets all webhooks but these. */
    keep(ids: ReadonlySet<number>): void {
      for (const id of slow) if (!ids.has(id)) slow.delete(id);
    },
  };
}
