// Reads the configuration from the environment, once, and reports all faults together before anything starts.

import { MAX_STREAMS } from '../http/answers/change-streams.ts';
import { UNKNOWN_KEYS, type UnknownKeys } from '../http/limits/admission.ts';
import { readProxies, type TrustedProxies } from '../http/limits/client-address.ts';
import { LIMIT_RULE, type Limit, parseLimit } from '../http/limits/limiter.ts';
import type { LongListLimits } from '../http/limits/long-lists.ts';
import type { PerCaller } from '../http/limits/shares.ts';
import { NETWORKS_RULE, type Networks, parseNetworks } from '../webhooks/networks.ts';
import { CHAIN_VARIABLES, type ChainConfigs, type ReportFault, readChains } from './chain-config.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';
import { LOG_ALL_REQUESTS, type RequestLogRule, readRequestLogRule } from './request-log.ts';
import { readTelemetry, TELEMETRY_VARIABLES, type TelemetryConfig } from './telemetry-config.ts';

export interface Config extends ChainConfigs {
  readonly databaseUrl: string;
  /** The maximum number of PostgreSQL connections of one process. */
  readonly databasePool: number;
  /** A read replica of that database; null if there is none. */
  readonly replicaUrl: string | null;
  /** Redis holds the limit for all processes; if null, each group of processes holds its own. */
  readonly redisUrl: string | null;
  /** While Redis is unreachable: every process limits on its own, or there is no limit. */
  readonly redisFallback: RedisFallback;
  readonly host: string;
  readonly port: number;
  readonly metricsHost: string;
  readonly metricsPort: number;
  readonly logLevel: LogLevel;
  /** Which requests are logged. */
  readonly requestLog: RequestLogRule;
  /** Seconds. */
  readonly idleTimeout: number;
  /** Seconds. */
  readonly answerTimeout: number;
  /** Seconds between the stop signal and the end of accepting requests, while `/ready` answers 503. */
  readonly drainDelay: number;
  /** Seconds that requests in flight get after that. */
  readonly drainTimeout: number;
  /** For callers without a key; null means no limit. */
  readonly anonymousLimit: Limit | null;
  readonly longListLimits: LongListLimits;
  readonly streamLimits: PerCaller;
  /** For each key of the operator, and for all keys of a wallet together; null means no limit. */
  readonly keyLimit: Limit | null;
  /** What happens to requests with a key that is not active. */
  readonly unknownKeys: UnknownKeys;
  readonly hasStandardTypes: boolean;
  readonly proxies: TrustedProxies;
  /** The origin that callers use; null if not configured. */
  readonly publicUrl: string | null;
  /** Whether a wallet can create its own keys, and how many. */
  readonly selfServiceKeys: boolean;
  readonly keysPerWallet: number;
  /** Whether webhooks can be created and are delivered, and how many a wallet can have. */
  readonly webhooks: boolean;
  readonly webhooksPerWallet: number;
  /** Networks that receivers of webhooks may be in although they are not public. */
  readonly webhookNetworks: Networks;
  /** Whether token gates are answered, which calls token contracts through the providers. */
  readonly ownership: boolean;
  /** Whether language models are answered at /mcp. */
  readonly mcp: boolean;
  /** Null if nothing is exported. */
  readonly telemetry: TelemetryConfig | null;
}

const REDIS_FALLBACKS = ['process', 'off'] as const;
export type RedisFallback = (typeof REDIS_FALLBACKS)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigFault {
  readonly name: string;
  readonly detail: string;
  /** A valid assignment, such as PORT=8080. */
  readonly example: string;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ name, detail, example }) => `${name} ${detail}. Example: ${example}`).join('\n'));
    this.faults = faults;
  }
}

/** Name, default and description of every variable, for `--help`. */
export const VARIABLES = [
  ['DATABASE_URL', 'sqlite:./data/delegations.db', 'database: sqlite:<path> or postgres://user@host/database'],
  ['DATABASE_REPLICA_URL', 'none', 'streaming replica of a PostgreSQL database, used for reads while it is up to date'],
  ['DATABASE_POOL', '8', 'maximum number of PostgreSQL connections of one process, 2 to 100; idle ones are closed'],
  ['REDIS_URL', 'none', 'Redis or Valkey, to share one rate limit between all processes: redis://host:6379'],
  [
    'REDIS_FALLBACK',
    'process',
    'while Redis is unreachable: process (each process has its own limit) or off (no limit)',
  ],
  ['HOST', '0.0.0.0', 'address to listen on'],
  ['PORT', '8080', 'port to listen on'],
  ['METRICS_HOST', '127.0.0.1', 'address of the metrics server'],
  ['METRICS_PORT', '9090', 'port of the metrics server'],
  ['LOG_LEVEL', 'info', LOG_LEVELS.join(', ')],
  [
    'LOG_REQUESTS',
    'all',
    'requests to log: all, errors (status 400 and above), sample:100 (5xx and one of 100 others) or off',
  ],
  ['ANONYMOUS_LIMIT', '25/10s', 'rate limit for each caller without a key: <requests>/<seconds>s, or off'],
  ['KEY_LIMIT', 'off', 'rate limit for each API key; the keys of one wallet share it: <requests>/<seconds>s, or off'],
  [
    'COMPATIBLE',
    'off',
    'on: as the hosted API for clients that know only its base URL: unknown keys count as none, and lists name token standards',
  ],
  [
    'UNKNOWN_KEYS',
    'refuse',
    'requests with an unknown, expired or revoked key: refuse (401) or anonymous (as without a key)',
  ],
  ['LONG_LISTS', '4', 'lists of more than 250 delegations in flight for each caller without a key, in each process'],
  ['LONG_LISTS_PER_KEY', '16', 'the same for all keys of one owner'],
  ['LONG_LIST_ROWS', '10000', 'delegations per second that long lists read for each caller without a key, or off'],
  ['STREAMS', '10', 'open streams of changes for each caller without a key, in each process'],
  ['STREAMS_PER_KEY', '100', 'the same for all keys of one owner'],
  ['TRUSTED_PROXIES', 'none', 'proxies whose X-Forwarded-For is trusted: 10.0.0.0/8,2001:db8::/32'],
  ['PUBLIC_URL', 'http://localhost:PORT', 'origin that callers use; sign-in messages must name it'],
  ['SELF_SERVICE_KEYS', 'on', 'whether a wallet can create its own keys at /developers: on or off'],
  ['KEYS_PER_WALLET', '5', 'maximum number of active keys per wallet, rotated keys in their overlap included'],
  ['WEBHOOKS', 'on', 'whether webhooks can be created and are delivered: on or off'],
  ['WEBHOOKS_PER_WALLET', '10', 'maximum number of webhooks per wallet'],
  [
    'WEBHOOK_NETWORKS',
    'none',
    'networks that webhooks may deliver to although they are not public: 10.20.0.0/16, loopback, private, link-local',
  ],
  ['OWNERSHIP', 'off', "whether /registry/any/holders reads who owns tokens from the chains' providers: on or off"],
  ['MCP', 'off', 'whether language models can ask over the Model Context Protocol at /mcp: on or off'],
  ['IDLE_TIMEOUT', '30', 'seconds before an idle connection is closed, 8 to 255'],
  ['ANSWER_TIMEOUT', '600', 'maximum seconds for a streamed list'],
  ['DRAIN_DELAY', '0', 'seconds that a stopping process still accepts requests while /ready is 503, 0 to 300'],
  ['DRAIN_TIMEOUT', '20', 'seconds that requests in flight get after that, 1 to 600'],
  ...TELEMETRY_VARIABLES,
  ...CHAIN_VARIABLES,
] as const;

const NO_PROXIES: TrustedProxies = { check: () => false };
const NO_NETWORKS = parseNetworks('') as Networks;
const MOST_LONG_LISTS = 128;
/** A slower page would look like an idle connection. */
const LEAST_ROWS = 5000;
const MOST_ROWS = 10_000_000;

function readRows(text: string): number | undefined {
  const rows = /^\d{1,8}$/.test(text) ? Number(text) : 0;
  return rows >= LEAST_ROWS && rows <= MOST_ROWS ? rows : undefined;
}

/** Null unless the database drivers can parse it: their own errors are less clear. */
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
  const fault: ReportFault = (name, detail, value, exampleName = name) =>
    void faults.push({ name, detail, example: `${exampleName}=${value}` });
  // An empty variable counts as unset: shells and compose files set it to ''.
  const text = (name: string, otherwise: string) => environment[name] || otherwise;
  const whole = (name: string, otherwise: number, most: number, example: string, least = 0) => {
    const value = text(name, String(otherwise));
    if (/^\d+$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    fault(name, `must be an integer from ${least} to ${most}`, example);
    return otherwise;
  };

  const databaseUrl = text('DATABASE_URL', 'sqlite:./data/delegations.db');
  if (!/^sqlite:./.test(databaseUrl) && !isPostgres(databaseUrl)) {
    fault('DATABASE_URL', 'must be sqlite:<path> or postgres://user@host/database', 'sqlite:./data/delegations.db');
  }
  const replicaUrl = text('DATABASE_REPLICA_URL', '');
  if (replicaUrl !== '' && !isPostgres(replicaUrl))
    fault(
      'DATABASE_REPLICA_URL',
      'must be postgres://user@host/database',
      'postgres://delegations@replica/delegations',
    );
  else if (replicaUrl !== '' && databaseUrl.startsWith('sqlite:'))
    fault(
      'DATABASE_REPLICA_URL',
      'requires DATABASE_URL to be postgres://…',
      'postgres://delegations@replica/delegations',
    );
  const redisUrl = text('REDIS_URL', '');
  if (redisUrl !== '' && !isRedis(redisUrl))
    fault('REDIS_URL', 'must be redis://host[:port][/db]', 'redis://localhost:6379/0');
  const redisFallback = REDIS_FALLBACKS.find((one) => one === text('REDIS_FALLBACK', 'process'));
  if (redisFallback === undefined) fault('REDIS_FALLBACK', 'must be process or off', 'process');
  const logLevel = LOG_LEVELS.find((level) => level === text('LOG_LEVEL', 'info'));
  if (logLevel === undefined) fault('LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}`, 'info');
  const requestLog = readRequestLogRule(text('LOG_REQUESTS', 'all'));
  if (requestLog === null) fault('LOG_REQUESTS', 'must be all, errors, sample:<n> or off', 'sample:100');
  const port = whole('PORT', 8080, 65_535, '8080');
  const metricsPort = whole('METRICS_PORT', 9090, 65_535, '9090');
  if (port !== 0 && port === metricsPort) fault('METRICS_PORT', 'must not equal PORT', '9090');

  const limit = (name: string, otherwise: string, example: string) => {
    const value = text(name, otherwise);
    const parsed = parseLimit(value);
    if (value !== 'off' && parsed === null) fault(name, `must be off or ${LIMIT_RULE}`, example);
    return parsed;
  };
  const onOrOff = (name: string, otherwise: 'on' | 'off'): boolean => {
    const value = text(name, otherwise);
    if (value !== 'on' && value !== 'off') fault(name, 'must be on or off', 'on');
    return value === 'on';
  };
  const anonymousLimit = limit('ANONYMOUS_LIMIT', '25/10s', '25/10s');
  const keyLimit = limit('KEY_LIMIT', 'off', '1000/10s');
  const isCompatible = onOrOff('COMPATIBLE', 'off');
  const unknownKeys = UNKNOWN_KEYS.find((one) => one === text('UNKNOWN_KEYS', isCompatible ? 'anonymous' : 'refuse'));
  if (unknownKeys === undefined) fault('UNKNOWN_KEYS', `must be ${UNKNOWN_KEYS.join(' or ')}`, 'anonymous');
  const rowsText = text('LONG_LIST_ROWS', '10000');
  const longListRows = rowsText === 'off' ? null : readRows(rowsText);
  if (longListRows === undefined)
    fault('LONG_LIST_ROWS', `must be off or an integer from ${LEAST_ROWS} to ${MOST_ROWS}`, '10000');
  const longListLimits = {
    perAddress: whole('LONG_LISTS', 4, MOST_LONG_LISTS, '4', 1),
    perKey: whole('LONG_LISTS_PER_KEY', 16, MOST_LONG_LISTS, '16', 1),
    rowsPerSecond: longListRows ?? null,
  };
  const proxies = readProxies(text('TRUSTED_PROXIES', ''));
  if (proxies === null)
    fault('TRUSTED_PROXIES', 'must be a comma-separated list of CIDR networks', '10.0.0.0/8,2001:db8::/32');

  const publicUrl = text('PUBLIC_URL', '');
  // A bare origin: sign-in messages name its host.
  const isOrigin = publicUrl === '' || /^https?:\/\/[a-z0-9.-]+(:\d+)?\/?$/i.test(publicUrl);
  if (!isOrigin) fault('PUBLIC_URL', 'must be an origin without a path', 'https://delegations.example');
  const selfServiceKeys = onOrOff('SELF_SERVICE_KEYS', 'on');

  const webhooks = onOrOff('WEBHOOKS', 'on');
  const webhookNetworks = parseNetworks(text('WEBHOOK_NETWORKS', ''));
  if (webhookNetworks === null) fault('WEBHOOK_NETWORKS', `must be ${NETWORKS_RULE}`, 'loopback,10.20.0.0/16');

  const ownership = onOrOff('OWNERSHIP', 'off');

  const mcp = onOrOff('MCP', 'off');

  const config = {
    databaseUrl,
    // A follower renews its lease while a long transaction runs.
    databasePool: whole('DATABASE_POOL', 8, 100, '8', 2),
    replicaUrl: replicaUrl || null,
    redisUrl: redisUrl || null,
    redisFallback: redisFallback ?? 'process',
    host: text('HOST', '0.0.0.0'),
    port,
    metricsHost: text('METRICS_HOST', '127.0.0.1'),
    metricsPort,
    logLevel: logLevel ?? 'info',
    requestLog: requestLog ?? LOG_ALL_REQUESTS,
    // Bun stores the timeout in one byte and rounds to 4 seconds: less than 8 could mean none.
    idleTimeout: whole('IDLE_TIMEOUT', 30, 255, '30', 8),
    answerTimeout: whole('ANSWER_TIMEOUT', 600, 86_400, '600', 1),
    drainDelay: whole('DRAIN_DELAY', 0, 300, '15'),
    drainTimeout: whole('DRAIN_TIMEOUT', 20, 600, '20', 1),
    anonymousLimit,
    keyLimit,
    unknownKeys: unknownKeys ?? 'refuse',
    hasStandardTypes: isCompatible,
    longListLimits,
    streamLimits: {
      perAddress: whole('STREAMS', 10, MAX_STREAMS, '10'),
      perKey: whole('STREAMS_PER_KEY', 100, MAX_STREAMS, '100'),
    },
    proxies: proxies ?? NO_PROXIES,
    publicUrl: publicUrl === '' || !isOrigin ? null : new URL(publicUrl).origin,
    selfServiceKeys,
    keysPerWallet: whole('KEYS_PER_WALLET', 5, 1000, '5', 1),
    webhooks,
    webhooksPerWallet: whole('WEBHOOKS_PER_WALLET', 10, 1000, '10', 1),
    webhookNetworks: webhookNetworks ?? NO_NETWORKS,
    ownership,
    mcp,
    telemetry: readTelemetry(environment, fault),
    ...readChains(environment, fault),
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}
