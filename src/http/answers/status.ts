// The status of the chains: /networks for callers, /ready and /health for orchestrators.

import { stringify } from '../../api/json-text.ts';
import { HEALTH_OPERATION, NETWORKS_OPERATION, READY_OPERATION } from '../../api/operations.ts';
import { Problem } from '../../api/problems.ts';
import type { NetworkRecord } from '../../api/responses.ts';
import type { Exact, Shape, TypeOf } from '../../api/shape.ts';
import { textResponse } from '../../api/sized-response.ts';
import { backfillShare, type FollowerStatus } from '../../chain/follow/follower-status.ts';
import { checksummed } from '../../registry/checksum.ts';
import { NETWORKS, type Network } from '../../registry/network.ts';
import type { Version } from '../../registry/versions.ts';
import { StoreError } from '../../store/errors.ts';
import { describeHalt } from '../../store/halt.ts';
import { LAG_KEPT_SECONDS, LAG_STEP_SECONDS, type LagSample } from '../../store/lag.ts';
import type { ChainState, Store } from '../../store/store.ts';
import { awaitsConfirmation, clockBehind, confirmedShare, lagOf } from '../context/freshness.ts';
import type { Service } from '../context/service.ts';
import { CORS, JSON_TYPE } from '../wire/answer.ts';

type Chains = Pick<Service, 'store' | 'chainIds' | 'now' | 'maxLag' | 'sightings' | 'sandbox' | 'trustsImports'>;

export type ChainStatus = Awaited<ReturnType<typeof chainStatuses>>[number];

/** The status of every served chain that is in the store. */
export async function chainStatuses(service: Chains) {
  const { store, chainIds, maxLag } = service;
  const states = (await store.chains()).filter(({ chainId }) => chainIds.has(chainId));
  return states.map((state) => {
    const now = service.now();
    const lagSeconds = state.head === null ? Number.POSITIVE_INFINITY : lagOf(state, now, service);
    // 0 while the machine's clock can be right.
    const clockBehindSeconds = clockBehind(state, now, service);
    const isCurrent = clockBehindSeconds === 0 && lagSeconds <= maxLag(state.chainId);
    const isKnown = !state.proving && !awaitsConfirmation(state, service);
    const ready = state.halt === null && isKnown && isCurrent;
    return { state, lagSeconds, clockBehindSeconds, ready };
  });
}

export const answerNetworks = async (service: Service): Promise<Response> =>
  jsonResponse(NETWORKS_OPERATION.answer.body, await networkRecords(service));

async function networkRecords(service: Service) {
  const known = new Map((await chainStatuses(service)).map((chain) => [chain.state.chainId, chain]));
  const histories = await lagHistories(service);
  const unproven = await service.store.newestUnproven();
  const statuses = new Map((service.followerStatus?.() ?? []).map((one) => [one.chainId, one]));
  return [...service.chainIds]
    .sort((a, b) => a - b)
    .map((chainId) => {
      const network = NETWORKS.get(chainId);
      const chain = known.get(chainId);
      return {
        chainId,
        name: network?.name ?? null,
        testnet: network?.testnet ?? null,
        registries: { v1: registryAddress(network, 1), v2: registryAddress(network, 2) },
        ready: chain?.ready ?? false,
        firstBlock: chain?.state.firstBlock ?? null,
        partial: chain?.state.partial ?? null,
        head: chain?.state.head ?? null,
        finalizedBlock: chain?.state.verified ?? null,
        imported: importedOf(chain?.state),
        confirmedBlock: chain?.state.agreedBlock ?? null,
        proofs: proofsOf(chain?.state, unproven.get(chainId), statuses.get(chainId)),
        disputedWallets: new Set(chain?.state.disputes.map(({ vault }) => vault)).size,
        chainBlock: chain?.state.tip ?? null,
        progress: progressOf(statuses.get(chainId)),
        halt: haltOf(chain?.state),
        lagSeconds: chain && Number.isFinite(chain.lagSeconds) ? chain.lagSeconds : null,
        maxLagSeconds: service.maxLag(chainId),
        lagHistory: histories.get(chainId) ?? null,
        clockBehindSeconds: chain?.clockBehindSeconds ?? 0,
      };
    });
}

function registryAddress(network: Network | undefined, version: Version): string | null {
  const address = network?.registries[version];
  return address === undefined ? null : checksummed(address);
}

const importedOf = (state?: ChainState) =>
  state?.imported ? { to: state.imported.to, confirmed: confirmedShare(state, state.imported) } : null;

function proofsOf(state?: ChainState, newestUnproven?: number, status?: FollowerStatus) {
  const { bloom = 0, receipts = 0, compared = 0 } = status?.evidence ?? {};
  const blocks = bloom + receipts + compared;
  const logsFrom = newestUnproven === undefined ? state?.firstBlock : newestUnproven + 1;
  return {
    mode: state?.provable == null ? null : state.provable ? ('proven' as const) : ('compared' as const),
    logsFrom: state?.provable && state.head !== null && logsFrom !== undefined ? logsFrom : null,
    share: blocks === 0 ? null : (bloom + receipts) / blocks,
  };
}

/** Null if this process has no status of the follower. */
const progressOf = (status: FollowerStatus | undefined) =>
  status === undefined
    ? null
    : {
        share: backfillShare(status),
        logsPerSecond: Math.round(status.logsPerSecond),
        secondsLeft: status.secondsLeft === null ? null : Math.round(status.secondsLeft),
        audited: status.audited,
        compared: status.compared,
        failing: status.failing,
        providers: status.providers.map(({ name, healthy, cause }) => ({ name, healthy, cause })),
      };

const haltOf = (state: ChainState | undefined) =>
  state?.halt == null
    ? null
    : { code: state.halt.code, since: state.halt.since, ...describeHalt(state.chainId, state.halt) };

/** Process is alive. */
export const answerHealth = (): Response => jsonResponse(HEALTH_OPERATION.answer.body, { status: 'ok' });

/** The database is available, and at least one chain is up to date. */
export async function answerReady(service: Service): Promise<Response> {
  if (service.isStopping?.()) throw new Problem('not-ready', 'This process is stopping.', { retryAfter: 5 });
  const chains = await chainStatuses(service).catch((error) => {
    if (error instanceof StoreError && error.code === 'newer-schema') throw error;
    service.onError?.(error);
    throw new Problem('not-ready', 'The database is unavailable.', { retryAfter: 5 });
  });
  const ready = chains.filter((chain) => chain.ready).map(({ state }) => state.chainId);
  if (ready.length === 0) throw new Problem('not-ready', 'No chain is up to date.', { retryAfter: 5 });
  return jsonResponse(READY_OPERATION.answer.body, { status: 'ready', chainIds: ready });
}

const STATUS_HEADERS = { ...CORS, 'content-type': JSON_TYPE, 'cache-control': 'no-store' };

const jsonResponse = <S extends Shape<unknown>, const T extends TypeOf<S>>(
  body: S,
  value: T & Exact<T, TypeOf<S>>,
): Response => textResponse(stringify<S, T>(body, value), { headers: STATUS_HEADERS });

type LagHistory = NonNullable<NetworkRecord['lagHistory']>;
type Histories = ReadonlyMap<number, LagHistory>;

/** Samples come every ten minutes. */
const READ_EVERY_SECONDS = 60;
const KEPT = new WeakMap<Store, { readonly at: number; readonly histories: Promise<Histories> }>();

/** By chain. Empty if they cannot be read: the state of the chains does not depend on them. */
function lagHistories({ store, now, onError }: Pick<Service, 'store' | 'now' | 'onError'>): Promise<Histories> {
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
function historyOf(samples: readonly LagSample[], end: number): LagHistory {
  const since = samples[0]?.at ?? end;
  const seconds = Array.from<number | null>({ length: (end - since) / LAG_STEP_SECONDS }).fill(null);
  for (const sample of samples) seconds[(sample.at - since) / LAG_STEP_SECONDS] = sample.seconds;
  return { since, stepSeconds: LAG_STEP_SECONDS, seconds };
}
