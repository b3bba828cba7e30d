// How the chains stand: for callers at /networks, for orchestrators at /ready, for operators in the metrics.

import { Problem } from '../api/problems.ts';
import type { NetworkRecord } from '../api/records.ts';
import { backfillShare, type FollowerStatus } from '../chain/follower-status.ts';
import { NETWORKS } from '../registry/network.ts';
import { describeHalt } from '../store/halt.ts';
import type { ChainState } from '../store/store.ts';
import { clockBehind, lagOf } from './freshness.ts';
import { CORS, JSON_TYPE, type Service } from './reply.ts';

type Chains = Pick<Service, 'store' | 'chainIds' | 'now' | 'maxLag' | 'sightings' | 'sandbox'>;

export interface ChainStatus {
  readonly state: ChainState;
  readonly lagSeconds: number;
  /** 0 while the machine's clock can be right. */
  readonly clockBehindSeconds: number;
  readonly ready: boolean;
}

/** Every served chain that is in the store, with its lag. */
export async function chainStatuses(service: Chains): Promise<ChainStatus[]> {
  const { store, chainIds, maxLag } = service;
  const states = (await store.chains()).filter(({ chainId }) => chainIds.has(chainId));
  return states.map((state) => {
    const now = service.now();
    const lagSeconds = state.head === null ? Number.POSITIVE_INFINITY : lagOf(state, now, service);
    const clockBehindSeconds = clockBehind(state, now, service);
    const ready = state.halt === null && clockBehindSeconds === 0 && lagSeconds <= maxLag(state.chainId);
    return { state, lagSeconds, clockBehindSeconds, ready };
  });
}

export const answerNetworks = async (service: Service): Promise<Response> =>
  jsonResponse(await networkRecords(service));

async function networkRecords(service: Service): Promise<NetworkRecord[]> {
  const known = new Map((await chainStatuses(service)).map((chain) => [chain.state.chainId, chain]));
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
        registries: { v1: network?.registries[1] ?? null, v2: network?.registries[2] ?? null },
        ready: chain?.ready ?? false,
        firstBlock: chain?.state.firstBlock ?? null,
        partial: chain?.state.partial ?? null,
        head: headOf(chain?.state),
        finalizedBlock: chain?.state.verified ?? null,
        confirmedBlock: chain?.state.confirmed ?? null,
        chainBlock: chain?.state.tip ?? null,
        progress: progressOf(statuses.get(chainId)),
        halt: haltOf(chain?.state),
        lagSeconds: chain && Number.isFinite(chain.lagSeconds) ? chain.lagSeconds : null,
        maxLagSeconds: service.maxLag(chainId),
        clockBehindSeconds: chain?.clockBehindSeconds ?? 0,
      };
    });
}

/** How far the history is read, where this process knows. */
const progressOf = (status: FollowerStatus | undefined) =>
  status === undefined
    ? null
    : {
        share: backfillShare(status),
        logsPerSecond: Math.round(status.logsPerSecond),
        secondsLeft: status.secondsLeft === null ? null : Math.round(status.secondsLeft),
        audited: status.audited,
        compared: status.compared,
        providers: status.providers.map(({ name, healthy }) => ({ name, healthy })),
      };

/** Why the chain is halted, and what helps. */
const haltOf = (state: ChainState | undefined) =>
  state?.halt == null
    ? null
    : { code: state.halt.code, since: state.halt.since, ...describeHalt(state.chainId, state.halt) };

const headOf = (state: ChainState | undefined) => state?.head ?? null;

/** The process is alive; nothing else is asked. */
export const answerHealth = (): Response => jsonResponse({ status: 'ok' });

/** The store answers, and at least one chain does. */
export async function answerReady(service: Service): Promise<Response> {
  const chains = await chainStatuses(service).catch((error) => {
    service.onError?.(error);
    throw new Problem('not-ready', 'The store does not answer.', { retryAfter: 5 });
  });
  const ready = chains.filter((chain) => chain.ready).map(({ state }) => state.chainId);
  if (ready.length === 0) throw new Problem('not-ready', 'No chain is up to date.', { retryAfter: 5 });
  return jsonResponse({ status: 'ready', chainIds: ready });
}

const jsonResponse = (value: unknown) => new Response(JSON.stringify(value), { headers: STATUS_HEADERS });
const STATUS_HEADERS = { ...CORS, 'content-type': JSON_TYPE, 'cache-control': 'no-store' };
