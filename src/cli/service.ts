// The whole service in this process: the store and the API, and beside it the process that follows.

import { openAccounts } from '../accounts/accounts.ts';
import { createKeyRing } from '../accounts/key-ring.ts';
import { createSignIn } from '../accounts/sign-in.ts';
import { createDenials } from '../chain/denials.ts';
import { createGate } from '../http/gate.ts';
import { createLimiter } from '../http/limiter.ts';
import { type RunningServer, startServer } from '../http/server.ts';
import { NETWORKS } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import type { Environment } from './command.ts';
import { type Config, readConfig } from './config.ts';
import { startFollowing } from './following.ts';
import { batched, createLog, type Log } from './log.ts';
import { stopSignal } from './stop-signal.ts';

export interface RunningService extends Pick<RunningServer, 'url' | 'metricsUrl' | 'stop'> {
  readonly log: Log;
}

/** How often the store is asked for chains that are new in it. */
const CHAINS_MS = 2000;
/** Nobody who looks at pages comes near this. */
const PAGES_LIMIT = { most: 300, seconds: 10 };
/** Of what costs more. A page of the explorer that keeps itself new takes three of them. */
const LOOKUPS_LIMIT = { most: 40, seconds: 10 };

export interface ServiceOptions {
  readonly sandbox?: boolean;
  /** False where another program follows the chains. */
  readonly follows?: boolean;
}

export async function startService(environment: Environment, options: ServiceOptions = {}): Promise<RunningService> {
  const { sandbox = false, follows = true } = options;
  const config = readConfig(environment);
  const log = createLog(
    config.logLevel,
    batched((text) => process.stdout.write(text)),
  );
  const onError = (error: unknown) => log('error', 'failed', { error: String(error) });
  const started: (() => unknown)[] = [];
  const stop = async () => {
    for (const one of started.splice(0).reverse()) await one();
  };
  try {
    const store = await openStore(config.databaseUrl);
    started.push(store.close);
    const accounts = await openAccounts(config.databaseUrl);
    started.push(accounts.close);
    const keys = createKeyRing(accounts, { onError });
    started.push(keys.stop);
    const gate = createGate({
      anonymous: config.anonymousLimit && createLimiter(config.anonymousLimit),
      pages: createLimiter(PAGES_LIMIT),
      lookups: createLimiter(LOOKUPS_LIMIT),
      keys,
      proxies: config.proxies,
    });
    const chainIds = new Set(follows ? config.chains.keys() : []);
    const addChains = async () => {
      for (const { chainId } of await store.chains()) if (NETWORKS.has(chainId)) chainIds.add(chainId);
    };
    await addChains();
    const denials = createDenials();
    const following = follows && config.chains.size > 0 ? startFollowing(log, denials, environment) : null;
    if (following !== null) started.push(following.stop);
    // What people reach us by is known when we listen, unless the operator has said it.
    let origins: readonly string[] = config.publicUrl === null ? [] : [config.publicUrl];
    const now = () => Date.now() / 1000;
    const nodes = new Map([...config.chains].map(([chainId, { rpcUrls }]) => [chainId, rpcUrls]));
    const signIn = createSignIn({ sessions: accounts.sessions, origins: () => origins, nodes, now });
    const developers = { accounts, signIn, origins: () => origins, quota: config.keysPerWallet };
    const { publicUrl: _, ...settings } = config;
    const server = startServer({
      ...settings,
      ...(config.selfServiceKeys ? { developers } : {}),
      ...(config.publicUrl === null ? {} : { publicUrl: config.publicUrl }),
      store,
      chainIds,
      figures: () => following?.figures() ?? [],
      now,
      maxLag: maxLagOf(config),
      sandbox,
      gate,
      onError,
      onDenied: denials.add,
      onAnswer: (answered) => log('info', 'request', answered),
    });
    const { port } = new URL(server.url);
    if (config.publicUrl === null) origins = ['localhost', '127.0.0.1'].map((host) => `http://${host}:${port}`);
    const chains = setInterval(() => void addChains().catch(onError), CHAINS_MS);
    started.push(() => clearInterval(chains));
    log('info', 'listening', { url: server.url, metrics: server.metricsUrl, chainIds: [...chainIds] });
    return {
      ...server,
      log,
      async stop() {
        await Promise.all([server.stop(), following?.stop()]);
        await stop();
        log('info', 'stopped');
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The whole life of a service that a command starts. */
export async function runService(environment: Environment, options: ServiceOptions = {}): Promise<void> {
  const service = await startService(environment, options);
  await stopSignal(service.log);
  await service.stop();
}

/** The operator's limit, or the network's. */
export const maxLagOf =
  ({ maxLag }: Pick<Config, 'maxLag'>) =>
  (chainId: number) =>
    maxLag.get(chainId) ?? NETWORKS.get(chainId)?.maxLagSeconds ?? 0;
