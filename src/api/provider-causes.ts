// Why a provider can be unhealthy, and why the steps of a follower can fail. The names are closed sets: they are metric labels, and
// safe to publish.

/** No usable response, whatever was asked: a later response shows that the provider has recovered. */
export const CONNECTION_CAUSES = [
  'dns',
  'tls',
  'connection-refused',
  'connection-lost',
  'timeout',
  'http-3xx',
  'http-401',
  'http-402',
  'http-403',
  'http-404',
  'http-4xx',
  'http-5xx',
  'rate-limited',
] as const;

export const PROVIDER_CAUSES = [
  ...CONNECTION_CAUSES,
  'rpc-error',
  'bad-response',
  'wrong-chain',
  'no-registry',
  'syncing',
  'behind',
  'inconsistent',
  'wrong-data',
] as const;

export type ProviderCause = (typeof PROVIDER_CAUSES)[number];

export const FOLLOWER_TROUBLES = [
  'database-full',
  'database-unavailable',
  'database-failed',
  'providers',
  'internal',
] as const;

export type FollowerTrouble = (typeof FOLLOWER_TROUBLES)[number];
