// delegations serve: the store and the API in one process.

import { startServer } from '../http/server.ts';
import { NETWORKS } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import { type Config, readConfig } from './config.ts';
import { batched, createLog, type Log } from './log.ts';

export const SERVE_HELP = `Usage: delegations serve

Opens the store and answers over HTTP until it is told to stop (SIGINT or SIGTERM).
It serves the chains that the store has; following chains is not built yet.
`;

export async function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const config = readConfig(environment);
  const log = createLog(
    config.logLevel,
    batched((text) => process.stdout.write(text)),
  );
  const store = await openStore(config.databaseUrl);
  const chainIds = new Set((await store.chains()).map(({ chainId }) => chainId));
  const server = startServer({
    ...config,
    store,
    chainIds,
    now: () => Math.floor(Date.now() / 1000),
    maxLag: maxLagOf(config),
    onError: (error) => log('error', 'a request failed', { error: String(error) }),
    onAnswer: (answered) => log('info', 'request', answered),
  });
  log('info', 'listening', { url: server.url, metrics: server.metricsUrl, chainIds: [...chainIds] });
  await stopSignal(log);
  await server.stop();
  await store.close();
  log('info', 'stopped');
}

/** The operator's limit, or the network's. */
const maxLagOf =
  ({ maxLag }: Config) =>
  (chainId: number) =>
    maxLag.get(chainId) ?? NETWORKS.get(chainId)?.maxLagSeconds ?? 0;

const stopSignal = (log: Log): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        log('info', 'stopping', { signal });
        resolve();
      });
    }
  });
