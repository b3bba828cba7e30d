// Short forms of addresses and keys, which lead the indexes so that an entry is small. Anyone may grant to any address, so
// they are hashes under the store's own secret: nobody outside can make two of them meet. Rare chance meetings do no harm,
// for every statement compares the whole values too.

import type { Address, DelegationKey } from '../registry/delegation.ts';

export interface IndexHash {
  /** Of the wallet that grants. What it does on one chain is no neighbour of what it does on another. */
  cold(chainId: number, from: Address): number;
  /** Of the wallet that is granted. */
  hot(chainId: number, to: Address): number;
  /** Of all that tells apart the delegations of a pair. */
  key(key: DelegationKey): number;
}

/** As many bits as are exact in a JavaScript number and in SQL. */
const BITS_TOO_MANY = 12n;

export function createIndexHash(secret: bigint): IndexHash {
  const short = (text: string) => Number(Bun.hash.wyhash(text, secret) >> BITS_TOO_MANY);
  return {
    cold: (chainId, from) => short(`${chainId} from ${from}`),
    hot: (chainId, to) => short(`${chainId} to ${to}`),
    key: ({ version, kind, contract, tokenId, rights }) => short(`${version},${kind},${contract},${tokenId},${rights}`),
  };
}
