// Serves the API on a free loopback port, with the same server as the program.

import { createChangeStreams } from '../../src/http/answers/change-streams.ts';
import { createSightings } from '../../src/http/context/freshness.ts';
import { createLongLists } from '../../src/http/limits/long-lists.ts';
import { type AppOptions, createApp } from '../../src/http/server/app.ts';
import { type ServerOptions, startServer } from '../../src/http/server/server.ts';
import type { Store } from '../../src/store/store.ts';

/** The API of chain 1 on a store, with fixed clocks. */
export const serviceOf = (store: Store, now: number, more: Partial<AppOptions> = {}): AppOptions => ({
  store,
  chainIds: new Set([1]),
  now: () => now,
  maxLag: () => 60,
  sightings: createSightings(() => 0),
  answerTimeout: 60,
  longLists: createLongLists(),
  streams: createChangeStreams(),
  ...more,
});

export const appOf = (...args: Parameters<typeof serviceOf>) => createApp(serviceOf(...args));

export const serving = (store: Store, now: number, more: Partial<ServerOptions> = {}) =>
  startServer({
    ...serviceOf(store, now, more),
    host: '127.0.0.1',
    port: 0,
    idleTimeout: 30,
    drainTimeout: 10,
    ...more,
  });
