// Describes the effective configuration, without its secrets, and warns about what an operator probably did not mean.

import { version } from '../../package.json' with { type: 'json' };
import { nearest } from '../api/query.ts';
import { publishedFirstBlock } from '../chain/follow/first-block.ts';
import type { Limit } from '../http/limits/limiter.ts';
import { type Finality, NETWORKS, type Network } from '../registry/network.ts';
import { exposedPaths } from '../store/sqlite.ts';
import { isAllowedAddress } from '../webhooks/networks.ts';
import { CHAIN_VARIABLES } from './chain-config.ts';
import { type Config, type Environment, VARIABLES } from './config.ts';
import type { Log } from './log.ts';

/** Secret as a whole. */
const SECRETS: readonly string[] = ['OTEL_EXPORTER_OTLP_HEADERS'];
const CHAIN_NAMES = CHAIN_VARIABLES.map(([name]) => name.replace('<chainId>', ''));
const PLAIN = VARIABLES.filter(([name]) => !name.includes('<chainId>'));
/** What a misspelled name can be meant for. */
const CHAIN_STEMS = CHAIN_NAMES.map((prefix) => prefix.slice(0, -1));
const PLAIN_NAMES = PLAIN.map(([name]) => name).filter((name) => name.includes('_'));
const ofChain = (name: string) => CHAIN_NAMES.some((prefix) => name.startsWith(prefix));

/** Hides user, password, path and query: each of them can be a key. A database keeps its name. */
export function maskUrls(text: string): string {
  return text
    .split(',')
    .map((one) => {
      const url = /^[a-z]+:\/\//i.test(one) && URL.canParse(one.trim()) ? new URL(one.trim()) : null;
      if (url === null) return one;
      const user = url.password === '' ? url.username : `${url.username}:***`;
      const isHttp = /^https?:$/.test(url.protocol);
      const path = isHttp && url.pathname + url.search !== '/' ? '/***' : url.pathname;
      const who = user === '' ? '' : `${isHttp ? '***' : user}@`;
      return `${url.protocol}//${who}${url.host}${path}${!isHttp && url.search !== '' ? '?***' : ''}`;
    })
    .join(',');
}

/** Every variable with the value that is in effect, without secrets, and where that is from. */
export function describeConfig(environment: Environment, config: Config) {
  const plain = PLAIN.map(([name, otherwise]) => ({ name, value: otherwise, source: 'default' }));
  const chainIds = [...new Set([...config.chains.keys(), ...config.maxLag.keys()])].sort((a, b) => a - b);
  const chains = chainIds.flatMap((chainId) =>
    chainDefaults(chainId).filter(({ name }) => config.chains.has(chainId) || environment[name]),
  );
  return [...plain, ...chains].map((unset) => {
    const set = environment[unset.name];
    return set ? { ...unset, value: SECRETS.includes(unset.name) ? '***' : maskUrls(set), source: 'set' } : unset;
  });
}

function chainDefaults(chainId: number) {
  const network = NETWORKS.get(chainId) as Network;
  const defaults = {
    RPC_URL_: 'not followed',
    START_BLOCK_: String(publishedFirstBlock(network) ?? 'registry deployment'),
    FINALITY_: finalityText(network.finality),
    POLL_INTERVAL_: String(Math.max(1000, 1000 * network.blockSeconds)),
    MAX_LAG_: String(network.maxLagSeconds),
    ...(network.custom === undefined ? {} : { NETWORK_: network.custom }),
  };
  return Object.entries(defaults).map(([prefix, value]) => ({ name: prefix + chainId, value, source: 'network' }));
}

const finalityText = (finality: Finality): string =>
  finality === 'tag' ? 'tag' : 'blocks' in finality ? `${finality.blocks} blocks` : `${finality.seconds} seconds`;

/** What is valid but probably a mistake. */
export function configWarnings(environment: Environment, config: Config, follows = true): string[] {
  const names = Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return [
    ...names.flatMap((name) => misspelling(name) ?? []),
    ...(follows && config.chains.size === 0
      ? ['No chain is configured. Set RPC_URL_<chainId>, such as RPC_URL_1=https://node.example']
      : []),
    ...(follows || config.chains.size > 0
      ? []
      : [config.ownership && 'OWNERSHIP', config.provesAnswers && 'PROOFS'].flatMap((name) =>
          name ? [`${name}=on needs the providers in this process too. Set RPC_URL_<chainId>.`] : [],
        )),
    ...openDoors(config),
    ...exposedPaths(config.databaseUrl).map(
      ({ path, mode }) =>
        `Other users of this machine can read the store (mode ${mode}). It has secrets: chmod 600 ${path}`,
    ),
  ];
}

const LOOPBACK = /^(localhost|127\..*|\[?::1\]?)$/;

/** Settings that let strangers do more than the operator probably wants. */
function openDoors(config: Config): string[] {
  const { publicUrl, host, anonymousLimit, proxies } = config;
  const isPublic = !LOOPBACK.test(host);
  const isPlain = publicUrl?.startsWith('http:') && !LOOPBACK.test(new URL(publicUrl).hostname);
  // Far apart: no operator has both.
  const trusts = (family: 'ipv4' | 'ipv6', ...far: string[]) => far.every((address) => proxies.check(address, family));
  const trustsAnyone = trusts('ipv4', '1.1.1.1', '100.1.1.1') || trusts('ipv6', '2001:db8::1', '2600::1');
  const networks = config.webhooks && config.selfServiceKeys && isAllowedAddress('10.0.0.1', config.webhookNetworks);
  const doors: readonly (readonly [isOpen: boolean | undefined, warning: string])[] = [
    [isPlain, 'PUBLIC_URL has no TLS: keys and sessions can be read on the way. Use https, and a proxy that ends TLS.'],
    [
      isPublic && anonymousLimit === null,
      'ANONYMOUS_LIMIT=off: the requests of callers without a key are not limited.',
    ],
    [trustsAnyone, 'TRUSTED_PROXIES trusts everybody: callers can choose the address that their limit counts for.'],
    [
      networks,
      'WEBHOOK_NETWORKS allows private networks, and SELF_SERVICE_KEYS=on lets strangers create webhooks to them.',
    ],
  ];
  return doors.flatMap(([isOpen, warning]) => (isOpen ? [warning] : []));
}

/** Only names that can be meant for this program: an environment has many others. */
function misspelling(name: string): string | null {
  if (!name.includes('_') || ofChain(name) || PLAIN.some(([known]) => known === name)) return null;
  const [, stem = name, chain = ''] = /^(.+?)_?(\d+)$/.exec(name) ?? [];
  const perChain = nearest(stem, CHAIN_STEMS);
  if (perChain !== null) return `${name} is not used. Did you mean ${perChain}_${chain || '1'}?`;
  const plain = nearest(name, PLAIN_NAMES);
  return plain === null ? null : `${name} is not used. Did you mean ${plain}?`;
}

const limitText = (limit: Limit | null) => (limit === null ? 'off' : `${limit.most}/${limit.seconds}s`);

/** Logs what is about to run, and every warning. */
export function logStart(log: Log, environment: Environment, config: Config, follows: boolean): void {
  for (const warning of configWarnings(environment, config, follows)) log('warn', 'configuration', { warning });
  log('info', 'starting', {
    version,
    store: maskUrls(config.databaseUrl),
    chains: Object.fromEntries(
      [...config.chains].map(([chainId, { startBlock }]) => [
        chainId,
        startBlock ?? publishedFirstBlock(NETWORKS.get(chainId) as Network) ?? 'registry deployment',
      ]),
    ),
    anonymousLimit: limitText(config.anonymousLimit),
    keyLimit: limitText(config.keyLimit),
  });
}
