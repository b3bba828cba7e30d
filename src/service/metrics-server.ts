// The socket of the metrics, apart from that of the API.

import { drained, type RunningServer, urlOf } from '../http/listener.ts';
import type { Service } from '../http/service.ts';
import { chainStatuses } from '../http/status.ts';
import type { Metrics, MetricsView, StoreMetrics } from './metrics.ts';

export interface MetricsOptions
  extends Pick<Service, 'store' | 'chainIds' | 'now' | 'maxLag' | 'sightings' | 'sandbox' | 'onError'> {
  readonly metricsHost: string;
  readonly metricsPort: number;
  readonly metrics: Metrics;
  /** What is known besides the store. */
  readonly view: () => Omit<MetricsView, 'store'>;
}

export function startMetrics(options: MetricsOptions): RunningServer {
  const { metricsHost, metricsPort, metrics, view } = options;
  const server = Bun.serve({
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
    fetch: () => new Response('Metrics are at /metrics.\n', { status: 404 }),
  });
  return { url: `${urlOf(server)}/metrics`, stop: () => drained(server) };
}

/** Null where the store cannot be reached: the rest is still worth telling. */
async function storeMetrics(options: MetricsOptions): Promise<StoreMetrics | null> {
  try {
    return { bytes: await options.store.size(), chains: await chainStatuses(options) };
  } catch (error) {
    options.onError?.(error);
    return null;
  }
}
