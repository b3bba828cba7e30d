// The socket of the API.

import { type AppOptions, createApp } from './app.ts';
import { drain, type RunningServer, serverUrl } from './listener.ts';

export interface ServerOptions extends AppOptions {
  readonly host: string;
  readonly port: number;
  /** Other processes of the same service listen on the same port. */
  readonly sharesPort?: boolean;
  /** A caller that neither sends nor reads for so many seconds is cut off. Headers have Bun's own ten seconds. */
  readonly idleTimeout: number;
}

export function startServer(options: ServerOptions): RunningServer {
  const { host, port, sharesPort = false, idleTimeout } = options;
  const app = createApp(options);
  const server = Bun.serve({
    hostname: host,
    port,
    development: false,
    // Two services on one port would each answer some of the callers.
    reusePort: sharesPort,
    idleTimeout,
    maxRequestBodySize: 16 * 1024,
    fetch: (request, socket) => app.fetch(request, () => socket.requestIP(request)?.address ?? ''),
    // The app answers its own failures: what comes here has an answer under way, and only that can be broken off.
    error: () => new Response(null, { status: 500 }),
  });
  return { url: serverUrl(server), stop: () => drain(server) };
}
