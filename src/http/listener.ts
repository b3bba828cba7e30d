// What is common to everything that listens.

import type { Server } from 'bun';

export interface RunningServer {
  readonly url: string;
  /** Takes no more requests, and waits for those under way, but not for ever. */
  stop(): Promise<void>;
}

/** How long requests under way may take once the service is told to stop. */
const DRAIN_MS = 10_000;

export async function drain(server: Server<unknown>): Promise<void> {
  // A first stop takes no new connections; waiting for it would mean waiting for idle ones that are kept alive.
  void server.stop();
  const deadline = performance.now() + DRAIN_MS;
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
  await server.stop(true);
}

/** An IPv6 address stands in brackets. */
export const serverUrl = ({
  hostname = '',
  port = 0,
}: {
  readonly hostname?: string | undefined;
  readonly port?: number | undefined;
}) => `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
