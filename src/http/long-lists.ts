// Limits what long lists, large batches and streams cost: how many a caller has in flight, how fast they are read, and how many reads
// run at a time. Callers take turns.

import { Problem } from '../api/problems.ts';
import { widerPrefix } from './client-address.ts';
import { createRounds } from './rounds.ts';

/** Who a request is counted for. */
export interface Caller {
  /** The client address, or the owner of the API key: the keys of one wallet are one caller. */
  readonly id: string;
  readonly hasKey: boolean;
}

/** Without a key, all addresses of an IPv6 /48 count as one caller. */
export const countedAs = ({ id, hasKey }: Caller): string => (hasKey ? id : (widerPrefix(id) ?? id));

export interface LongListLimits {
  /** In flight at once, for each client address without a key; all of an IPv6 /48 together. */
  readonly perAddress: number;
  /** In flight at once, for all keys of one owner. */
  readonly perKey: number;
  /** Delegations read for each client address without a key; null means no limit. */
  readonly rowsPerSecond: number | null;
}

/** A list or a batch that takes more than one read. */
export interface LongList {
  /** Runs a read of so many delegations when it is its turn. Rejects if the list ended meanwhile. */
  read<T>(rows: number, run: () => Promise<T>): Promise<T>;
  /** Must be called when the list was sent, cancelled or failed. */
  end(): void;
}

export interface LongLists {
  /** Runs a read of so many delegations when it is the caller's turn. */
  read<T>(caller: Caller, rows: number, run: () => Promise<T>): Promise<T>;
  /** Throws a problem if the caller, or the whole process, has too many in flight. */
  begin(caller: Caller, weight?: number): LongList;
  readonly inFlight: number;
  /** Records that something other than a long list was answered. */
  noteShort(): void;
  /** Whether that happened within the last second: then reads should be short, because others wait for them. */
  isBesideShort(): boolean;
}

/**
 * Each list in flight holds one read in memory, and a batch as much as BATCH_WEIGHT lists. Callers with and without a key cannot use
 * up each other's share.
 */
const MAX_IN_FLIGHT = 128;
export const BATCH_WEIGHT = 8;
/** A read keeps the process busy on SQLite, and a connection on PostgreSQL: checks must not wait for many of them. */
const MAX_READS = 2;
/** How far a caller may be ahead of the pace. */
const BURST_MS = 2000;
/** More callers than this are looked through for those that owe nothing. */
const MANY_CALLERS = 1000;
const RETRY_SECONDS = 5;
/** For this long after a short answer, another one is expected. */
const BESIDE_MS = 1000;

interface Account {
  inFlight: number;
  /** When the delegations read so far would have been read at the allowed pace. */
  paidAt: number;
}

export function createLongLists(
  { perAddress, perKey, rowsPerSecond }: LongListLimits = { perAddress: 4, perKey: 16, rowsPerSecond: null },
  clock = { now: () => performance.now(), sleep: (ms: number) => Bun.sleep(ms) },
): LongLists {
  const kinds = {
    anonymous: { most: perAddress, inFlight: 0, accounts: new Map<string, Account>(), words: 'without an API key' },
    keyed: { most: perKey, inFlight: 0, accounts: new Map<string, Account>(), words: 'with the API keys of one owner' },
  };
  const takeTurn = createTurns();
  let shortAt = Number.NEGATIVE_INFINITY;

  function accountOf(accounts: Map<string, Account>, id: string): Account {
    if (accounts.size >= MANY_CALLERS) {
      const now = clock.now();
      for (const [other, { inFlight, paidAt }] of accounts) if (inFlight === 0 && paidAt <= now) accounts.delete(other);
    }
    const account = accounts.get(id) ?? { inFlight: 0, paidAt: 0 };
    accounts.set(id, account);
    return account;
  }

  async function keepPace(account: Account, rows: number): Promise<void> {
    if (rowsPerSecond === null) return;
    const now = clock.now();
    account.paidAt = Math.max(account.paidAt, now) + (1000 * rows) / rowsPerSecond;
    const wait = account.paidAt - now - BURST_MS;
    if (wait > 0) await clock.sleep(wait);
  }

  const kindOf = ({ hasKey }: Caller) => (hasKey ? kinds.keyed : kinds.anonymous);

  async function read<T>(caller: Caller, rows: number, run: () => Promise<T>): Promise<T> {
    const id = countedAs(caller);
    if (!caller.hasKey) await keepPace(accountOf(kinds.anonymous.accounts, id), rows);
    return takeTurn(id, run);
  }

  return {
    read,
    begin(caller, weight = 1) {
      const id = countedAs(caller);
      const kind = kindOf(caller);
      const account = accountOf(kind.accounts, id);
      if (account.inFlight >= kind.most)
        throw tooMany(
          `At most ${kind.most} long lists and large batches can be in flight at once ${kind.words}. Wait until one was sent.`,
        );
      if (kind.inFlight + weight > MAX_IN_FLIGHT)
        throw tooMany('The service is sending as many long lists as it can. Retry later.');
      kind.inFlight += weight;
      account.inFlight++;
      let hasEnded = false;
      return {
        read: (rows, run) =>
          read(caller, rows, () => {
            if (hasEnded) throw new Error('The list ended before it was read.');
            return run();
          }),
        end() {
          if (hasEnded) return;
          hasEnded = true;
          kind.inFlight -= weight;
          account.inFlight--;
          if (account.inFlight === 0 && account.paidAt <= clock.now()) kind.accounts.delete(id);
        },
      };
    },
    get inFlight() {
      return kinds.anonymous.inFlight + kinds.keyed.inFlight;
    },
    noteShort() {
      shortAt = clock.now();
    },
    isBesideShort: () => clock.now() - shortAt < BESIDE_MS,
  };
}

export const tooMany = (detail: string) => new Problem('too-many-requests', detail, { retryAfter: RETRY_SECONDS });

/** Runs at most MAX_READS at a time, one of each caller in turn. Each begins in its own turn of the event loop, after other requests. */
function createTurns() {
  let running = 0;
  let lastTurn: Promise<unknown> = Promise.resolve();
  const waiting = createRounds<() => void>();
  return async <T>(caller: string, run: () => Promise<T>): Promise<T> => {
    if (running < MAX_READS) running++;
    else await new Promise<void>((resolve) => waiting.add(caller, resolve));
    try {
      lastTurn = lastTurn.then(() => new Promise(setImmediate));
      await lastTurn;
      return await run();
    } finally {
      const next = waiting.take();
      if (next === undefined) running--;
      else next();
    }
  };
}
