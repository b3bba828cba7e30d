// The IPC messages between a worker and its parent.

import type { DeniedSample } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import type { Limit, LimitResult } from '../http/limits/limiter.ts';
import type { PoolStatus } from '../store/engine.ts';
import type { LimitName } from './limits.ts';
import type { Counts, Health } from './metrics.ts';

/** How often a worker sends its report, which is also its heartbeat. */
export const REPORT_MS = 1000;

export type ToWorker =
  | { readonly type: 'limit-result'; readonly id: number; readonly result: LimitResult }
  | { readonly type: 'follower-status'; readonly chains: readonly FollowerStatus[] };

export type FromWorker =
  | { readonly type: 'listening' }
  | {
      readonly type: 'consume';
      readonly id: number;
      readonly name: LimitName;
      readonly limit: Limit;
      readonly client: string;
      readonly cost: number;
    }
  | {
      readonly type: 'report';
      readonly counts: Counts;
      readonly health: Health;
      readonly pool: PoolStatus | null;
      readonly streams: number;
      readonly denied: ReturnType<DeniedSample['take']>;
    };
