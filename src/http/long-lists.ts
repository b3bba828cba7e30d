// Limits what long lists, large batches and streams cost: how many a caller has in flight, how fast they are read, and how many reads
// run at a time. Callers take turns.

import { MAX_BATCH_BYTES } from '../api/batch-operation.ts';
import { createRounds } from '../store/rounds.ts';
import { widerPrefix } from './client-address.ts';
import { createShares } from './shares.ts';

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

/** The bytes of a body that is kept in memory. */
export interface ReceivedBody {
  add(bytes: number): void;
  /** Must be called when the request was answered. */
  end(): void;
}

export interface LongLists {
  /** Runs a read of so many delegations when it is the caller's turn. */
  read<T>(caller: Caller, rows: number, run: () => Promise<T>): Promise<T>;
  /** Throws a problem if the caller, or the whole process, has too many in flight. */
  begin(caller: Caller): LongList;
  /** Throws a problem if the bodies of the caller, or of all, have too many bytes. */
  receive(caller: Caller): ReceivedBody;
  readonly inFlight: number;
  /** Records that something other than a long list was answered. */
  noteShort(): void;
  /** Whether that happened within the last second: then reads should be short, because others wait for them. */
  isBesideShort(): boolean;
}

/** Each list in flight holds one read in memory. Callers with and without a key cannot use up each other's share. */
const MAX_IN_FLIGHT = 128;
/** Bytes of all bodies that have arrived, or are arriving, and are not answered; and of those of one caller. */
const MAX_BODIES = 64 * 1024 * 1024;
const MAX_BODIES_OF_CALLER = MAX_BATCH_BYTES;
/** A read keeps the process busy on SQLite, and a connection on PostgreSQL: checks must not wait for many of them. */
const MAX_READS = 2;
/** How far a caller may be ahead of the pace. */
const BURST_MS = 2000;
/** More callers than this are looked through for those that owe nothing. */
const MANY_CALLERS = 1000;
/** For this long after a short answer, another one is expected. */
const BESIDE_MS = 1000;

export function createLongLists(
  { perAddress, perKey, rowsPerSecond }: LongListLimits = { perAddress: 4, perKey: 16, rowsPerSecond: null },
  clock = { now: () => performance.now(), sleep: (ms: number) => Bun.sleep(ms) },
): LongLists {
  const service = 'The service is sending as many long lists as it can. Retry later.';
  const tooManyOf = (words: string) => (most: number) =>
    `At most ${most} long lists and large batches can be in flight at once ${words}. Wait until one was sent.`;
  const lists = {
    anonymous: createShares(MAX_IN_FLIGHT, [tooManyOf('without an API key'), service]),
    keyed: createShares(MAX_IN_FLIGHT, [tooManyOf('with the API keys of one owner'), service]),
  };
  const tooManyBytes = [
    (most: number) => `The bodies of one caller can have ${most / 1024} KiB at once. Wait until one was answered.`,
    'The service is reading as many bodies as it can. Retry later.',
  ] as const;
  const bodies = {
    anonymous: createShares(MAX_BODIES, tooManyBytes),
    keyed: createShares(MAX_BODIES, tooManyBytes),
  };
  /** When the delegations that a caller without a key has read would have been read at the allowed pace. */
  const paidAt = new Map<string, number>();
  const takeTurn = createTurns();
  let shortAt = Number.NEGATIVE_INFINITY;

  async function keepPace(id: string, rows: number): Promise<void> {
    if (rowsPerSecond === null) return;
    const now = clock.now();
    if (paidAt.size >= MANY_CALLERS) for (const [other, time] of paidAt) if (time <= now) paidAt.delete(other);
    const paid = Math.max(paidAt.get(id) ?? 0, now) + (1000 * rows) / rowsPerSecond;
    paidAt.set(id, paid);
    const wait = paid - now - BURST_MS;
    if (wait > 0) await clock.sleep(wait);
  }

  async function read<T>(caller: Caller, rows: number, run: () => Promise<T>): Promise<T> {
    const id = countedAs(caller);
    if (!caller.hasKey) await keepPace(id, rows);
    return takeTurn(id, run);
  }

  return {
    read,
    begin(caller) {
      const [shares, most] = caller.hasKey ? [lists.keyed, perKey] : [lists.anonymous, perAddress];
      const giveBack = shares.take(countedAs(caller), most);
      let hasEnded = false;
      return {
        read: (rows, run) =>
          read(caller, rows, () => {
            if (hasEnded) throw new Error('The list ended before it was read.');
            return run();
          }),
        end() {
          hasEnded = true;
          giveBack();
        },
      };
    },
    receive(caller) {
      const shares = caller.hasKey ? bodies.keyed : bodies.anonymous;
      const parts: (() => void)[] = [];
      return {
        add: (bytes) => void parts.push(shares.take(countedAs(caller), MAX_BODIES_OF_CALLER, bytes)),
        end() {
          for (const giveBack of parts.splice(0)) giveBack();
        },
      };
    },
    get inFlight() {
      return lists.anonymous.taken + lists.keyed.taken;
    },
    noteShort() {
      shortAt = clock.now();
    },
    isBesideShort: () => clock.now() - shortAt < BESIDE_MS,
  };
}

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
