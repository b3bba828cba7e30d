// What a worker and the process that started it tell each other.

import type { DeniedSample } from '../chain/denied-sample.ts';
import type { FollowerStatus } from '../chain/follower-status.ts';
import type { LimitResult } from '../http/limiter.ts';
import type { LimitName } from './limits.ts';
import type { Counts, Health } from './metrics.ts';

/** How often it tells what it counted; it is known to be alive by that. */
export const TELL_MS = 1000;

export type ToWorker =
  | { readonly type: 'verdict'; readonly id: number; readonly verdict: LimitResult }
  | { readonly type: 'followerStatus'; readonly chains: readonly FollowerStatus[] };

export type FromWorker =
  | { readonly type: 'listening' }
  | { readonly type: 'take'; readonly id: number; readonly name: LimitName; readonly client: string }
  | {
      readonly type: 'told';
      readonly counts: Counts;
      readonly health: Health;
      readonly denied: ReturnType<DeniedSample['take']>;
    };
