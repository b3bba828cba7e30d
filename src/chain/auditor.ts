// The audit that never ends: some final blocks, and some pairs, every few minutes, from the first block to the newest.

import type { Network } from '../registry/network.ts';
import type { Store } from '../store/store.ts';
import type { Follower } from './follower.ts';
import { questionsOf } from './pairs.ts';

export interface Auditor {
  /** Does a little where it is time; called between ticks. */
  run(): Promise<void>;
  /** Blocks compared so far. */
  readonly blocks: number;
}

const EVERY_MS = 300_000;
const BLOCKS = 2000;
const PAIRS = 4;

export function createAuditor(follower: Follower, { chainId }: Network, store: Store, now: () => number): Auditor {
  let [ranAt, from, blocks] = [now(), 0, 0];
  return {
    async run() {
      const { firstBlock = 0, verified = null } = follower.state ?? {};
      if (now() - ranAt < EVERY_MS || verified === null) return;
      ranAt = now();
      if (from < firstBlock || from > verified) from = firstBlock;
      const to = Math.min(from + BLOCKS - 1, verified);
      if ((await follower.audit(from, to)) === null) return;
      blocks += to - from + 1;
      const logs = await store.logs(chainId, { from, to, limit: PAIRS });
      from = to + 1;
      await follower.auditPairs(questionsOf(logs).slice(0, PAIRS));
    },
    get blocks() {
      return blocks;
    },
  };
}
