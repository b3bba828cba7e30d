// How the chains stand: for callers at /networks, for orchestrators at /ready, for operators in the metrics.

import { NETWORKS } from '../registry/network.ts';
import type { ChainState } from '../store/store.ts';
import type { ChainMetrics } from './metrics.ts';
import { Problem } from './problem.ts';
import { CORS, type Service } from './reply.ts';

/** Every served chain that is in the store, with its lag. */
export async function chainMetrics({ store, chainIds, now, maxLag }: Service): Promise<ChainMetrics[]> {
  const states = (await store.chains()).filter(({ chainId }) => chainIds.has(chainId));
  return states.map((state) => {
    const lagSeconds = state.head === null ? Number.POSITIVE_INFINITY : Math.max(0, now() - state.head.timestamp);
    return { state, lagSeconds, ready: lagSeconds <= maxLag(state.chainId) };
  });
}

export async function answerNetworks(service: Service): Promise<Response> {
  const known = new Map((await chainMetrics(service)).map((chain) => [chain.state.chainId, chain]));
  const networks = [...service.chainIds]
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
        head: headOf(chain?.state),
        finalizedBlock: chain?.state.verified ?? null,
        lagSeconds: chain && Number.isFinite(chain.lagSeconds) ? chain.lagSeconds : null,
        maxLagSeconds: service.maxLag(chainId),
      };
    });
  return Response.json(networks, { headers: { ...CORS, 'cache-control': 'no-cache' } });
}

const headOf = (state: ChainState | undefined) => state?.head ?? null;

/** The process is alive; nothing else is asked. */
export const answerHealth = (): Response =>
  Response.json({ status: 'ok' }, { headers: { ...CORS, 'cache-control': 'no-store' } });

/** The store answers, and at least one chain does. */
export async function answerReady(service: Service): Promise<Response> {
  const ready = (await chainMetrics(service)).filter((chain) => chain.ready).map(({ state }) => state.chainId);
  if (ready.length === 0) throw new Problem('not-ready', 'No chain is up to date.', { retryAfter: 5 });
  return Response.json({ status: 'ready', chainIds: ready }, { headers: { ...CORS, 'cache-control': 'no-store' } });
}
