// Decides whether old history is read from an archive service or from the chain's own node. Whichever brings more blocks a second is asked,
// so that a slow service costs a moment now and then. One that is slow or fails is left alone for a while.

import type { Network } from '../../registry/network.ts';
import { readHistoryService, type ServedPart } from '../rpc/history-service.ts';

/** Each is measured for so long before one is chosen. */
const SAMPLE_MS = 4000;
const FIRST_PAUSE_MS = 30_000;
/** Of a service that is slower than the node, and of one that fails. Each pause is twice as long as the one before. */
const SLOW_PAUSE_MS = 600_000;
const FAILED_PAUSE_MS = 3_600_000;

type Source = 'node' | 'service';

export type HistorySource = ReturnType<typeof createHistorySource>;

export function createHistorySource(url: string, network: Network, ticks: () => number) {
  const rates: Record<Source, number | null> = { node: null, service: null };
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let [slow, failures] = [0, 0];
  const pause = (times: number, mostMs: number) => {
    pausedUntil = ticks() + Math.min(mostMs, FIRST_PAUSE_MS * 2 ** times);
    rates.service = null;
  };

  return {
    /** Who reads next, and for how long at most. */
    next(tickMs: number): { readonly source: Source; readonly ms: number } {
      if (ticks() < pausedUntil) return { source: 'node', ms: tickMs };
      if (rates.node === null) return { source: 'node', ms: SAMPLE_MS };
      if (rates.service === null) return { source: 'service', ms: SAMPLE_MS };
      if (rates.service > rates.node) {
        slow = 0;
        return { source: 'service', ms: tickMs };
      }
      // Asked again after the pause: it may have been a bad moment.
      pause(slow++, SLOW_PAUSE_MS);
      return { source: 'node', ms: tickMs };
    },
    measured(source: Source, blocks: number, ms: number): void {
      if (ms > 0) rates[source] = blocks / ms;
      if (source === 'service' && blocks > 0) failures = 0;
    },
    failed: () => pause(failures++, FAILED_PAUSE_MS),
    read: (from: number, to: number, signal: AbortSignal): AsyncGenerator<ServedPart> =>
      readHistoryService(url, network, from, to, { signal }),
  };
}
