// The sockets: the API and its metrics, each on a port of its own.

import type { Server } from 'bun';
import { type Answered, type AppOptions, createApp } from './app.ts';
import { createMetrics, type StoreMetrics } from './metrics.ts';
import { chainMetrics } from './status.ts';

export interface ServerOptions extends AppOptions {
  readonly host: string;
  readonly port: number;
  readonly metricsHost: string;
  readonly metricsPort: number;
  /** A caller that neither sends nor reads for so many seconds is cut off. Headers have Bun's own ten seconds. */
  readonly idleTimeout: number;
}

export interface RunningServer {
  readonly url: string;
  readonly metricsUrl: string;
  /** Takes no more requests, and waits for those under way, but not for ever. */
  stop(): Promise<void>;
}

/** How long requests under way may take once the service is told to stop. */
const DRAIN_MS = 10_000;

export function startServer(options: ServerOptions): RunningServer {
  const { host, port, metricsHost, metricsPort, idleTimeout, onAnswer } = options;
  const metrics = createMetrics();
  const app = createApp({
    ...options,
    onAnswer(answered: Answered) {
      metrics.observe(answered.route, answered.status, answered.seconds);
      onAnswer?.(answered);
    },
  });
  const api = Bun.serve({
    hostname: host,
    port,
    development: false,
    // Two services on one port would each answer some of the callers.
    reusePort: false,
    idleTimeout,
    maxRequestBodySize: 16 * 1024,
    fetch: (request, server) => app.fetch(request, server.requestIP(request)?.address),
    // The app answers its own failures: what comes here has an answer under way, and only that can be broken off.
    error: () => new Response(null, { status: 500 }),
  });
  const prometheus = orStop(api, () =>
    Bun.serve({
      hostname: metricsHost,
      port: metricsPort,
      development: false,
      reusePort: false,
      routes: {
        '/metrics': async () =>
          new Response(metrics.render(await storeMetrics(options), options.figures?.() ?? []), {
            headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
          }),
      },
      fetch: () => new Response('Metrics are at /metrics.\n', { status: 404 }),
    }),
  );
  return {
    url: urlOf(api),
    metricsUrl: `${urlOf(prometheus)}/metrics`,
    async stop() {
      const servers = [api, prometheus];
      // A first stop takes no new connections; waiting for it would mean waiting for idle ones that are kept alive.
      for (const server of servers) void server.stop();
      const deadline = performance.now() + DRAIN_MS;
      while (servers.some((server) => server.pendingRequests > 0) && performance.now() < deadline) await Bun.sleep(10);
      await Promise.all(servers.map((server) => server.stop(true)));
    },
  };
}

/** A second server that cannot start takes the first one with it. */
function orStop(first: Server<unknown>, start: () => Server<unknown>): Server<unknown> {
  try {
    return start();
  } catch (error) {
    void first.stop(true);
    throw error;
  }
}

/** Null where the store cannot be reached: the rest is still worth telling. */
async function storeMetrics(options: ServerOptions): Promise<StoreMetrics | null> {
  try {
    return { bytes: await options.store.size(), chains: await chainMetrics(options) };
  } catch (error) {
    options.onError?.(error);
    return null;
  }
}

const urlOf = ({ hostname, port }: Server<unknown>) => `http://${hostname}:${port}`;
