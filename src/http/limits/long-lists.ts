// Limits what long lists, large batches and streams cost: how many a caller has in flight, how fast they are read, and how many reads
// run at a time. Callers take turns.

import { MAX_BATCH_BYTES } from '../../api/batch-operation.ts';
import { Problem } from '../../api/problems.ts';
import { createTurns } from '../../store/turns.ts';
import { type Caller, countedAs, createShares } from './shares.ts';

/** A list or a batch that takes more than one read. */
export interface LongList {
  /** Runs a read of so many delegations when it is its turn. Rejects if the list ended meanwhile. */
  read<T>(rows: number, run: () => Promise<T>): Promise<T>;
  /** Must be called when the list was sent, cancelled or failed. */
  end(): void;
}

/** For what takes one read. */
export const SHORT: LongList = { read: (_rows, run) => run(), end() {} };

export type LongLists = ReturnType<typeof createLongLists>;
export type ReceivedBody = ReturnType<LongLists['receive']>;

/** Each list in flight holds one read in memory. */
const MAX_IN_FLIGHT = 128;
const MAX_IN_FLIGHT_OF_CALLER = { perAddress: 4, perKey: 16 };
/** Bytes of all bodies that have arrived, or are arriving, and are not answered; and of those of one caller. */
const MAX_BODIES = 16 * 1024 * 1024;
const MAX_BODIES_OF_CALLER = { perAddress: MAX_BATCH_BYTES, perKey: MAX_BATCH_BYTES };
/** Bytes of large answers that were made, and that their callers have not read; and of those of one caller. */
const MAX_UNREAD = 64 * 1024 * 1024;
const MAX_UNREAD_OF_CALLER = { perAddress: 8 * 1024 * 1024, perKey: 8 * 1024 * 1024 };
/** Each file that is being sent has a page of a thousand grants in memory. */
const MAX_FILES = 32;
const MAX_FILES_OF_CALLER = { perAddress: 1, perKey: 1 };
/** Answers that are made as a whole in memory, of which each can have 20 MB. One of each caller. */
const MAX_HELD = 2;
/** What a delegation of such an answer leaves behind. */
const BYTES_OF_ROW = 300;
/** After so many bytes of bodies and of such answers garbage is collected: the runtime alone would let it grow to hundreds of megabytes. */
const COLLECTED_BYTES = 10 * 1024 * 1024;
/** A read keeps the process busy on SQLite, and a connection on PostgreSQL: checks must not wait for many of them. */
const MAX_READS = 2;
/** How far a caller may be ahead of the pace. */
const BURST_MS = 2000;
/** A caller that is further ahead than this is refused what does not wait. */
const MOST_AHEAD_MS = 10_000;
/** A change, a grant of a history or a wallet costs as much as so many delegations of a list. */
export const ROW_WEIGHT = 8;
/** More callers than this are looked through for those that owe nothing. */
const MANY_CALLERS = 1000;
/** For this long after a short answer, another one is expected. */
const BESIDE_MS = 1000;

/** `rowsPerSecond`: delegations read for each client address without a key; null means no limit. */
export function createLongLists(
  rowsPerSecond: number | null = null,
  clock = { now: () => performance.now(), sleep: (ms: number) => Bun.sleep(ms) },
  /** When the delegations that a caller without a key has read would have been read at the allowed pace. */
  paidAt = new Map<string, number>(),
) {
  const lists = createShares(MAX_IN_FLIGHT, MAX_IN_FLIGHT_OF_CALLER, {
    own: (most, whose) =>
      `At most ${most} long lists and large batches can be in flight at once ${whose}. Wait until one was sent.`,
    all: 'The service is sending as many long lists as it can. Retry later.',
  });
  const bodies = createShares(MAX_BODIES, MAX_BODIES_OF_CALLER, {
    own: (most) => `The bodies of one caller can have ${most / 1024} KiB at once. Wait until one was answered.`,
    all: 'The service is reading as many bodies as it can. Retry later.',
  });
  const files = createShares(MAX_FILES, MAX_FILES_OF_CALLER, {
    own: () => 'You are being sent a file. Wait until it is there.',
    all: 'The service is sending as many files as it can. Retry later.',
  });
  const unread = createShares(MAX_UNREAD, MAX_UNREAD_OF_CALLER, {
    own: (most) => `You have not read ${most / 1024 / 1024} MiB of answers. Read them before you ask for more.`,
    all: 'The service waits for many callers to read their answers. Retry later.',
  });
  const turns = createTurns(MAX_READS);
  const held = createTurns(MAX_HELD, 1);
  let lastTurn: Promise<unknown> = Promise.resolve();
  let discarded = 0;
  let shortAt = Number.NEGATIVE_INFINITY;

  /** Returns how far the caller is ahead of the pace. */
  function pay(id: string, rows: number): number {
    if (rowsPerSecond === null) return 0;
    const now = clock.now();
    if (paidAt.size >= MANY_CALLERS) for (const [other, time] of paidAt) if (time <= now) paidAt.delete(other);
    const paid = Math.max(paidAt.get(id) ?? 0, now) + (1000 * rows) / rowsPerSecond;
    paidAt.set(id, paid);
    return paid - now;
  }

  async function keepPace(id: string, rows: number): Promise<void> {
    const wait = pay(id, rows) - BURST_MS;
    if (wait > 0) await clock.sleep(wait);
  }

  async function read<T>(caller: Caller, rows: number, waits: boolean, run: () => Promise<T>): Promise<T> {
    const id = countedAs(caller);
    if (!waits) discard(BYTES_OF_ROW * rows);
    if (!caller.hasKey) await (waits ? keepPace(id, rows) : pay(id, rows));
    // Each begins in its own turn of the event loop, after other requests.
    return turns.run(id, async () => {
      lastTurn = lastTurn.then(() => new Promise(setImmediate));
      await lastTurn;
      return run();
    });
  }

  function begin(caller: Caller, { waits = true, onEnd = () => {} } = {}): LongList {
    const giveBack = lists.take(caller);
    let hasEnded = false;
    return {
      read: (rows, run) =>
        read(caller, rows, waits, () => {
          if (hasEnded) throw new Error('The list ended before it was read.');
          return run();
        }),
      end() {
        hasEnded = true;
        onEnd();
        giveBack();
      },
    };
  }

  function discard(bytes: number): void {
    discarded += bytes;
    if (discarded < COLLECTED_BYTES) return;
    discarded = 0;
    Bun.gc(true);
  }

  return {
    /** Runs a read of so many delegations when it is the caller's turn. */
    read: <T>(caller: Caller, rows: number, run: () => Promise<T>): Promise<T> => read(caller, rows, true, run),
    /** Throws a problem if the caller, or the whole process, has too many in flight. */
    begin: (caller: Caller): LongList => begin(caller),
    /** The same for an answer that is made as a whole, in memory: waits for its pace and for room, and is then read without waiting. */
    async beginWhole(caller: Caller): Promise<LongList> {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const list = begin(caller, { waits: false, onEnd: end });
      const id = countedAs(caller);
      // Who waits for its pace takes no room meanwhile.
      for (let hasRoom = false; !hasRoom; ) {
        if (!caller.hasKey) await keepPace(id, 0);
        hasRoom = await new Promise<boolean>((resolve) => {
          void held.run(id, async () => {
            // Another answer of the caller may have been made while this one waited.
            const mayBegin = caller.hasKey || pay(id, 0) <= BURST_MS;
            resolve(mayBegin);
            if (mayBegin) await ended;
          });
        });
      }
      return list;
    },
    /** Throws a problem if the caller, or the whole process, is being sent too many files. Returns what must be called when it was sent. */
    beginFile: files.take,
    /** Throws a problem if the caller, or all, have not read too many bytes of large answers. Returns what must be called when it was sent. */
    beginSending: unread.take,
    /** Counts the bytes of a body that is kept in memory. `add` throws a problem if the caller, or all, have too many. */
    receive(caller: Caller) {
      const parts: (() => void)[] = [];
      return {
        add(bytes: number): void {
          discard(bytes);
          parts.push(bodies.take(caller, bytes));
        },
        /** Must be called when the request was answered. */
        end(): void {
          for (const giveBack of parts.splice(0)) giveBack();
        },
      };
    },
    /** Throws a problem if the caller has had too much of what is only charged. */
    requirePaid(caller: Caller): void {
      const ahead = caller.hasKey ? 0 : pay(countedAs(caller), 0);
      if (ahead <= MOST_AHEAD_MS) return;
      throw new Problem('too-many-requests', 'Your last pages were large. Retry later, or use the API with a key.', {
        retryAfter: Math.ceil((ahead - MOST_AHEAD_MS) / 1000),
      });
    },
    /** Counts work that did not wait, as so many delegations. */
    charge(caller: Caller, rows: number): void {
      if (!caller.hasKey) pay(countedAs(caller), rows);
    },
    get inFlight(): number {
      return lists.taken;
    },
    /** Records that something other than a long list was answered. */
    noteShort(): void {
      shortAt = clock.now();
    },
    /** Whether that happened within the last second: then reads should be short, because others wait for them. */
    isBesideShort: (): boolean => clock.now() - shortAt < BESIDE_MS,
  };
}
