// The part of the service that answers: the store, the keys, the limit and the API, in this process.

import { openAccounts } from '../accounts/accounts.ts';
import { createKeyRing } from '../accounts/key-ring.ts';
import { createSignIn } from '../accounts/sign-in.ts';
import { createDeniedSample, type DeniedSample } from '../chain/denied-sample.ts';
import type { FollowerStatus } from '../chain/follower-status.ts';
import { createGate } from '../http/admission.ts';
import { clockBehind, createSightings, lagOf } from '../http/freshness.ts';
import type { RunningServer } from '../http/listener.ts';
import type { Service } from '../http/reply.ts';
import { startServer } from '../http/server.ts';
import { NETWORKS } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import { withReplica } from '../store/replica.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { clockLog } from './clock-log.ts';
import type { Config } from './config.ts';
import { createLimits, type GroupWindows } from './limits.ts';
import { failureLog, type Log } from './log.ts';
import type { Health, Metrics } from './metrics.ts';
import { hearFigures } from './notices.ts';

export interface AnsweringOptions {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The chains that are followed beside it; all others that are in the store are found there. */
  readonly followed: Iterable<number>;
  readonly figures: () => readonly FollowerStatus[];
  readonly sandbox?: boolean;
  /** Where other processes listen on the same port, the windows that they all share. */
  readonly group?: GroupWindows;
}

export interface Answering
  extends RunningServer,
    Pick<Service, 'store' | 'chainIds' | 'now' | 'maxLag' | 'sightings' | 'sandbox'> {
  health(): Health;
  /** What callers were denied, where the followers are not told of it through the database. */
  takeDenied: DeniedSample['take'];
}

const FLUSH_MS = 2000;
/** How often the store is asked for chains that are new in it, and for how far they are: nobody may have asked meanwhile. */
const CHAINS_MS = 2000;

export async function startAnswering(options: AnsweringOptions): Promise<Answering> {
  const { config, log, metrics, sandbox = false, group = null } = options;
  const denials = createDeniedSample();
  const onError = failureLog(log);
  const started: (() => unknown)[] = [];
  const stop = async () => {
    for (const one of started.splice(0).reverse()) await one();
  };
  try {
    const primary = await openStore(config.databaseUrl);
    started.push(primary.close);
    const { replicaUrl } = config;
    const replicated = replicaUrl === null ? null : withReplica(primary, replicaUrl, { log, metrics });
    if (replicated !== null) started.push(replicated.stop);
    const store = replicated?.store ?? primary;
    const accounts = await openAccounts(config.databaseUrl);
    started.push(accounts.close);
    const keys = createKeyRing(accounts, { onError });
    // What it counted last is worth a moment, and no more.
    started.push(() => withTimeout(FLUSH_MS, keys.stop()).catch(onError));
    const limits = createLimits(config, log, metrics, group);
    started.push(limits.close);
    const gate = createGate({ ...limits, keys, proxies: config.proxies });

    const chainIds = new Set(options.followed);
    const service = { store, chainIds, sandbox, ...freshnessOf(config) };
    const tellClock = clockLog(log);
    const lookAtChains = async () => {
      for (const state of await store.chains()) {
        if (!NETWORKS.has(state.chainId)) continue;
        chainIds.add(state.chainId);
        const now = service.now();
        lagOf(state, now, service);
        tellClock(state.chainId, clockBehind(state, now, service));
      }
    };
    await lookAtChains();
    // Where the followers may be elsewhere, they tell it through the database.
    const heard = primary.notices && hearFigures(primary.notices, denials, onError);
    if (heard !== null) started.push(heard.stop);

    // What people reach us by is known when we listen, unless the operator has said it.
    let origins: readonly string[] = config.publicUrl === null ? [] : [config.publicUrl];
    const nodes = new Map([...config.chains].map(([chainId, { rpcUrls }]) => [chainId, rpcUrls]));
    const signIn = await createSignIn({ sessions: accounts.sessions, origins: () => origins, nodes, now: service.now });
    const developers = { accounts, signIn, origins: () => origins, quota: config.keysPerWallet };
    const { publicUrl: _, ...settings } = config;
    const server = startServer({
      ...settings,
      ...service,
      ...(config.selfServiceKeys ? { developers } : {}),
      ...(config.publicUrl === null ? {} : { publicUrl: config.publicUrl }),
      figures: () => mergedFigures(options.figures(), heard?.figures() ?? []),
      gate,
      sharesPort: group !== null,
      onError,
      onDenied: denials.add,
      onUnread: (chainId, question) => denials.add(chainId, question, 'unread'),
      onAnswer(answered) {
        metrics.observe(answered.route, answered.status, answered.seconds);
        log('info', 'request', answered);
      },
    });
    started.push(server.stop);
    const { port } = new URL(server.url);
    if (config.publicUrl === null) origins = ['localhost', '127.0.0.1'].map((host) => `http://${host}:${port}`);
    const chains = setInterval(() => void lookAtChains().catch(onError), CHAINS_MS);
    started.push(() => clearInterval(chains));
    return {
      ...service,
      url: server.url,
      health: () => ({ limiterShared: limits.isShared(), replicaFresh: replicated?.isFresh() ?? null }),
      takeDenied: () => (heard === null ? denials.take() : []),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What is heard is of whoever follows; a follower of our own may only be standing by. */
function mergedFigures(own: readonly FollowerStatus[], heard: readonly FollowerStatus[]): readonly FollowerStatus[] {
  if (heard.length === 0) return own;
  return [...new Map([...own, ...heard].map((one) => [one.chainId, one])).values()];
}

/** What a block's age is judged by: two clocks, and the operator's limit or the network's. */
export const freshnessOf = ({ maxLag }: Pick<Config, 'maxLag'>): Pick<Service, 'now' | 'maxLag' | 'sightings'> => ({
  now: () => Date.now() / 1000,
  sightings: createSightings(),
  maxLag: (chainId) => maxLag.get(chainId) ?? NETWORKS.get(chainId)?.maxLagSeconds ?? 0,
});
