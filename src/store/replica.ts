// Combines a primary and its replica into one store. Reads go to the replica while it has every commit that the primary had a
// moment ago; reads that it cannot answer go to the primary.

import { StoreError, type StoreErrorCode } from './errors.ts';
import { openStore } from './open.ts';
import type { ChainState, ReplicatedReads, Store } from './store.ts';
import { withTimeout } from './with-timeout.ts';

export interface ReplicaOptions {
  readonly log: (level: 'info' | 'warn', message: string, fields?: object) => void;
  readonly onFallback: () => void;
  /** The maximum number of connections to the replica. */
  readonly connections?: number;
}

/** How often the two are compared, and the timeout of each step. */
const COMPARE_MS = 500;
const TIMEOUT_MS = 1000;

/** Errors that the primary may not have. */
const RETRY_ON_PRIMARY = new Set<StoreErrorCode>(['unavailable', 'failed', 'not-started', 'beyond-head', 'rewritten']);

export function withReplica(primary: Store, url: string, options: ReplicaOptions) {
  const { log, onFallback, ...pool } = options;
  let opened: Promise<Store> | null = null;
  /** The replica while it is fresh. `gone` rejects as soon as it is not, so that no read waits for a replica that hangs. */
  let current: { readonly replica: Store; readonly gone: Promise<never>; leave(): void } | null = null;
  let reason = '';
  let stopped = false;
  /** The primary's chains at the last comparison. */
  let before: readonly ChainState[] | null = null;

  const enter = (replica: Store) => {
    reason = '';
    if (current !== null) return;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    current = { replica, gone: promise, leave: () => reject(new StoreError('unavailable', 'The replica is behind.')) };
    log('info', 'replica in use');
  };
  const leave = (why: string) => {
    if (current !== null || why !== reason) log('warn', 'replica not in use', { why });
    reason = why;
    current?.leave();
    current = null;
  };

  async function compare(): Promise<void> {
    try {
      opened ??= openReplica(primary, url);
      const replica = await withTimeout(TIMEOUT_MS, opened);
      const expected = before;
      // If the primary is unreachable, the age of the newest block limits how stale the replica can be.
      before = await withTimeout(TIMEOUT_MS, primary.chains()).catch(() => before);
      const lag = findLag(await withTimeout(TIMEOUT_MS, replica.chains()), expected);
      if (expected !== null && lag === null) enter(replica);
      else leave(lag ?? 'not compared yet');
    } catch (error) {
      leave((error as Error).message);
    }
  }
  const openReplica = async (of: Store, at: string): Promise<Store> => {
    try {
      const replica = await openStore(at, { ...pool, readOnly: true, role: 'api' });
      if (replica.id === of.id) return replica;
      await replica.close();
      throw new Error('The URL is not a replica of this store.');
    } catch (error) {
      opened = null;
      throw error;
    }
  };
  const compareForever = async () => {
    for (; !stopped; await Bun.sleep(COMPARE_MS)) await compare();
  };
  const ended = compareForever();

  const onReplica =
    <Args extends unknown[], T>(read: (store: Store, ...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (current !== null) {
        try {
          return await Promise.race([read(current.replica, ...args), current.gone]);
        } catch (error) {
          if (!(error instanceof StoreError && RETRY_ON_PRIMARY.has(error.code))) throw error;
        }
      }
      onFallback();
      return read(primary, ...args);
    };

  const reads: ReplicatedReads = {
    chain: onReplica(async (from, chainId) => {
      const state = await from.chain(chainId);
      if (state === null && from !== primary)
        throw new StoreError('not-started', 'The replica does not have the chain yet.', { chainId });
      return state;
    }),
    // Operators want the newest state, and a stale one rather than none.
    chains: async () => {
      try {
        return await primary.chains();
      } catch (error) {
        if (current === null) throw error;
        return current.replica.chains();
      }
    },
    pin: onReplica((from, ...args) => from.pin(...args)),
    check: onReplica((from, ...args) => from.check(...args)),
    explain: onReplica((from, ...args) => from.explain(...args)),
    checkMany: onReplica((from, ...args) => from.checkMany(...args)),
    list: onReplica((from, ...args) => from.list(...args)),
    listDetailed: onReplica((from, ...args) => from.listDetailed(...args)),
    listPacked: onReplica((from, ...args) => from.listPacked(...args)),
    listNow: onReplica((from, ...args) => from.listNow(...args)),
    vaults: onReplica((from, ...args) => from.vaults(...args)),
    delegates: onReplica((from, ...args) => from.delegates(...args)),
    ownerGrants: onReplica((from, ...args) => from.ownerGrants(...args)),
    exclusiveOwners: onReplica((from, ...args) => from.exclusiveOwners(...args)),
    history: onReplica((from, ...args) => from.history(...args)),
    changes: onReplica(async (from, query) => {
      const page = await from.changes(query);
      // To the replica a cursor that is ahead of it looks like one of a lost history.
      if (from !== primary && page.chain.revision < (query.after?.revision ?? 0))
        throw new StoreError('rewritten', 'The replica is behind the cursor.');
      return page;
    }),
    blockAt: onReplica((from, ...args) => from.blockAt(...args)),
  };
  return {
    store: { ...primary, ...reads } satisfies Store,
    /** Whether reads go to the replica now. */
    isFresh: () => current !== null,
    async stop() {
      stopped = true;
      await ended;
      current?.leave();
      await (await opened?.catch(() => null))?.close();
    },
  };
}

/** Says which chain of the replica lags; null if it has every expected commit. */
function findLag(states: readonly ChainState[], expected: readonly ChainState[] | null): string | null {
  const commits = new Map(states.map((state) => [state.chainId, state.commits]));
  const behind = expected?.find(({ chainId, commits: wanted }) => (commits.get(chainId) ?? -1) < wanted);
  return behind === undefined ? null : `Chain ${behind.chainId} is behind.`;
}
