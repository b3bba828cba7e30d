// The status of a chain's follower: for the log, the terminal, /networks and the metrics.

import type { ProviderCause } from '../../api/provider-causes.ts';
import type { NetworkRecord } from '../../api/responses.ts';
import type { FollowerEvent } from '../compare/context.ts';
import type { RpcStats } from '../rpc/rpc-stats.ts';
import type { Evidence } from './live.ts';

/** What the API shows of it is described there. */
export interface FollowerStatus extends Omit<NonNullable<NetworkRecord['progress']>, 'share'> {
  readonly chainId: number;
  readonly firstBlock: number | null;
  readonly block: number | null;
  readonly tip: number | null;
  /** Logs written since the start. */
  readonly logs: number;
  /** Failures by provider and cause. */
  readonly providerFailures: Readonly<Record<string, Readonly<Partial<Record<ProviderCause, number>>>>>;
  readonly rpc: RpcStats;
  /** Events by type. */
  readonly events: Readonly<Partial<Record<FollowerEvent['type'], number>>>;
  /** New blocks by how their logs, or that they have none, are known. */
  readonly evidence: Readonly<Record<Evidence, number>>;
  /** Another process holds the lease, and this one waits for it. */
  readonly standby: boolean;
  /** Failed ticks. */
  readonly failures: number;
}

/** Indexed blocks as a share of all blocks, from 0 to 1. */
export function backfillShare({ firstBlock, block, tip }: FollowerStatus): number {
  if (firstBlock === null || block === null || tip === null) return 0;
  return tip <= firstBlock ? 1 : Math.min(1, (block - firstBlock + 1) / (tip - firstBlock + 1));
}

/** One line for the terminal. */
export function formatStatus(name: string, status: FollowerStatus): string {
  const { block, tip, logsPerSecond, secondsLeft } = status;
  const share = `${(100 * backfillShare(status)).toFixed(1)} %`.padStart(7);
  const blocks = `${block ?? '–'} of ${tip ?? '–'}`;
  const left = secondsLeft === null ? '' : `, ${formatDuration(secondsLeft)} left`;
  return `${name.padEnd(18)} ${share}  block ${blocks}, ${Math.round(logsPerSecond)} events/s${left}`;
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
