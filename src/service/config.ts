// Reads the configuration from the environment, once, and reports all faults together before anything starts.

import { UNKNOWN_KEYS, type UnknownKeys } from '../http/limits/admission.ts';
import { readProxies, type TrustedProxies } from '../http/limits/client-address.ts';
import { LIMIT_RULE, type Limit, parseLimit } from '../http/limits/limiter.ts';
import { NETWORKS_RULE, type Networks, parseNetworks } from '../webhooks/networks.ts';
import { CHAIN_VARIABLES, readChains } from './chain-config.ts';
import { LOG_LEVELS } from './log.ts';
import { type RequestLogRule, readRequestLogRule } from './request-log.ts';
import { readTelemetry, TELEMETRY_VARIABLES } from './telemetry-config.ts';
import * as v from './variable.ts';

export type { Environment } from './variable.ts';

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

const SERVICE_VARIABLES = [
  ['DATABASE_URL', 'sqlite:./data/delegations.db', 'database: sqlite:<path> or postgres://user@host/database'],
  ['DATABASE_REPLICA_URL', 'none', 'streaming replica of a PostgreSQL database, used for reads while it is up to date'],
  ['DATABASE_POOL', '8', 'maximum number of PostgreSQL connections of one process, 2 to 100; idle ones are closed'],
  ['REDIS_URL', 'none', 'Redis or Valkey, to share one rate limit between all processes: redis://host:6379'],
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
  ['TRUSTED_PROXIES', 'none', 'proxies whose X-Forwarded-For is trusted: 10.0.0.0/8,2001:db8::/32'],
  ['PUBLIC_URL', 'http://localhost:PORT', 'origin that callers use; sign-in messages must name it'],
  ['SELF_SERVICE_KEYS', 'on', 'whether a wallet can create its own keys at /developers: on or off'],
  ['KEYS_PER_WALLET', '5', 'maximum number of active keys per wallet, rotated keys in their overlap included'],
  ['WEBHOOKS', 'on', 'whether webhooks can be created and are delivered: on or off'],
  [
    'WEBHOOK_NETWORKS',
    'none',
    'networks that webhooks may deliver to although they are not public: 10.20.0.0/16, loopback, private, link-local',
  ],
  ['OWNERSHIP', 'off', "whether /registry/any/holders reads who owns tokens from the chains' providers: on or off"],
  [
    'IMPORT_TRUST',
    'all',
    'what is answered of an imported chain before its providers have confirmed all of the import: all or none',
  ],
  [
    'ARCHIVE',
    'off',
    'whether archives of the served chains are published at /archive, for imports and mirrors: on or off',
  ],
  ['PROOFS', 'off', "whether checks can be proven (proof=true) by the chains' providers: on or off"],
  ['MCP', 'off', 'whether language models can ask over the Model Context Protocol at /mcp: on or off'],
  ['IDLE_TIMEOUT', '30', 'seconds before an idle connection is closed, 8 to 255'],
  ['DRAIN_DELAY', '0', 'seconds that a stopping process still accepts requests while /ready is 503, 0 to 300'],
  ['DRAIN_TIMEOUT', '20', 'seconds that requests in flight get after that, 1 to 600'],
] as const satisfies readonly v.Variable[];

export const VARIABLES: readonly v.Variable[] = [...SERVICE_VARIABLES, ...TELEMETRY_VARIABLES, ...CHAIN_VARIABLES];

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

const DATABASE = v.textWith(
  'sqlite:<path> or postgres://user@host/database',
  (text) => /^sqlite:./.test(text) || isPostgres(text),
);
const POSTGRES = v.textWith('postgres://user@host/database', isPostgres, 'postgres://delegations@replica/delegations');
const REDIS = v.textWith('redis://host[:port][/db]', isRedis, 'redis://localhost:6379/0');
const REQUEST_LOG: v.Kind<RequestLogRule> = {
  rule: 'all, errors, sample:<n> or off',
  example: 'sample:100',
  read: (text) => readRequestLogRule(text) ?? undefined,
};
/** Null means no limit. */
const LIMIT: v.Kind<Limit | null> = {
  rule: `off or ${LIMIT_RULE}`,
  example: '25/10s',
  read: (text) => (text === 'off' ? null : (parseLimit(text) ?? undefined)),
};
const PROXIES: v.Kind<TrustedProxies> = {
  rule: 'a comma-separated list of CIDR networks',
  example: '10.0.0.0/8,2001:db8::/32',
  read: (text) => readProxies(text) ?? undefined,
  absent: { check: () => false },
};
/** A bare origin: sign-in messages name its host. */
const ORIGIN: v.Kind<string> = {
  rule: 'an origin without a path',
  example: 'https://delegations.example',
  read: (text) => (/^https?:\/\/[a-z0-9.-]+(:\d+)?\/?$/i.test(text) ? new URL(text).origin : undefined),
};
const WEBHOOK_TARGETS: v.Kind<Networks> = {
  rule: NETWORKS_RULE,
  example: 'loopback,10.20.0.0/16',
  read: (text) => parseNetworks(text) ?? undefined,
  absent: parseNetworks('') as Networks,
};

export type Config = ReturnType<typeof readConfig>;

export function readConfig(environment: v.Environment) {
  const faults: ConfigFault[] = [];
  const fault: v.ReportFault = (name, detail, value, exampleName = name) =>
    void faults.push({ name, detail, example: `${exampleName}=${value}` });
  const read = v.variableReader(SERVICE_VARIABLES, environment, fault);
  const isCompatible = read('COMPATIBLE', v.onOff);
  const config = {
    databaseUrl: read('DATABASE_URL', DATABASE),
    replicaUrl: read('DATABASE_REPLICA_URL', v.orNull(POSTGRES)),
    // A follower renews its lease while a long transaction runs.
    databasePool: read('DATABASE_POOL', v.integer(2, 100)),
    redisUrl: read('REDIS_URL', v.orNull(REDIS)),
    host: read('HOST', v.anyText),
    port: read('PORT', v.integer(0, 65_535)),
    metricsHost: read('METRICS_HOST', v.anyText),
    metricsPort: read('METRICS_PORT', v.integer(0, 65_535)),
    logLevel: read('LOG_LEVEL', v.oneOf(...LOG_LEVELS)),
    requestLog: read('LOG_REQUESTS', REQUEST_LOG),
    anonymousLimit: read('ANONYMOUS_LIMIT', LIMIT),
    keyLimit: read('KEY_LIMIT', LIMIT),
    unknownKeys: read<UnknownKeys>('UNKNOWN_KEYS', {
      ...v.oneOf(...UNKNOWN_KEYS),
      absent: isCompatible ? 'anonymous' : 'refuse',
    }),
    hasStandardTypes: isCompatible,
    proxies: read('TRUSTED_PROXIES', PROXIES),
    publicUrl: read('PUBLIC_URL', v.orNull(ORIGIN)),
    selfServiceKeys: read('SELF_SERVICE_KEYS', v.onOff),
    keysPerWallet: read('KEYS_PER_WALLET', v.integer(1, 1000)),
    webhooks: read('WEBHOOKS', v.onOff),
    webhookNetworks: read('WEBHOOK_NETWORKS', WEBHOOK_TARGETS),
    ownership: read('OWNERSHIP', v.onOff),
    trustsImports: read('IMPORT_TRUST', v.oneOf('all', 'none')) === 'all',
    publishesArchives: read('ARCHIVE', v.onOff),
    provesAnswers: read('PROOFS', v.onOff),
    mcp: read('MCP', v.onOff),
    // Seconds. Bun stores the timeout in one byte and rounds to 4 seconds: less than 8 could mean none.
    idleTimeout: read('IDLE_TIMEOUT', v.integer(8, 255)),
    /** Seconds that a streamed list may take: six million delegations at the pace without a key. */
    answerTimeout: 600,
    /** Seconds between the stop signal and the end of accepting requests, while `/ready` answers 503. */
    drainDelay: read('DRAIN_DELAY', v.integer(0, 300)),
    /** Seconds that requests in flight get after that. */
    drainTimeout: read('DRAIN_TIMEOUT', v.integer(1, 600)),
    telemetry: readTelemetry(environment, fault),
    ...readChains(environment, fault),
  };
  const { databaseUrl, replicaUrl, port, metricsPort } = config;
  if (replicaUrl && databaseUrl?.startsWith('sqlite:'))
    fault(
      'DATABASE_REPLICA_URL',
      'requires DATABASE_URL to be postgres://…',
      'postgres://delegations@replica/delegations',
    );
  // An invalid value is undefined.
  if (port && port === metricsPort) fault('METRICS_PORT', 'must not equal PORT', '9090');
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}
