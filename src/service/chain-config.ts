// Reads the variables of single chains: RPC_URL_1, START_BLOCK_1, …

import { NETWORK_RULE, parseNetwork } from '../registry/custom-network.ts';
import { type Finality, LISTED, NETWORKS, type Network } from '../registry/network.ts';
import { type Environment, integer, type Kind, type ReportFault } from './variable.ts';

/** How to follow one chain. */
export interface ChainConfig {
  /** Can contain secrets: never log or show them. */
  readonly rpcUrls: readonly string[];
  /** Of an archive service; can contain secrets too. */
  readonly historyUrl?: string;
  readonly startBlock?: number;
  readonly finality?: Finality;
  readonly pollMs?: number;
}

export const CHAIN_VARIABLES = [
  ['RPC_URL_<chainId>', 'not followed', "the chain's providers: one URL, or several separated by commas"],
  [
    'HISTORY_URL_<chainId>',
    'none',
    'an archive service to read old history from, while it is faster than the providers',
  ],
  ['START_BLOCK_<chainId>', 'registry deployment', 'first block to index'],
  ['FINALITY_<chainId>', "the network's", 'when a block is final: tag, 64 blocks, or 900 seconds'],
  ['POLL_INTERVAL_<chainId>', 'block time', 'milliseconds between polls'],
  ['MAX_LAG_<chainId>', "the network's", 'seconds of lag after which the chain answers 503'],
  ['NETWORK_<chainId>', 'none', `a network that is not in the table: ${NETWORK_RULE}`],
] as const;

const URLS: Kind<readonly string[]> = {
  rule: 'one or more http(s) URLs, separated by commas',
  read(text) {
    const urls = text.split(',').map((url) => url.trim());
    return urls.every((url) => /^https?:\/\/.+/.test(url) && URL.canParse(url)) ? urls : undefined;
  },
};
const HISTORY_URL: Kind<string> = {
  rule: 'an http(s) URL without a query',
  read: (text) => (/^https?:\/\/[^?#]+$/.test(text) && URL.canParse(text) ? text : undefined),
};
const FINALITY: Kind<Finality> = {
  rule: 'tag, <n> blocks or <n> seconds, with n from 0 to 999999999',
  read(text) {
    if (text === 'tag') return text;
    const [, number, unit] = /^(\d{1,9}) (blocks|seconds)$/.exec(text) ?? [];
    if (number === undefined) return undefined;
    return unit === 'blocks' ? { blocks: Number(number) } : { seconds: Number(number) };
  },
};

const NETWORK_EXAMPLE = 'Animechain,2s';
/** Other programs have names like NETWORK_MODE. */
const NETWORK_NAME = /^NETWORK_(\d.*)$/;

/** Null if the text is no chain id. */
const chainIdOf = (text: string): number | null =>
  /^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;

const networkTexts = (environment: Environment) =>
  Object.entries(environment).flatMap(([name, text]) => {
    const [, chain] = NETWORK_NAME.exec(name) ?? [];
    return chain === undefined || !text ? [] : [{ name, chainId: chainIdOf(chain), text }];
  });

/** The networks of NETWORK_<chainId>, to add to the table before anything else. Invalid ones are left out: `readChains` reports them. */
export const readNetworks = (environment: Environment): Network[] =>
  networkTexts(environment).flatMap(({ chainId, text }) =>
    chainId === null || LISTED.has(chainId) ? [] : (parseNetwork(chainId, text) ?? []),
  );

/** Reports those that are invalid. Returns the ids of all. */
function checkNetworks(environment: Environment, fault: ReportFault): ReadonlySet<number | null> {
  const found = networkTexts(environment);
  for (const { name, chainId, text } of found) {
    const listed = chainId === null ? undefined : LISTED.get(chainId);
    if (chainId === null) fault(name, 'must end with a chain id', NETWORK_EXAMPLE, 'NETWORK_69000');
    else if (listed !== undefined)
      fault(name, `must be removed: ${listed.name} is known`, 'https://node.example', `RPC_URL_${chainId}`);
    else if (parseNetwork(chainId, text) === undefined) fault(name, `must be ${NETWORK_RULE}`, NETWORK_EXAMPLE);
    else if (!environment[`RPC_URL_${chainId}`])
      fault(`RPC_URL_${chainId}`, `is missing, but ${name} is set`, 'https://node.example');
  }
  return new Set(found.map(({ chainId }) => chainId));
}

/** By what the names of the variables begin with. */
const SETTINGS = [
  ['RPC_URL_', 'rpcUrls', 'https://node.example/key', URLS],
  ['HISTORY_URL_', 'historyUrl', 'https://archive.example/datasets/ethereum-mainnet', HISTORY_URL],
  ['START_BLOCK_', 'startBlock', '18150000', integer(0, Number.MAX_SAFE_INTEGER)],
  ['FINALITY_', 'finality', '64 blocks', FINALITY],
  ['POLL_INTERVAL_', 'pollMs', '12000', integer(100, 3_600_000)],
  ['MAX_LAG_', 'maxLag', '120', integer(0, 31_536_000)],
] as const;

export function readChains(environment: Environment, fault: ReportFault) {
  const custom = checkNetworks(environment, fault);
  const settings = new Map<number, Partial<ChainConfig> & { maxLag?: number }>();
  for (const [name, text] of Object.entries(environment)) {
    const setting = SETTINGS.find(([prefix]) => name.startsWith(prefix));
    if (setting === undefined || !text) continue;
    const [prefix, field, example, kind] = setting;
    const chainId = chainIdOf(name.slice(prefix.length));
    const value = kind.read(text.trim());
    if (chainId === null) fault(name, 'must end with the id of a network', example, `${prefix}1`);
    else if (!NETWORKS.has(chainId) && !custom.has(chainId))
      fault(name, 'is of a network that is not known: say what it is', NETWORK_EXAMPLE, `NETWORK_${chainId}`);
    else if (value === undefined) fault(name, `must be ${kind.rule}`, example);
    else settings.set(chainId, { ...settings.get(chainId), [field]: value });
  }
  /** The chains to follow, by chain id. */
  const chains = new Map<number, ChainConfig>();
  /** Seconds, for chains where the operator overrides the network's limit. */
  const maxLag = new Map<number, number>();
  for (const [chainId, { maxLag: lag, rpcUrls, ...rest }] of settings) {
    if (lag !== undefined) maxLag.set(chainId, lag);
    if (rpcUrls !== undefined) chains.set(chainId, { rpcUrls, ...rest });
    else if (Object.keys(rest).length > 0 && !custom.has(chainId))
      fault(`RPC_URL_${chainId}`, 'is missing, but other variables of that chain are set', 'https://node.example');
  }
  return { chains, maxLag };
}
