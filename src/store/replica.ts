// A primary and a replica of it as one store: reads go to the replica while it has all that the primary had a moment ago, and
// everything that it cannot answer goes to the primary.

import { openStore } from './open.ts';
import type { ChainState, Store } from './store.ts';

export interface Replicated {
  readonly store: Store;
  /** Whether reads go to the replica now. */
  isFresh(): boolean;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  readonly log: (level: 'info' | 'warn', message: string, fields?: object) => void;
  readonly metrics: { passedByReplica(): void };
}

/** How often the two are compared. */
const COMPARE_MS = 500;

export function withReplica(primary: Store, url: string, { log, metrics }: ReplicaOptions): Replicated {
  let replica: Store | null = null;
  let fresh = false;
  let reason = '';
  let stopped = false;
  /** What the primary had when the two were compared last. */
  let before: readonly ChainState[] | null = null;

  const turn = (isFresh: boolean, why: string) => {
    if (isFresh && !fresh) log('info', 'reads go to the replica');
    if (!isFresh && (fresh || why !== reason)) log('warn', 'the replica is not read from', { why });
    [fresh, reason] = [isFresh, why];
  };

  async function compare(): Promise<void> {
    try {
      replica ??= await openReplica(primary, url);
      const expected = before;
      // While the primary is away nothing is written: what the replica has is all there is.
      before = await Promise.resolve(primary.chains()).catch(() => before);
      const lacking = lackingIn(await replica.chains(), expected);
      turn(expected !== null && lacking === null, lacking ?? 'it has not been compared yet');
    } catch (error) {
      turn(false, String(error));
    }
  }
  const life = async () => {
    for (; !stopped; await Bun.sleep(COMPARE_MS)) await compare();
  };
  const ended = life();

  /** Asks the replica, and the primary wherever that has no answer: it may be a moment behind what the question is about. */
  const asked =
    <Args extends unknown[], T>(read: (store: Store, ...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (fresh && replica !== null) {
        try {
          return await read(replica, ...args);
        } catch {
          // The primary says what is wrong, if it is.
        }
      }
      metrics.passedByReplica();
      return read(primary, ...args);
    };

  const store: Store = {
    ...primary,
    check: asked((from, ...args) => from.check(...args)),
    explain: asked((from, ...args) => from.explain(...args)),
    list: asked((from, ...args) => from.list(...args)),
    listDetailed: asked((from, ...args) => from.listDetailed(...args)),
    blockAt: asked((from, ...args) => from.blockAt(...args)),
    pin: asked((from, ...args) => from.pin(...args)),
  };
  return {
    store,
    isFresh: () => fresh,
    async stop() {
      stopped = true;
      await ended;
      await replica?.close();
    },
  };
}

async function openReplica(primary: Store, url: string): Promise<Store> {
  const replica = await openStore(url, { readOnly: true });
  if (replica.id === primary.id) return replica;
  await replica.close();
  throw new Error('it is no replica of this store');
}

/** What the replica has not got yet of what it should have; null where it has everything. */
function lackingIn(states: readonly ChainState[], expected: readonly ChainState[] | null): string | null {
  const commits = new Map(states.map((state) => [state.chainId, state.commits]));
  const behind = expected?.find(({ chainId, commits: wanted }) => (commits.get(chainId) ?? -1) < wanted);
  return behind === undefined ? null : `chain ${behind.chainId} is behind`;
}
