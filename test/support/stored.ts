// Reads what a store holds: the active delegations, in the format of the model, and the revocations that are not settled.

import { StoreError } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/open.ts';
import type { Revocation, Store } from '../../src/store/store.ts';
import { asText } from './questions.ts';
import { WALLETS } from './wallets.ts';

/** The head of chain 1, and the active delegations at it. Throws if a follower does not settle its revocations in time. */
export async function stored(
  databaseUrl: string,
  patienceSeconds = 30,
): Promise<{ hash: string | undefined; held: string[] }> {
  const store = await openStore(databaseUrl, { readOnly: true });
  try {
    // The follower commits a head before it settles the head's revocations.
    for (let left = 10 * patienceSeconds; left > 0; left--) {
      if ((await store.unsettledVaults(1, null, 1)).length === 0) break;
      await Bun.sleep(100);
    }
    for (;;) {
      const found = await readHeld(store);
      if (found !== null) return found;
    }
  } finally {
    await store.close();
  }
}

/** Null if the follower changed history meanwhile: every reader has to begin again then. */
async function readHeld(store: Store): Promise<{ hash: string | undefined; held: string[] } | null> {
  const state = await store.chain(1);
  const held = new Set<string>();
  for (const wallet of state?.head ? WALLETS : []) {
    for (const version of [1, 2] as const) {
      const at = { block: state?.head?.number ?? 0, revision: state?.revision ?? 0 };
      const page = await store.list({ chainId: 1, version, wallet, at, limit: 100_000 }).catch((error) => {
        if (error instanceof StoreError && error.code === 'rewritten') return null;
        throw error;
      });
      if (page === null) return null;
      for (const one of page.delegations) held.add(asText(one));
    }
  }
  return { hash: state?.head?.hash, held: [...held].sort() };
}

export async function unreadRevocations(
  store: Pick<Store, 'revocations'>,
  chainId: number,
): Promise<(Pick<Revocation, 'vault' | 'readAt'> & { readonly block: number })[]> {
  const all = await store.revocations(chainId, { from: 0, to: Number.MAX_SAFE_INTEGER });
  return all
    .map(({ vault, block, readAt }) => ({ vault, block: block.number, readAt }))
    .filter(({ block, readAt }) => readAt === null || readAt > block);
}
