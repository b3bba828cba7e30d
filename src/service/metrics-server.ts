// Serves /metrics on a port of its own.

import { drain, listen, type RunningServer, serverUrl } from '../http/listener.ts';
import type { Service } from '../http/service.ts';
import { chainStatuses } from '../http/status.ts';
import type { Metrics, MetricsView, StoreMetrics } from './metrics.ts';

export interface MetricsOptions
  extends Pick<Service, 'store' | 'chainIds' | 'now' | 'maxLag' | 'sightings' | 'sandbox' | 'onError'> {
  readonly metricsHost: string;
  readonly metricsPort: number;
  readonly metrics: Metrics;
  /** Everything but the store's metrics. */
  readonly view: () => Omit<MetricsView, 'store'>;
}

const DRAIN_SECONDS = 5;

export function startMetrics(options: MetricsOptions): RunningServer {
  const { metricsHost, metricsPort, metrics, view } = options;
  const serve = () =>
    Bun.serve({
      hostname: metricsHost,
      port: metricsPort,
      development: false,
      reusePort: false,
      routes: {
        '/metrics': async () =>
          new Response(metrics.render({ ...view(), store: await storeMetrics(options) }), {
            headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
          }),
      },
      fetch: () => new Response('Not found. The metrics are at /metrics.\n', { status: 404 }),
    });
  const address = { host: metricsHost, port: metricsPort, names: ['METRICS_HOST', 'METRICS_PORT'] } as const;
  const server = listen(serve, address);
  return { url: `${serverUrl(server)}/metrics`, stop: () => drain(server, DRAIN_SECONDS) };
}

/** Null while the store is unreachable, so that the other metrics are still served. */
async function storeMetrics(options: MetricsOptions): Promise<StoreMetrics | null> {
  try {
    return { bytes: await options.store.size(), chains: await chainStatuses(options) };
  } catch (error) {
    options.onError?.(error);
    return null;
  }
}
