// Reads the variables of single chains: RPC_URL_1, START_BLOCK_1, …

import { type Finality, NETWORKS } from '../registry/network.ts';

/** How to follow one chain. */
export interface ChainConfig {
  /** Can contain secrets: never log or show them. */
  readonly rpcUrls: readonly string[];
  readonly startBlock?: number;
  readonly finality?: Finality;
  readonly pollMs?: number;
}

export interface ChainConfigs {
  /** The chains to follow, by chain id. */
  readonly chains: ReadonlyMap<number, ChainConfig>;
  /** Seconds, for chains where the operator overrides the network's limit. */
  readonly maxLag: ReadonlyMap<number, number>;
}

/** Name, default and description of every variable, for `--help`. */
export const CHAIN_VARIABLES = [
  ['RPC_URL_<chainId>', 'not followed', "the chain's providers: one URL, or several separated by commas"],
  ['START_BLOCK_<chainId>', 'registry deployment', 'first block to index'],
  ['FINALITY_<chainId>', "the network's", 'when a block is final: tag, 64 blocks, or 900 seconds'],
  ['POLL_INTERVAL_<chainId>', 'block time', 'milliseconds between polls'],
  ['MAX_LAG_<chainId>', "the network's", 'seconds of lag after which the chain answers 503'],
] as const;

/** Reports an invalid variable, with a valid value for it, or for another variable. */
export type ReportFault = (name: string, detail: string, value: string, exampleName?: string) => void;

export function readChains(
  environment: Readonly<Record<string, string | undefined>>,
  fault: ReportFault,
): ChainConfigs {
  const chains = new Map<number, ChainConfig>();
  const maxLag = new Map<number, number>();
  const settings = new Map<number, Partial<ChainConfig>>();
  for (const [name, value] of Object.entries(environment)) {
    const [, setting, chain] = /^(RPC_URL|START_BLOCK|FINALITY|POLL_INTERVAL|MAX_LAG)_(.*)$/.exec(name) ?? [];
    if (setting === undefined || !value) continue;
    const { read, example, expected } = SETTINGS[setting as keyof typeof SETTINGS];
    const found = read(value.trim());
    if (!/^\d+$/.test(chain ?? '') || !NETWORKS.has(Number(chain)))
      fault(name, 'must end with the id of a supported network', example, `${setting}_1`);
    else if (found === null) fault(name, `must be ${expected}`, example);
    else if (typeof found === 'number') maxLag.set(Number(chain), found);
    else settings.set(Number(chain), { ...settings.get(Number(chain)), ...found });
  }
  for (const [chainId, { rpcUrls, ...rest }] of settings) {
    if (rpcUrls !== undefined) chains.set(chainId, { rpcUrls, ...rest });
    else fault(`RPC_URL_${chainId}`, 'is missing, but other variables of that chain are set', 'https://node.example');
  }
  return { chains, maxLag };
}

const readInteger = (text: string, most: number) => (/^\d+$/.test(text) && Number(text) <= most ? Number(text) : null);

/** `read` gives null for invalid text, a number for the maximum lag, otherwise fields of the chain's configuration. */
const SETTINGS = {
  RPC_URL: {
    expected: 'one or more http(s) URLs, separated by commas',
    example: 'https://node.example/key',
    read(text: string) {
      const rpcUrls = text.split(',').map((url) => url.trim());
      return rpcUrls.every((url) => /^https?:\/\/.+/.test(url) && URL.canParse(url)) ? { rpcUrls } : null;
    },
  },
  START_BLOCK: {
    expected: `a block number from 0 to ${Number.MAX_SAFE_INTEGER}`,
    example: '18150000',
    read(text: string) {
      const startBlock = readInteger(text, Number.MAX_SAFE_INTEGER);
      return startBlock === null ? null : { startBlock };
    },
  },
  FINALITY: {
    expected: 'tag, <n> blocks or <n> seconds, with n from 0 to 999999999',
    example: '64 blocks',
    read(text: string): { finality: Finality } | null {
      if (text === 'tag') return { finality: 'tag' };
      const [, number, unit] = /^(\d{1,9}) (blocks|seconds)$/.exec(text) ?? [];
      if (number === undefined) return null;
      return { finality: unit === 'blocks' ? { blocks: Number(number) } : { seconds: Number(number) } };
    },
  },
  POLL_INTERVAL: {
    expected: 'from 100 to 3600000 milliseconds',
    example: '12000',
    read(text: string) {
      const pollMs = readInteger(text, 3_600_000);
      return pollMs === null || pollMs < 100 ? null : { pollMs };
    },
  },
  MAX_LAG: {
    expected: 'from 0 to 31536000 seconds',
    example: '120',
    read: (text: string) => readInteger(text, 31_536_000),
  },
};
