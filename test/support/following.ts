// Runs a follower on fake nodes, with a clock that the test controls.

import type { FollowerEvent } from '../../src/chain/compare/context.ts';
import { createFollower, type Follower, type FollowerOptions } from '../../src/chain/follow/follower.ts';
import { createProviderPool, type ProviderPool } from '../../src/chain/rpc/provider-pool.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryPath } from './engines.ts';
import { MAINNET } from './vectors.ts';

export type Following = Awaited<ReturnType<typeof following>>;

export async function following(
  nodes: readonly { readonly url: string }[],
  more: Partial<FollowerOptions> & {
    firstBlock: number;
    clock: number;
    timeoutMs?: number;
    /** A shared store; without it, the follower gets a store that is closed with it. */
    sharedStore?: Store;
    /** Wraps the store for one run of the follower's process; called again at every restart. */
    storeOf?: (store: Store) => Store;
  },
) {
  const { clock, timeoutMs = 60_000, sharedStore, storeOf = (one) => one, network = MAINNET, ...options } = more;
  const store = sharedStore ?? (await openStore(`sqlite:${temporaryPath('following.db')}`));
  const urls = nodes.map(({ url }) => url);
  const start = (): Follower =>
    createFollower({
      network,
      store: storeOf(store),
      providers: one.providers,
      now: () => one.clock,
      ticks: () => one.clock,
      onEvent: (event) => one.events.push(event),
      ...options,
    });
  const one = {
    store,
    events: [] as FollowerEvent[],
    errors: [] as Error[],
    /** Milliseconds. */
    clock,
    follower: null as unknown as Follower,
    providers: null as unknown as ProviderPool,
    /** Ticks until there is nothing left to do; errors are collected in `errors`. */
    async catchUp(most = 20): Promise<void> {
      for (let left = most; left > 0; left--) {
        try {
          if (!(await one.follower.tick()).more) return;
        } catch (error) {
          one.errors.push(error as Error);
          // Like the follower's own loop, wait before the next tick.
          one.clock += 2000;
        }
      }
    },
    /** A new follower on the same store, as after a restart. */
    restart(): void {
      one.providers = createProviderPool(network, urls, { timeoutMs, random: () => 0.5 });
      one.follower = start();
    },
    close: async () => (sharedStore === undefined ? store.close() : undefined),
  };
  one.restart();
  return one;
}
