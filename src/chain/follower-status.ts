// How a chain's follower stands, in figures: for the log, the terminal, /networks and the metrics.

import type { FollowerEvent } from './context.ts';

export interface ProviderStatus {
  readonly name: string;
  /** Fine, or resting after a failure. */
  readonly healthy: boolean;
  /** In a few words of our own, fit for anyone; what the node itself said is for the log. */
  readonly ailment: string | null;
}

export interface FollowerStatus {
  readonly chainId: number;
  readonly firstBlock: number | null;
  readonly block: number | null;
  readonly tip: number | null;
  /** Logs written since the start, and in the last seconds. */
  readonly logs: number;
  readonly logsPerSecond: number;
  /** Until the tip at this rate; null where it cannot be told. */
  readonly secondsLeft: number | null;
  readonly providers: readonly ProviderStatus[];
  /** Calls by method. */
  readonly calls: Readonly<Record<string, number>>;
  /** What happened how often. */
  readonly events: Readonly<Partial<Record<FollowerEvent['type'], number>>>;
  /** Final blocks that were compared again. */
  readonly audited: number;
  /** Answers of the registry that were compared with ours. */
  readonly compared: number;
  /** Another program follows the chain into this store, and this one waits for its turn. */
  readonly standby: boolean;
  readonly failures: number;
}

/** Whole blocks read, of all there are, from 0 to 1. */
export function backfillShare({ firstBlock, block, tip }: FollowerStatus): number {
  if (firstBlock === null || block === null || tip === null) return 0;
  return tip <= firstBlock ? 1 : Math.min(1, (block - firstBlock + 1) / (tip - firstBlock + 1));
}

/** One chain in a line, for people. */
export function formatStatus(name: string, figures: FollowerStatus): string {
  const { block, tip, logsPerSecond, secondsLeft } = figures;
  const share = `${(100 * backfillShare(figures)).toFixed(1)} %`.padStart(7);
  const blocks = `${block ?? '–'} of ${tip ?? '–'}`;
  const left = secondsLeft === null ? '' : `, ${timeOf(secondsLeft)} left`;
  return `${name.padEnd(18)} ${share}  block ${blocks}, ${Math.round(logsPerSecond)} events/s${left}`;
}

function timeOf(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
