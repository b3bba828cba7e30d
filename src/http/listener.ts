// Shared by the API server and the metrics server.

import type { Server } from 'bun';

export interface RunningServer {
  readonly url: string;
  /** Stops accepting requests and waits for those in flight. */
  stop(): Promise<void>;
}

/** Waits this many seconds for requests in flight, and cuts off the others. */
export async function drain(server: Server<unknown>, seconds: number): Promise<void> {
  // Stops accepting connections. Not awaited, because that would wait for idle keep-alive connections.
  void server.stop();
  const deadline = performance.now() + 1000 * seconds;
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
