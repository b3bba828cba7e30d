// Networks that are not in the table. An operator says in a text what must be known of one: `Animechain,2s,v1`. The store keeps the text, so that
// whoever reads an index knows which registries it is of.

import { type Network, network } from './network.ts';
import { ALL_VERSIONS } from './versions.ts';

export const NETWORK_RULE = '<name>,<block time>s, then v1, zksync or explorer=https://<host> where they are true';

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._()'-]{0,39}$/u;
const SECONDS = /^\d{1,4}(\.\d{1,3})?s$/;
const MAX_SECONDS = 3600;
const EXPLORER = /^explorer=https:\/\/([a-z0-9.-]+(?::\d+)?)\/?$/i;

/** Undefined if the text is invalid. */
export function parseNetwork(chainId: number, text: string): Network | undefined {
  const [name = '', time = '', ...traits] = text.split(',').map((part) => part.trim());
  const blockSeconds = SECONDS.test(time) ? Number(time.slice(0, -1)) : 0;
  const hosts = traits.flatMap((trait) => EXPLORER.exec(trait)?.[1]?.toLowerCase() ?? []);
  const [v1, zksync] = [traits.includes('v1'), traits.includes('zksync')];
  // Each at most once, and nothing else.
  const isWhole = hosts.length <= 1 && traits.length === hosts.length + Number(v1) + Number(zksync);
  if (!NAME.test(name) || blockSeconds <= 0 || blockSeconds > MAX_SECONDS || !isWhole) return undefined;
  const explorer = hosts[0] === undefined ? {} : { explorer: hosts[0] };
  // That a bloom leaves out the registries proves nothing on a chain of which nobody knows whether its blooms are true.
  const unknown = { testnet: null, bloom: false };
  return network(chainId, name, blockSeconds, {
    v1,
    zksync,
    ...explorer,
    ...unknown,
    custom: [
      name,
      `${blockSeconds}s`,
      ...(v1 ? ['v1'] : []),
      ...(zksync ? ['zksync'] : []),
      ...hosts.map((host) => `explorer=https://${host}`),
    ].join(),
  });
}

/**
 * Whether an index has the registries of a network. `stored` is what the store keeps of it: null for one of the table, of which nothing is
 * kept.
 */
export function isIndexOf(found: Network, stored: string | null): boolean {
  if (stored === null || stored === found.custom) return stored === (found.custom ?? null);
  const indexed = parseNetwork(found.chainId, stored);
  return indexed !== undefined && ALL_VERSIONS.every((one) => indexed.registries[one] === found.registries[one]);
}
