// The lag of each chain over the last day. Samples come every ten minutes, so a process reads them once a minute at most.

import type { NetworkRecord } from '../api/responses.ts';
import { LAG_KEPT_SECONDS, LAG_STEP_SECONDS, type LagSample } from '../store/lag.ts';
import type { Store } from '../store/store.ts';
import type { Service } from './service.ts';

type LagHistory = NonNullable<NetworkRecord['lagHistory']>;
type Histories = ReadonlyMap<number, LagHistory>;

const READ_EVERY_SECONDS = 60;
const KEPT = new WeakMap<Store, { readonly at: number; readonly histories: Promise<Histories> }>();

/** By chain. Empty if they cannot be read: the state of the chains does not depend on them. */
export function lagHistories({ store, now, onError }: Pick<Service, 'store' | 'now' | 'onError'>): Promise<Histories> {
  const at = now();
  const kept = KEPT.get(store);
  if (kept !== undefined && Math.abs(at - kept.at) < READ_EVERY_SECONDS) return kept.histories;
  const histories = readHistories(store, at).catch((error): Histories => {
    onError?.(error);
    return new Map();
  });
  KEPT.set(store, { at, histories });
  return histories;
}

async function readHistories(store: Store, now: number): Promise<Histories> {
  /** The step that has not ended yet. */
  const current = Math.floor(now / LAG_STEP_SECONDS) * LAG_STEP_SECONDS;
  const samples = (await store.lags(current - LAG_KEPT_SECONDS)).filter(({ at }) => at < current);
  const byChain = Map.groupBy(samples, ({ chainId }) => chainId);
  return new Map([...byChain].map(([chainId, ofChain]) => [chainId, historyOf(ofChain, current)]));
}

/** From the first sample to the last whole step, with null where there is no sample. */
export function historyOf(samples: readonly LagSample[], end: number): LagHistory {
  const since = samples[0]?.at ?? end;
  const seconds = Array.from<number | null>({ length: (end - since) / LAG_STEP_SECONDS }).fill(null);
  for (const sample of samples) seconds[(sample.at - since) / LAG_STEP_SECONDS] = sample.seconds;
  return { since, stepSeconds: LAG_STEP_SECONDS, seconds };
}
