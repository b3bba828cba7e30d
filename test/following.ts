// A follower under test: over fake nodes, by a clock that the test moves.

import type { FollowerEvent } from '../src/chain/followed.ts';
import { createFollower, type Follower, type FollowerOptions } from '../src/chain/follower.ts';
import { createProviders } from '../src/chain/providers.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './engines.ts';
import type { FakeNode } from './fake-node.ts';
import { MAINNET } from './vectors.ts';

export interface Following {
  readonly store: Store;
  readonly events: FollowerEvent[];
  readonly errors: Error[];
  follower: Follower;
  /** Milliseconds. */
  clock: number;
  /** Ticks until there is nothing more to do at once; what goes wrong is kept in `errors`. */
  settle(most?: number): Promise<void>;
  /** A new follower on the same store, as after a restart. */
  restart(): void;
  close(): Promise<void>;
}

export async function following(
  nodes: readonly FakeNode[],
  more: Partial<FollowerOptions> & { firstBlock: number; clock: number; deadlineMs?: number },
): Promise<Following> {
  const store = await openStore(`sqlite:${temporaryPath('following.db')}`);
  const { clock, deadlineMs = 5000, ...options } = more;
  const start = () =>
    createFollower({
      network: MAINNET,
      store,
      providers: createProviders(
        1,
        nodes.map(({ url }) => url),
        { deadlineMs },
        () => 0.5,
      ),
      now: () => one.clock,
      onEvent: (event) => one.events.push(event),
      ...options,
    });
  const one: Following = {
    store,
    events: [],
    errors: [],
    clock,
    follower: null as unknown as Follower,
    async settle(most = 20) {
      for (let left = most; left > 0; left--) {
        try {
          if (!(await one.follower.tick()).more) return;
        } catch (error) {
          one.errors.push(error as Error);
          // As the follower's own loop does: it waits a while before it asks again.
          one.clock += 2000;
        }
      }
    },
    restart() {
      one.follower = start();
    },
    close: () => store.close(),
  };
  one.restart();
  return one;
}
