// Reads the variables of single chains: RPC_URL_1, START_BLOCK_1, …

import { type Finality, NETWORKS } from '../registry/network.ts';
import { type Environment, integer, type Kind, type ReportFault } from './variable.ts';

/** How to follow one chain. */
export interface ChainConfig {
  /** Can contain secrets: never log or show them. */
  readonly rpcUrls: readonly string[];
  readonly startBlock?: number;
  readonly finality?: Finality;
  readonly pollMs?: number;
}

export const CHAIN_VARIABLES = [
  ['RPC_URL_<chainId>', 'not followed', "the chain's providers: one URL, or several separated by commas"],
  ['START_BLOCK_<chainId>', 'registry deployment', 'first block to index'],
  ['FINALITY_<chainId>', "the network's", 'when a block is final: tag, 64 blocks, or 900 seconds'],
  ['POLL_INTERVAL_<chainId>', 'block time', 'milliseconds between polls'],
  ['MAX_LAG_<chainId>', "the network's", 'seconds of lag after which the chain answers 503'],
] as const;

const URLS: Kind<readonly string[]> = {
  rule: 'one or more http(s) URLs, separated by commas',
  read(text) {
    const urls = text.split(',').map((url) => url.trim());
    return urls.every((url) => /^https?:\/\/.+/.test(url) && URL.canParse(url)) ? urls : undefined;
  },
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

/** By what the names of the variables begin with. */
const SETTINGS = [
  ['RPC_URL_', 'rpcUrls', 'https://node.example/key', URLS],
  ['START_BLOCK_', 'startBlock', '18150000', integer(0, Number.MAX_SAFE_INTEGER)],
  ['FINALITY_', 'finality', '64 blocks', FINALITY],
  ['POLL_INTERVAL_', 'pollMs', '12000', integer(100, 3_600_000)],
  ['MAX_LAG_', 'maxLag', '120', integer(0, 31_536_000)],
] as const;

export function readChains(environment: Environment, fault: ReportFault) {
  const settings = new Map<number, Partial<ChainConfig> & { maxLag?: number }>();
  for (const [name, text] of Object.entries(environment)) {
    const setting = SETTINGS.find(([prefix]) => name.startsWith(prefix));
    if (setting === undefined || !text) continue;
    const [prefix, field, example, kind] = setting;
    const chain = name.slice(prefix.length);
    const value = kind.read(text.trim());
    if (!/^\d+$/.test(chain) || !NETWORKS.has(Number(chain)))
      fault(name, 'must end with the id of a supported network', example, `${prefix}1`);
    else if (value === undefined) fault(name, `must be ${kind.rule}`, example);
    else settings.set(Number(chain), { ...settings.get(Number(chain)), [field]: value });
  }
  /** The chains to follow, by chain id. */
  const chains = new Map<number, ChainConfig>();
  /** Seconds, for chains where the operator overrides the network's limit. */
  const maxLag = new Map<number, number>();
  for (const [chainId, { maxLag: lag, rpcUrls, ...rest }] of settings) {
    if (lag !== undefined) maxLag.set(chainId, lag);
    if (rpcUrls !== undefined) chains.set(chainId, { rpcUrls, ...rest });
    else if (Object.keys(rest).length > 0)
      fault(`RPC_URL_${chainId}`, 'is missing, but other variables of that chain are set', 'https://node.example');
  }
  return { chains, maxLag };
}
