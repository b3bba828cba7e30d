import { expect, test } from 'bun:test';
import { addNetworks } from '../registry/network.ts';
import { readNetworks } from './chain-config.ts';
import { readConfig } from './config.ts';
import { describeConfig, logStart } from './describe-config.ts';

/** What a start with this environment logs. */
function startLog(environment: Record<string, string>, follows = true): unknown[] {
  const lines: unknown[] = [];
  logStart(
    (level, message, fields) => void lines.push({ level, message, ...fields }),
    environment,
    readConfig(environment),
    follows,
  );
  return lines;
}

test('a start logs version, store, chains with their first blocks, and the limit, without secrets', () => {
  const environment = {
    DATABASE_URL: 'postgres://me:secret@db.example/delegations',
    RPC_URL_1: 'https://node.example/secret',
    RPC_URL_10: 'https://node.example/secret',
    RPC_URL_137: 'https://node.example/secret',
    START_BLOCK_137: '5',
  };
  expect(startLog(environment)).toEqual([
    {
      level: 'info',
      message: 'starting',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      store: 'postgres://me:***@db.example/delegations',
      chains: { 1: 15_590_000, 10: 'registry deployment', 137: 5 },
      anonymousLimit: '25/10s',
      keyLimit: 'off',
    },
  ]);
});

test('a network that is not in the table has its defaults', () => {
  const environment = { NETWORK_69000: ' Animechain, 30s,v1', RPC_URL_69000: 'https://node.example/secret' };
  using undo = new DisposableStack();
  undo.defer(addNetworks(readNetworks(environment)));
  const settings = describeConfig(environment, readConfig(environment)).filter(({ name }) => name.endsWith('69000'));
  expect(settings.map(({ name, value, source }) => `${name}=${value} (${source})`)).toEqual([
    'RPC_URL_69000=https://node.example/*** (set)',
    'START_BLOCK_69000=registry deployment (network)',
    'FINALITY_69000=tag (network)',
    'POLL_INTERVAL_69000=30000 (network)',
    'MAX_LAG_69000=300 (network)',
    'NETWORK_69000= Animechain, 30s,v1 (set)',
  ]);
  expect(startLog(environment)).toEqual([expect.objectContaining({ chains: { 69000: 'registry deployment' } })]);
});

test('a start without a chain, or with a misspelt variable, logs a warning with the name that was meant', () => {
  const warn = (warning: string) => ({ level: 'warn', message: 'configuration', warning });
  const noChain = warn('No chain is configured. Set RPC_URL_<chainId>, such as RPC_URL_1=https://node.example');
  const start = expect.objectContaining({ message: 'starting' });
  expect(startLog({})).toEqual([noChain, start]);
  // Set but empty, as compose files do.
  expect(startLog({ RPC_URL: '' })).toEqual([warn('RPC_URL is not used. Did you mean RPC_URL_1?'), noChain, start]);
  expect(startLog({ RPC_URLS_1: '' })).toEqual([
    warn('RPC_URLS_1 is not used. Did you mean RPC_URL_1?'),
    noChain,
    start,
  ]);
  // Another process follows.
  expect(startLog({}, false)).toEqual([start]);
  const noProviders = warn('OWNERSHIP=on needs the providers in this process too. Set RPC_URL_<chainId>.');
  expect(startLog({ OWNERSHIP: 'on' }, false)).toEqual([noProviders, start]);
  // Names of other programs.
  expect(startLog({ HOME: '/', PGHOST: 'x', NODE_ENV: 'production', KUBERNETES_PORT: '1' }, false)).toEqual([start]);
});

test('a start that leaves a door open says which', () => {
  const warningsOf = (environment: Record<string, string>) =>
    (startLog(environment, false) as { warning?: string }[]).flatMap(({ warning }) =>
      warning === undefined ? [] : [String(warning).split(':')[0]],
    );
  for (const [environment, warnings] of [
    [{ PUBLIC_URL: 'http://delegations.example' }, ['PUBLIC_URL has no TLS']],
    [{ PUBLIC_URL: 'https://delegations.example' }, []],
    [{ PUBLIC_URL: 'http://localhost:8080' }, []],
    [{ ANONYMOUS_LIMIT: 'off' }, ['ANONYMOUS_LIMIT=off']],
    [{ ANONYMOUS_LIMIT: 'off', HOST: '127.0.0.1' }, []],
    [{ TRUSTED_PROXIES: '10.0.0.0/8,2001:db8::/32' }, []],
    [{ TRUSTED_PROXIES: '0.0.0.0/0' }, ['TRUSTED_PROXIES trusts everybody']],
    [{ TRUSTED_PROXIES: '2000::/3' }, ['TRUSTED_PROXIES trusts everybody']],
    [{ WEBHOOK_NETWORKS: 'loopback' }, []],
    [{ WEBHOOK_NETWORKS: 'private', SELF_SERVICE_KEYS: 'off' }, []],
    [
      { WEBHOOK_NETWORKS: 'private' },
      ['WEBHOOK_NETWORKS allows private networks, and SELF_SERVICE_KEYS=on lets strangers create webhooks to them.'],
    ],
  ] as const)
    expect([environment, warningsOf(environment)]).toEqual([environment, [...warnings]]);
});
