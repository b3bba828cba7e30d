// Pools that callers share: nobody can take more than a part of one, or more than is left.

import { Problem } from '../../api/problems.ts';
import { widerPrefix } from './client-address.ts';

/** Who a request is counted for. */
export interface Caller {
  /** The client address, or the owner of the API key: the keys of one wallet are one caller. */
  readonly id: string;
  readonly hasKey: boolean;
}

/** Without a key, all addresses of an IPv6 /48 count as one caller. */
export const countedAs = ({ id, hasKey }: Caller): string => (hasKey ? id : (widerPrefix(id) ?? id));

/** What one caller can have. */
export interface PerCaller {
  /** Each client address without a key; all of an IPv6 /48 together. */
  readonly perAddress: number;
  /** All keys of one owner together. */
  readonly perKey: number;
}

const RETRY_SECONDS = 5;

const tooMany = (detail: string) => new Problem('too-many-requests', detail, { retryAfter: RETRY_SECONDS });

/** So much for callers without a key, and as much for those with one: they cannot use up each other's. */
export function createShares(
  total: number,
  { perAddress, perKey }: PerCaller,
  /** What a caller is told that has too much, and that finds too little left. */
  { own, all }: { readonly own: (most: number, whose: string) => string; readonly all: string },
) {
  const pools = {
    anonymous: { most: perAddress, whose: 'without an API key', taken: 0, held: new Map<string, number>() },
    keyed: { most: perKey, whose: 'with the API keys of one owner', taken: 0, held: new Map<string, number>() },
  };
  return {
    /** Throws a problem if the caller would have too much, or too little is left. Returns what gives it back. */
    take(caller: Caller, amount = 1): () => void {
      const pool = caller.hasKey ? pools.keyed : pools.anonymous;
      const { most, whose, held } = pool;
      const id = countedAs(caller);
      const before = held.get(id) ?? 0;
      if (before + amount > most) throw tooMany(own(most, whose));
      if (pool.taken + amount > total) throw tooMany(all);
      held.set(id, before + amount);
      pool.taken += amount;
      let isGivenBack = false;
      return () => {
        if (isGivenBack) return;
        isGivenBack = true;
        pool.taken -= amount;
        const left = (held.get(id) ?? amount) - amount;
        if (left === 0) held.delete(id);
        else held.set(id, left);
      };
    },
    get taken(): number {
      return pools.anonymous.taken + pools.keyed.taken;
    },
  };
}
