// The configuration, read once from the environment. Every fault is found before anything starts.

import { readProxies, type TrustedProxies } from '../http/client-address.ts';
import type { Limit } from '../http/limiter.ts';
import { CHAIN_VARIABLES, type ChainConfigs, readChains } from './chain-config.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';

export interface Config extends ChainConfigs {
  readonly databaseUrl: string;
  /** Where reads may go besides; null where there is none. */
  readonly replicaUrl: string | null;
  /** Where the limit is kept for all processes; null where each group of processes keeps its own. */
  readonly redisUrl: string | null;
  /** Whether there is a limit while that is away. */
  readonly limitsWithoutRedis: boolean;
  readonly host: string;
  readonly port: number;
  readonly metricsHost: string;
  readonly metricsPort: number;
  readonly logLevel: LogLevel;
  /** Seconds. */
  readonly idleTimeout: number;
  /** Seconds. */
  readonly answerTimeout: number;
  /** For callers without a key; null where there is none. */
  readonly anonymousLimit: Limit | null;
  readonly proxies: TrustedProxies;
  /** How people reach the service; null where nobody has said. */
  readonly publicUrl: string | null;
  /** Whether wallets get keys by themselves, and how many each. */
  readonly selfServiceKeys: boolean;
  readonly keysPerWallet: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigFault {
  readonly name: string;
  readonly detail: string;
  readonly example: string;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ name, detail, example }) => `${name} ${detail}. For example: ${name}=${example}`).join('\n'));
    this.faults = faults;
  }
}

/** Every variable with its default, for people. */
export const VARIABLES = [
  ['DATABASE_URL', 'sqlite:./data/delegations.db', 'the store: sqlite:<path> or postgres://user@host/database'],
  ['DATABASE_REPLICA_URL', 'none', 'a streaming replica of a PostgreSQL store, read from while it is fresh'],
  ['REDIS_URL', 'none', 'Redis or Valkey, where all processes keep one limit: redis://host:6379'],
  ['REDIS_AWAY', 'process', 'while Redis is away: process (each process limits by itself) or off'],
  ['HOST', '0.0.0.0', 'the address to listen on'],
  ['PORT', '8080', 'the port to listen on'],
  ['METRICS_HOST', '127.0.0.1', 'the address of /metrics'],
  ['METRICS_PORT', '9090', 'the port of /metrics'],
  ['LOG_LEVEL', 'info', LOG_LEVELS.join(', ')],
  ['ANONYMOUS_LIMIT', '25/10s', 'requests without a key, for each caller: 25/10s, or off'],
  ['TRUSTED_PROXIES', 'none', 'networks of proxies whose X-Forwarded-For counts: 10.0.0.0/8, 2001:db8::/32'],
  ['PUBLIC_URL', 'http://localhost:PORT', 'how people reach the service: what sign-in messages name'],
  ['SELF_SERVICE_KEYS', 'on', 'whether wallets get keys by themselves at /developers: on or off'],
  ['KEYS_PER_WALLET', '5', 'how many good keys a wallet may have'],
  ['IDLE_TIMEOUT', '30', 'seconds after which a caller that neither sends nor reads is cut off'],
  ['ANSWER_TIMEOUT', '600', 'seconds that a streamed list may take'],
  ...CHAIN_VARIABLES,
] as const;

const NO_PROXIES: TrustedProxies = { check: () => false };
const MOST_REQUESTS = 10_000;
const LONGEST_SECONDS = 3600;

function readLimit(text: string): Limit | undefined {
  const [, most, seconds] = /^(\d{1,6})\/(\d{1,5})s$/.exec(text) ?? [];
  const limit = { most: Number(most), seconds: Number(seconds) };
  const isGood =
    limit.most >= 1 && limit.most <= MOST_REQUESTS && limit.seconds >= 1 && limit.seconds <= LONGEST_SECONDS;
  return isGood ? limit : undefined;
}

/** What drivers can read: they say less clearly what is wrong. */
function parseUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    decodeURIComponent(url.username + url.password);
    return url;
  } catch {
    return null;
  }
}

const isPostgres = (text: string) => /^postgres(ql)?:\/\//.test(text) && parseUrl(text) !== null;
function isRedis(text: string): boolean {
  const url = /^(rediss?|valkeys?):\/\//.test(text) ? parseUrl(text) : null;
  return url !== null && url.hostname !== '' && /^(\/\d*)?$/.test(url.pathname);
}

export function readConfig(environment: Environment): Config {
  const faults: ConfigFault[] = [];
  const fault = (name: string, detail: string, example: string) => void faults.push({ name, detail, example });
  // An empty variable is one that is not set: so shells and compose files leave it.
  const text = (name: string, otherwise: string) => environment[name] || otherwise;
  const whole = (name: string, otherwise: number, most: number, example: string, least = 0) => {
    const value = text(name, String(otherwise));
    if (/^\d+$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    fault(name, `is not a whole number from ${least} to ${most}`, example);
    return otherwise;
  };

  const databaseUrl = text('DATABASE_URL', 'sqlite:./data/delegations.db');
  if (!/^sqlite:./.test(databaseUrl) && !isPostgres(databaseUrl)) {
    fault('DATABASE_URL', 'is neither sqlite:<path> nor postgres://…', 'sqlite:./data/delegations.db');
  }
  const replicaUrl = text('DATABASE_REPLICA_URL', '');
  if (replicaUrl !== '' && !isPostgres(replicaUrl))
    fault('DATABASE_REPLICA_URL', 'is not postgres://…', 'postgres://delegations@replica/delegations');
  else if (replicaUrl !== '' && databaseUrl.startsWith('sqlite:'))
    fault('DATABASE_REPLICA_URL', 'needs a DATABASE_URL on PostgreSQL', 'postgres://delegations@replica/delegations');
  const redisUrl = text('REDIS_URL', '');
  if (redisUrl !== '' && !isRedis(redisUrl))
    fault('REDIS_URL', 'is not redis:// and a host, with a number behind it at most', 'redis://localhost:6379/0');
  const redisAway = text('REDIS_AWAY', 'process');
  if (redisAway !== 'process' && redisAway !== 'off') fault('REDIS_AWAY', 'is neither process nor off', 'process');
  const logLevel = LOG_LEVELS.find((level) => level === text('LOG_LEVEL', 'info'));
  if (logLevel === undefined) fault('LOG_LEVEL', `is not one of ${LOG_LEVELS.join(', ')}`, 'info');
  const port = whole('PORT', 8080, 65_535, '8080');
  const metricsPort = whole('METRICS_PORT', 9090, 65_535, '9090');
  if (port !== 0 && port === metricsPort) fault('METRICS_PORT', 'is the same as PORT', '9090');

  const limited = text('ANONYMOUS_LIMIT', '25/10s');
  const anonymousLimit = limited === 'off' ? null : readLimit(limited);
  if (anonymousLimit === undefined)
    fault('ANONYMOUS_LIMIT', 'is neither off nor a number of requests in a time', '25/10s');
  const proxies = readProxies(text('TRUSTED_PROXIES', ''));
  if (proxies === null) fault('TRUSTED_PROXIES', 'is no list of networks', '10.0.0.0/8,2001:db8::/32');

  const publicUrl = text('PUBLIC_URL', '');
  // A bare origin, of a host that sign-in messages can name.
  const isOrigin = publicUrl === '' || /^https?:\/\/[a-z0-9.-]+(:\d+)?\/?$/i.test(publicUrl);
  if (!isOrigin) fault('PUBLIC_URL', 'is not https:// and a host, without a path', 'https://delegations.example');
  const selfService = text('SELF_SERVICE_KEYS', 'on');
  if (selfService !== 'on' && selfService !== 'off') fault('SELF_SERVICE_KEYS', 'is neither on nor off', 'on');

  const config = {
    databaseUrl,
    replicaUrl: replicaUrl || null,
    redisUrl: redisUrl || null,
    limitsWithoutRedis: redisAway !== 'off',
    host: text('HOST', '0.0.0.0'),
    port,
    metricsHost: text('METRICS_HOST', '127.0.0.1'),
    metricsPort,
    logLevel: logLevel ?? 'info',
    // Bun counts them in one byte and in steps of four: of a few seconds it makes none.
    idleTimeout: whole('IDLE_TIMEOUT', 30, 255, '30', 8),
    answerTimeout: whole('ANSWER_TIMEOUT', 600, 86_400, '600', 1),
    anonymousLimit: anonymousLimit ?? null,
    proxies: proxies ?? NO_PROXIES,
    publicUrl: publicUrl === '' || !isOrigin ? null : new URL(publicUrl).origin,
    selfServiceKeys: selfService === 'on',
    keysPerWallet: whole('KEYS_PER_WALLET', 5, 1000, '5', 1),
    ...readChains(environment, fault),
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}
