// Shared by the API server and the metrics server.

import type { Server } from 'bun';

export interface RunningServer {
  readonly url: string;
  /** Stops accepting requests and waits up to 10 seconds for those in flight. */
  stop(): Promise<void>;
}

const DRAIN_MS = 10_000;

export async function drain(server: Server<unknown>): Promise<void> {
  // Stops accepting connections. Not awaited, because that would wait for idle keep-alive connections.
  void server.stop();
  const deadline = performance.now() + DRAIN_MS;
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
  await server.stop(true);
}

/** Puts an IPv6 address in brackets. */
export const serverUrl = ({
  hostname = '',
  port = 0,
}: {
  readonly hostname?: string | undefined;
  readonly port?: number | undefined;
}) => `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
