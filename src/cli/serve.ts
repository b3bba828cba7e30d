// delegations serve: the store and the API in one process.

import { createDenials } from '../chain/denials.ts';
import { startServer } from '../http/server.ts';
import { NETWORKS } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import { type Config, readConfig } from './config.ts';
import { startFollowing } from './following.ts';
import { batched, createLog } from './log.ts';
import { stopSignal } from './stop-signal.ts';

export const SERVE_HELP = `Usage: delegations serve

Opens the store and answers over HTTP until it is told to stop (SIGINT or SIGTERM).
Chains with an RPC_URL_<chainId> are followed by a second process that it starts and looks after.
`;

/** How often the store is asked for chains that are new in it. */
const CHAINS_MS = 2000;

export async function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const config = readConfig(environment);
  const log = createLog(
    config.logLevel,
    batched((text) => process.stdout.write(text)),
  );
  const onError = (error: unknown) => log('error', 'failed', { error: String(error) });
  const store = await openStore(config.databaseUrl);
  const chainIds = new Set(config.chains.keys());
  const addChains = async () => {
    for (const { chainId } of await store.chains()) if (NETWORKS.has(chainId)) chainIds.add(chainId);
  };
  await addChains();
  const denials = createDenials();
  const following = config.chains.size > 0 ? startFollowing(log, denials) : null;
  const server = startServer({
    ...config,
    store,
    chainIds,
    figures: () => following?.figures() ?? [],
    now: () => Date.now() / 1000,
    maxLag: maxLagOf(config),
    onError,
    onDenied: denials.add,
    onAnswer: (answered) => log('info', 'request', answered),
  });
  const chains = setInterval(() => void addChains().catch(onError), CHAINS_MS);
  log('info', 'listening', { url: server.url, metrics: server.metricsUrl, chainIds: [...chainIds] });
  await stopSignal(log);
  clearInterval(chains);
  await Promise.all([server.stop(), following?.stop()]);
  await store.close();
  log('info', 'stopped');
}

/** The operator's limit, or the network's. */
const maxLagOf =
  ({ maxLag }: Config) =>
  (chainId: number) =>
    maxLag.get(chainId) ?? NETWORKS.get(chainId)?.maxLagSeconds ?? 0;
