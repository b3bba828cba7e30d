// Serves the API on a free loopback port, with the same server as the program, and what it needs: admission and tokens.

import type { TokenReader } from '../../src/chain/tokens/token-reader.ts';
import { createChangeStreams } from '../../src/http/answers/change-streams.ts';
import { createSightings } from '../../src/http/context/freshness.ts';
import { type AdmissionOptions, createAdmission } from '../../src/http/limits/admission.ts';
import { createLimiter } from '../../src/http/limits/limiter.ts';
import { createLongLists } from '../../src/http/limits/long-lists.ts';
import { type AppOptions, createApp } from '../../src/http/server/app.ts';
import { type ServerOptions, startServer } from '../../src/http/server/server.ts';
import type { Address } from '../../src/registry/delegation.ts';
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

/** A token id that no contract accepts. */
export const BAD_TOKEN_ID = 666n;

export const tokensOf = (owner: Address): TokenReader => ({
  block: async () => ({ type: 'unavailable', cause: 'no-provider', failures: [] }),
  ownerOf: async (_of, tokenId) =>
    tokenId === BAD_TOKEN_ID ? { type: 'not-a-token', cause: 'reverted' } : { type: 'owner', owner },
  balances: async (_of, owners) => ({ type: 'balances', balances: owners.map((one) => (one === owner ? 2n : 0n)) }),
});

/** Requests, pages and lookups of keys have this limit each. */
export function admissionOf(most: number, more: Partial<AdmissionOptions> = {}, seconds = 10) {
  const limiter = () => createLimiter({ most, seconds });
  return createAdmission({
    anonymous: limiter(),
    pages: limiter(),
    lookups: limiter(),
    limiterOfKey: () => null,
    keys: { known: () => false, found: () => null, isFamiliar: () => true, lookUp: async () => false },
    proxies: { check: () => false },
    ...more,
  });
}
