// A primary and a replica of it as one store: reads go to the replica while it has all that the primary had a moment ago, and
// everything that it cannot answer goes to the primary.

import { StoreError, type StoreErrorCode } from './errors.ts';
import { openStore } from './open.ts';
import type { ChainState, Store } from './store.ts';
import { withTimeout } from './with-timeout.ts';

export interface Replicated {
  readonly store: Store;
  /** Whether reads go to the replica now. */
  isFresh(): boolean;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  readonly log: (level: 'info' | 'warn', message: string, fields?: object) => void;
  readonly metrics: { countReplicaFallback(): void };
}

/** How often the two are compared, and how long that may take. */
const COMPARE_MS = 500;
const DEADLINE_MS = 1000;

/** What the primary may know better. */
const PERHAPS_BEHIND = new Set<StoreErrorCode>(['unavailable', 'failed', 'not-started', 'beyond-head', 'rewritten']);

export function withReplica(primary: Store, url: string, { log, metrics }: ReplicaOptions): Replicated {
  let opened: Promise<Store> | null = null;
  /** The replica while it is fresh; and what ends as soon as it is not, so that nobody waits for one that hangs. */
  let current: { readonly replica: Store; readonly gone: Promise<never>; leave(): void } | null = null;
  let reason = '';
  let stopped = false;
  /** What the primary had when the two were compared last. */
  let before: readonly ChainState[] | null = null;

  const enter = (replica: Store) => {
    reason = '';
    if (current !== null) return;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    current = { replica, gone: promise, leave: () => reject(new StoreError('unavailable', 'The replica is behind.')) };
    log('info', 'reads go to the replica');
  };
  const leave = (why: string) => {
    if (current !== null || why !== reason) log('warn', 'the replica is not read from', { why });
    reason = why;
    current?.leave();
    current = null;
  };

  async function compare(): Promise<void> {
    try {
      opened ??= openReplica(primary, url);
      const replica = await withTimeout(DEADLINE_MS, opened);
      const expected = before;
      // Where the primary cannot be asked, the age of the newest block tells how old the replica is: that has its own limit.
      before = await withTimeout(DEADLINE_MS, primary.chains()).catch(() => before);
      const lacking = lackingIn(await withTimeout(DEADLINE_MS, replica.chains()), expected);
      if (expected !== null && lacking === null) enter(replica);
      else leave(lacking ?? 'it has not been compared yet');
    } catch (error) {
      leave((error as Error).message);
    }
  }
  const openReplica = async (of: Store, at: string): Promise<Store> => {
    try {
      const replica = await openStore(at, { readOnly: true });
      if (replica.id === of.id) return replica;
      await replica.close();
      throw new Error('It is no replica of this store.');
    } catch (error) {
      opened = null;
      throw error;
    }
  };
  const life = async () => {
    for (; !stopped; await Bun.sleep(COMPARE_MS)) await compare();
  };
  const ended = life();

  const asked =
    <Args extends unknown[], T>(read: (store: Store, ...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (current !== null) {
        try {
          return await Promise.race([read(current.replica, ...args), current.gone]);
        } catch (error) {
          if (!(error instanceof StoreError && PERHAPS_BEHIND.has(error.code))) throw error;
        }
      }
      metrics.countReplicaFallback();
      return read(primary, ...args);
    };

  const store: Store = {
    ...primary,
    chain: asked(async (from, chainId) => {
      const state = await from.chain(chainId);
      if (state === null && from !== primary) throw new StoreError('not-started', 'It may be new.', { chainId });
      return state;
    }),
    // For those who look after the service: they want the newest, and anything rather than nothing.
    chains: async () => {
      try {
        return await primary.chains();
      } catch (error) {
        if (current === null) throw error;
        return current.replica.chains();
      }
    },
    pin: asked((from, ...args) => from.pin(...args)),
    check: asked((from, ...args) => from.check(...args)),
    explain: asked((from, ...args) => from.explain(...args)),
    list: asked((from, ...args) => from.list(...args)),
    listDetailed: asked((from, ...args) => from.listDetailed(...args)),
    blockAt: asked((from, ...args) => from.blockAt(...args)),
  };
  return {
    store,
    isFresh: () => current !== null,
    async stop() {
      stopped = true;
      await ended;
      current?.leave();
      await (await opened?.catch(() => null))?.close();
    },
  };
}

/** What the replica has not got yet of what it should have; null where it has everything. */
function lackingIn(states: readonly ChainState[], expected: readonly ChainState[] | null): string | null {
  const commits = new Map(states.map((state) => [state.chainId, state.commits]));
  const behind = expected?.find(({ chainId, commits: wanted }) => (commits.get(chainId) ?? -1) < wanted);
  return behind === undefined ? null : `Chain ${behind.chainId} is behind.`;
}
