// Starts the HTTP server of the API.

import type { Server } from 'bun';
import { MAX_BATCH_BYTES } from '../../api/batch-operation.ts';
import { inOnePiece } from '../../api/sized-response.ts';
import { type AppOptions, createApp } from './app.ts';
import { drain, listen, type RunningServer, serverUrl } from './listener.ts';
import { inTurns } from './turn.ts';

export interface ServerOptions extends AppOptions {
  readonly host: string;
  readonly port: number;
  /** Other workers of the same service listen on the same port. */
  readonly sharesPort?: boolean;
  /** Seconds before an idle connection is closed. Bun itself allows 10 seconds for the headers. */
  readonly idleTimeout: number;
  /** Seconds that requests in flight get when the server stops. */
  readonly drainTimeout: number;
}

interface Incoming {
  readonly request: Request;
  readonly socket: Server<undefined>;
}

export function startServer(options: ServerOptions): RunningServer {
  const { host, port, sharesPort = false, idleTimeout, drainTimeout } = options;
  const app = createApp(options);
  const addressOf = ({ request, socket }: Incoming) => socket.requestIP(request)?.address ?? '';
  const handle = inTurns(
    async (incoming: Incoming) => {
      const { request, socket } = incoming;
      const setIdleTimeout = (seconds: number) => socket.timeout(request, seconds);
      const response = await app.fetch(request, () => addressOf(incoming), setIdleTimeout);
      // The runtime keeps a body that nobody read until it collects the request, and does not know how large it is.
      if (request.method !== 'GET' && !request.bodyUsed) await request.body?.cancel();
      return inOnePiece(request.method, response);
    },
    (incoming) => {
      const socket = () => addressOf(incoming);
      return options.admission?.turnOf({ request: incoming.request, socket }) ?? socket();
    },
  );
  const serve = () =>
    Bun.serve({
      hostname: host,
      port,
      development: false,
      // Only for workers: another service on the same port would take some of the connections.
      reusePort: sharesPort,
      idleTimeout,
      // Of a batch. Other requests are limited by their routes.
      maxRequestBodySize: MAX_BATCH_BYTES,
      fetch: (request, socket) => handle({ request, socket }),
      // The app handles its own errors. An error that gets here happened after the response started, so it can only be cut off.
      error: () => new Response(null, { status: 500 }),
    });
  const server = listen(serve, { host, port, names: ['HOST', 'PORT'] });
  const stop = () => {
    options.streams.stop();
    return drain(server, drainTimeout);
  };
  return { url: serverUrl(server), stop };
}
