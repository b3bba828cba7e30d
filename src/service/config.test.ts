import { expect, test } from 'bun:test';
import { isAllowedAddress } from '../webhooks/networks.ts';
import { readNetworks } from './chain-config.ts';
import { ConfigError, readConfig } from './config.ts';

/** The error for an environment that must be rejected. */
function configErrorOf(environment: Record<string, string>): ConfigError {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('accepted');
}

test('an empty environment gives the defaults', () => {
  expect(readConfig({})).toEqual({
    databaseUrl: 'sqlite:./data/delegations.db',
    databasePool: 8,
    replicaUrl: null,
    redisUrl: null,
    host: '0.0.0.0',
    port: 8080,
    metricsHost: '127.0.0.1',
    metricsPort: 9090,
    logLevel: 'info',
    telemetry: null,
    requestLog: { leastStatus: 0, oneOf: Number.POSITIVE_INFINITY },
    idleTimeout: 30,
    answerTimeout: 600,
    drainDelay: 0,
    drainTimeout: 20,
    anonymousLimit: { most: 25, seconds: 10 },
    keyLimit: null,
    unknownKeys: 'refuse',
    hasStandardTypes: false,
    proxies: expect.anything(),
    publicUrl: null,
    selfServiceKeys: true,
    keysPerWallet: 5,
    webhooks: true,
    webhookNetworks: expect.anything(),
    ownership: false,
    trustsImports: true,
    publishesArchives: false,
    provesAnswers: false,
    mcp: false,
    chains: new Map(),
    maxLag: new Map(),
  });
});

test('an empty variable counts as unset', () => {
  const { proxies: _, ...empty } = readConfig({ PORT: '', HOST: '', MAX_LAG_1: '', TRUSTED_PROXIES: '' });
  expect(readConfig({})).toMatchObject(empty);
});

test('requests in flight get the seconds of DRAIN_TIMEOUT', () => {
  expect(readConfig({ DRAIN_DELAY: '300', DRAIN_TIMEOUT: '600' })).toMatchObject({
    drainDelay: 300,
    drainTimeout: 600,
  });
  for (const bad of ['0', '601']) expect(() => readConfig({ DRAIN_TIMEOUT: bad })).toThrow('from 1 to 600');
});

test('the limit for callers without a key can be changed or switched off', () => {
  expect(readConfig({ ANONYMOUS_LIMIT: '100/60s' }).anonymousLimit).toEqual({ most: 100, seconds: 60 });
  expect(readConfig({ ANONYMOUS_LIMIT: 'off' }).anonymousLimit).toBeNull();
  expect(readConfig({ KEY_LIMIT: '1000/10s' }).keyLimit).toEqual({ most: 1000, seconds: 10 });
  expect(() => readConfig({ KEY_LIMIT: '1000' })).toThrow('KEY_LIMIT must be off or <requests>/<seconds>s');
  for (const bad of ['0/10s', '25/0s', '25', '99999/10s']) expect(() => readConfig({ ANONYMOUS_LIMIT: bad })).toThrow();
});

test('webhooks reach no private network unless it is allowed', () => {
  const isAllowed = (environment: Record<string, string>) =>
    isAllowedAddress('10.20.0.1', readConfig(environment).webhookNetworks);
  expect(isAllowed({})).toBe(false);
  expect(isAllowed({ WEBHOOK_NETWORKS: 'loopback' })).toBe(false);
  expect(isAllowed({ WEBHOOK_NETWORKS: 'loopback, 10.20.0.0/16' })).toBe(true);
});

test('token gates are off unless they are turned on', () => {
  expect(readConfig({}).ownership).toBe(false);
  expect(readConfig({ OWNERSHIP: 'on' }).ownership).toBe(true);
});

test('the MCP server is off unless it is turned on', () => {
  expect(readConfig({}).mcp).toBe(false);
  expect(readConfig({ MCP: 'on' }).mcp).toBe(true);
});

test('the maximum lag is set per chain', () => {
  expect(readConfig({ MAX_LAG_137: '30' }).maxLag).toEqual(new Map([[137, 30]]));
});

test('all faults are reported at once, each with its variable and an example', () => {
  const bad = {
    DATABASE_URL: 'mysql://user:secret@host/x',
    DATABASE_REPLICA_URL: 'postgres://user:secret%zz@host/x',
    REDIS_URL: 'redis://:secret@host/limits',
    PORT: '99999',
    METRICS_PORT: 'abc',
    LOG_LEVEL: 'loud',
    LOG_REQUESTS: 'sample:0',
    DRAIN_DELAY: '301',
    ANONYMOUS_LIMIT: '25 a second',
    TRUSTED_PROXIES: '10.0.0.0/40',
    UNKNOWN_KEYS: 'allow',
    PUBLIC_URL: 'delegations.example',
    SELF_SERVICE_KEYS: 'perhaps',
    KEYS_PER_WALLET: '0',
    WEBHOOK_NETWORKS: 'intranet',
    OWNERSHIP: 'yes',
    MCP: 'true',
    MAX_LAG_1: '-5',
    MAX_LAG_99: '5',
  };
  const error = configErrorOf(bad);
  expect(error.faults.map(({ name }) => name).sort()).toEqual(Object.keys(bad).sort());
  expect(error.message).toContain('PORT must be an integer from 0 to 65535. Example: PORT=8080');
  expect(error.message).toContain(
    'MAX_LAG_99 is of a network that is not known: say what it is. Example: NETWORK_99=Animechain,2s',
  );
  expect(error.message).not.toContain('secret');
});

test('URLs of PostgreSQL, its replica and Redis must parse', () => {
  const good = {
    DATABASE_URL: 'postgres://me:p%40ss@host:5432/x',
    DATABASE_REPLICA_URL: 'postgresql://me@[::1]/x',
    REDIS_URL: 'rediss://:p@host/1',
  };
  const { databaseUrl: _, ...config } = readConfig(good);
  expect(config).toMatchObject({
    replicaUrl: good.DATABASE_REPLICA_URL,
    redisUrl: good.REDIS_URL,
  });
  for (const bad of ['postgres://me:a b@c d/x', 'postgres://host:99999/x', 'postgres://me:%zz@host/x'])
    expect(configErrorOf({ DATABASE_URL: bad }).message).toStartWith('DATABASE_URL');
  // SQLite has no replicas.
  expect(configErrorOf({ DATABASE_REPLICA_URL: good.DATABASE_REPLICA_URL }).message).toContain(
    'requires DATABASE_URL to be postgres://',
  );
});

test('API and metrics cannot share a port', () => {
  expect(() => readConfig({ PORT: '9090' })).toThrow('METRICS_PORT must not equal PORT');
  expect(readConfig({ PORT: '0', METRICS_PORT: '0' }).port).toBe(0);
});

test('chains with an RPC_URL are followed', () => {
  const { chains } = readConfig({
    RPC_URL_1: 'https://a.example/key, http://b.example',
    START_BLOCK_1: '100',
    FINALITY_1: '64 blocks',
    POLL_INTERVAL_1: '500',
    RPC_URL_8453: 'http://c.example',
    FINALITY_8453: '900 seconds',
  });
  expect(Object.fromEntries(chains)).toEqual({
    1: {
      rpcUrls: ['https://a.example/key', 'http://b.example'],
      startBlock: 100,
      finality: { blocks: 64 },
      pollMs: 500,
    },
    8453: { rpcUrls: ['http://c.example'], finality: { seconds: 900 } },
  });
});

test('faults of a chain never show its URL', () => {
  const bad = {
    RPC_URL_1: 'wss://node.example/SECRET',
    RPC_URL_x: 'http://node.example/SECRET',
    START_BLOCK_10: 'first',
    FINALITY_10: 'soon',
    POLL_INTERVAL_10: '5',
    MAX_LAG_137: 'x',
  };
  const error = configErrorOf(bad);
  expect(error.faults.map(({ name }) => name).sort()).toEqual(Object.keys(bad).sort());
  expect(error.message).not.toContain('SECRET');
  expect(() => readConfig({ START_BLOCK_10: '5' })).toThrow('RPC_URL_10 is missing');
});

test('on and off are the only words of a switch', () => {
  for (const MCP of ['constructor', 'toString', 'ON', '1'])
    expect(configErrorOf({ MCP }).message).toContain('on or off');
});

test('a network that is not in the table is said to be one, with everything that is wrong about it', () => {
  const RPC_URL_69000 = 'https://node.example/SECRET';
  const good = { NETWORK_69000: 'Animechain,2s,v1', RPC_URL_69000, START_BLOCK_69000: '7', MAX_LAG_69000: '9' };
  expect(readConfig(good)).toMatchObject({
    chains: new Map([[69_000, { rpcUrls: [RPC_URL_69000], startBlock: 7 }]]),
    maxLag: new Map([[69_000, 9]]),
  });
  expect(readNetworks(good).map(({ chainId, name }) => [chainId, name])).toEqual([[69_000, 'Animechain']]);
  // The names of other programs.
  expect(readConfig({ NETWORK_MODE: 'host', NETWORK_1: '' }).chains.size).toBe(0);
  const bad = {
    NETWORK_8453: 'Base,2s',
    NETWORK_1e3: 'Animechain,2s',
    NETWORK_69001: 'Animechain',
    RPC_URL_69001: RPC_URL_69000,
    NETWORK_69002: 'Animechain,2s',
    RPC_URL_69003: RPC_URL_69000,
  };
  const error = configErrorOf(bad);
  expect(error.message.split('\n').sort()).toEqual([
    'NETWORK_1e3 must end with a chain id. Example: NETWORK_69000=Animechain,2s',
    'NETWORK_69001 must be <name>,<block time>s, then v1, zksync or explorer=https://<host> where they are true. Example: NETWORK_69001=Animechain,2s',
    'NETWORK_8453 must be removed: Base is known. Example: RPC_URL_8453=https://node.example',
    'RPC_URL_69002 is missing, but NETWORK_69002 is set. Example: RPC_URL_69002=https://node.example',
    'RPC_URL_69003 is of a network that is not known: say what it is. Example: NETWORK_69003=Animechain,2s',
  ]);
  expect(readNetworks(bad).map(({ chainId }) => chainId)).toEqual([69_002]);
});
