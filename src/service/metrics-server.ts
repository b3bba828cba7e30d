// Serves /metrics on a port of its own, and exports the same metrics if the operator has an OpenTelemetry collector.

import { chainStatuses } from '../http/answers/status.ts';
import type { Service } from '../http/context/service.ts';
import { drain, type ListenAddress, listen, type RunningServer, serverUrl } from '../http/server/listener.ts';
import { withTimeout } from '../store/with-timeout.ts';
import type { WebhookStats } from '../webhooks/webhooks.ts';
import type { Config } from './config.ts';
import { createWarningLog, type Log } from './log.ts';
import { type Family, type Metrics, type MetricsView, prometheusText, type StoreMetrics } from './metrics.ts';

export interface MetricsOptions
  extends Pick<Service, 'store' | 'chainIds' | 'now' | 'maxLag' | 'sightings' | 'sandbox' | 'onError'>,
    Pick<Config, 'metricsHost' | 'metricsPort' | 'telemetry'> {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Absent if this process does not deliver webhooks. */
  readonly webhookStats?: (() => Promise<WebhookStats>) | undefined;
  /** Everything but the store's metrics. */
  readonly view: () => Omit<MetricsView, 'store'>;
}

/** A server of few routes on a port of its own. */
export const serveAt = (
  address: ListenAddress,
  routes: Readonly<Record<string, () => Response | Promise<Response>>>,
  fetch: () => Response,
) => {
  const options = { hostname: address.host, port: address.port, development: false, reusePort: false };
  return listen(() => Bun.serve({ ...options, routes, fetch }), address);
};

export const metricsAddress = ({ metricsHost: host, metricsPort: port }: Pick<Config, 'metricsHost' | 'metricsPort'>) =>
  ({ host, port, names: ['METRICS_HOST', 'METRICS_PORT'] }) as const;

const DRAIN_SECONDS = 5;
/** For the last export. */
const EXPORT_TIMEOUT_MS = 2000;

export function startMetrics(options: MetricsOptions): RunningServer {
  const { metrics, view } = options;
  const list = async () => metrics.list({ ...view(), store: await storeMetrics(options) });
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
  const server = serveAt(
    metricsAddress(options),
    { '/metrics': async () => new Response(prometheusText(await list()), { headers }) },
    () => new Response('Not found. The metrics are at /metrics.\n', { status: 404 }),
  );
  const exporting = startExport(options, list);
  return {
    url: `${serverUrl(server)}/metrics`,
    async stop() {
      await exporting.then((one) => one && withTimeout(EXPORT_TIMEOUT_MS, one.stop())).catch(options.onError);
      await drain(server, DRAIN_SECONDS);
    },
  };
}

/** Loads the exporter only if metrics are exported. */
async function startExport({ telemetry, log }: MetricsOptions, list: () => Promise<readonly Family[]>) {
  if (telemetry === null || telemetry.metricsUrl === null) return null;
  const { startMetricsExport } = await import('./otlp.ts');
  return startMetricsExport(telemetry.metricsUrl, telemetry, list, createWarningLog(log, 'metrics not exported'));
}

/** Null while the store is unreachable, so that the other metrics are still served. */
async function storeMetrics(options: MetricsOptions): Promise<StoreMetrics | null> {
  try {
    const stats = await options.webhookStats?.();
    return {
      bytes: await options.store.size(),
      chains: await chainStatuses(options),
      ...(stats === undefined ? {} : { webhooks: { ...stats, readAt: Date.now() } }),
    };
  } catch (error) {
    options.onError?.(error);
    return null;
  }
}
