// The v1 revocations of a store that are not settled, or only by the state of a later block.

import type { Revocation, Store } from '../../src/store/store.ts';

export async function unreadRevocations(
  store: Pick<Store, 'revocations'>,
  chainId: number,
): Promise<(Pick<Revocation, 'vault' | 'readAt'> & { readonly block: number })[]> {
  const all = await store.revocations(chainId, { from: 0, to: Number.MAX_SAFE_INTEGER });
  return all
    .map(({ vault, block, readAt }) => ({ vault, block: block.number, readAt }))
    .filter(({ block, readAt }) => readAt === null || readAt > block);
}
