// Hashes addresses and keys to 52-bit numbers, which lead the indexes so that an entry is small. Anyone may grant to any
// address, so the hash is keyed with the store's own secret: nobody outside can make collisions. A collision by chance does no
// harm, because every statement compares the full values too.

import type { Address, DelegationKey } from '../registry/delegation.ts';

export interface IndexHash {
  /** Of the wallet that grants. It differs by chain, so one wallet's rows on two chains are not neighbours in an index. */
  cold(chainId: number, from: Address): number;
  /** Of the wallet that is granted to. It differs by chain too. */
  hot(chainId: number, to: Address): number;
  /** Of everything that distinguishes the delegations of a pair. */
  key(key: DelegationKey): number;
}

/** Leaves 52 of 64 bits, which are exact in a JavaScript number. */
const DROPPED_BITS = 12n;

export function createIndexHash(secret: bigint): IndexHash {
  const hash = (text: string) => Number(Bun.hash.wyhash(text, secret) >> DROPPED_BITS);
  return {
    cold: (chainId, from) => hash(`${chainId} from ${from}`),
    hot: (chainId, to) => hash(`${chainId} to ${to}`),
    key: ({ version, kind, contract, tokenId, rights }) => hash(`${version},${kind},${contract},${tokenId},${rights}`),
  };
}
