// Several chains whose delegations count for one answer: the block of each, and what they say together. If one of them cannot be read
// as of its block, there is no answer.

import type { Address } from '../../registry/delegation.ts';
import type { CounterpartPage, DetailedDelegation } from '../../store/store.ts';
import { type AsOf, type PinnedBlock, type Pinning, pinBlock, timeNotKept } from './as-of.ts';
import type { Service } from './service.ts';

export type OnChain<T> = T & { readonly chainId: number };

/**
 * Fixes their blocks, for a token on one of them: of each other chain its newest block or, if an older one was requested of the
 * token's chain, its newest at that time.
 */
export function pinDelegations(
  chainIds: readonly number[],
  token: PinnedBlock,
  { block = 'latest', timestamp }: AsOf,
  service: Service,
  pinningOf: (turn: number) => Pinning = () => ({}),
): Promise<readonly PinnedBlock[]> {
  const isNewest = block === 'latest' && timestamp === undefined;
  const time = timestamp ?? token.block.timestamp;
  const pin = async (chainId: number, turn: number) => {
    if (chainId === token.chainId) return token;
    if (isNewest) return pinBlock(chainId, {}, service, pinningOf(turn));
    if (time === null) throw timeNotKept(token);
    return pinBlock(chainId, { timestamp: time }, service, pinningOf(turn));
  };
  return Promise.all(chainIds.map(pin));
}

/** What each owner has on the first chain on which it has any; null if it has none. */
export async function onFirstChain<T, Chain extends PinnedBlock>(
  chains: readonly Chain[],
  owners: readonly Address[],
  read: (chain: Chain, owners: readonly Address[]) => Promise<readonly (T | null)[]>,
): Promise<readonly (OnChain<T> | null)[]> {
  const found: (OnChain<T> | null)[] = owners.map(() => null);
  for (const chain of chains) {
    const left = [...owners.keys()].filter((position) => found[position] === null);
    const some = await read(
      chain,
      left.map((position) => owners[position] as Address),
    );
    for (const [turn, one] of some.entries())
      if (one !== null) found[left[turn] as number] = { ...one, chainId: chain.chainId };
  }
  return found;
}

/** A wallet, with what counts for it on each chain. */
export interface CounterpartOnChains {
  readonly wallet: Address;
  readonly granting: readonly OnChain<DetailedDelegation>[];
}

/** The pages of all chains after the same wallet as one page: no further than every chain was read, and no longer than the limit. */
export async function mergedPage(
  chains: readonly PinnedBlock[],
  limit: number,
  read: (chain: PinnedBlock) => Promise<CounterpartPage>,
): Promise<{ readonly counterparts: readonly CounterpartOnChains[]; readonly next: Address | null }> {
  const pages = await Promise.all(chains.map(read));
  const end = pages.flatMap(({ next }) => next ?? []).sort()[0] ?? null;
  const rows = pages.flatMap(({ counterparts }, turn) =>
    counterparts.map(({ wallet, granting }) => ({
      wallet,
      granting: granting.map((one) => ({ ...one, chainId: (chains[turn] as PinnedBlock).chainId })),
    })),
  );
  const wallets = [...Map.groupBy(rows, ({ wallet }) => wallet)]
    .filter(([wallet]) => end === null || wallet <= end)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([wallet, of]) => ({ wallet, granting: of.flatMap(({ granting }) => granting) }));
  const counterparts = wallets.slice(0, limit);
  return { counterparts, next: wallets.length > limit ? (counterparts.at(-1)?.wallet ?? null) : end };
}
