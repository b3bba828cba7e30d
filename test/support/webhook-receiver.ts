// A real receiver of webhooks: it behaves as the test says, and keeps what it was sent.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Behaviour = 'ok' | 'echo' | 'slow' | '500' | '410' | 'redirect' | 'hang' | 'reset';

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the response was a success. */
  readonly isAccepted: boolean;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** How many requests of a path are in flight at most, over all time. */
  mostAtOnce(path: string): number;
  stop(): void;
}

/** How long a slow receiver takes. */
const SLOW_MS = 40;
const STATUSES = { ok: 204, echo: 200, slow: 200, '500': 500, '410': 410, redirect: 302 } as const;

export async function startReceiver(behaviourOf: (path: string) => Behaviour = () => 'ok'): Promise<Receiver> {
  const received: Received[] = [];
  const [running, most] = [new Map<string, number>(), new Map<string, number>()];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const atOnce = (running.get(path) ?? 0) + 1;
    running.set(path, atOnce);
    most.set(path, Math.max(most.get(path) ?? 0, atOnce));
    response.on('close', () => void running.set(path, (running.get(path) ?? 1) - 1));
    const body = await text(request).catch(() => null);
    // The sender died while it sent.
    if (body === null || !request.complete) return;
    const behaviour = behaviourOf(path);
    const headers = request.headers as Record<string, string>;
    const isAccepted = behaviour === 'ok' || behaviour === 'echo' || behaviour === 'slow';
    received.push({ path, id: headers['webhook-id'] ?? '', headers, body, isAccepted });
    if (behaviour === 'hang') return;
    if (behaviour === 'reset') return void request.socket.destroy();
    if (behaviour === 'slow') await Bun.sleep(SLOW_MS);
    const challenge = behaviour === 'echo' ? JSON.parse(body).data.challenge : undefined;
    response.writeHead(STATUSES[behaviour], { location: '/elsewhere' }).end(challenge);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    mostAtOnce: (path) => most.get(path) ?? 0,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
