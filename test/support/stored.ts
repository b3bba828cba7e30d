// Reads the active delegations of a store, in the format of the model.

import { openStore } from '../../src/store/open.ts';
import { WALLETS } from './lives.ts';
import { asText } from './questions.ts';

/** The head of chain 1, and the active delegations at it. */
export async function stored(databaseUrl: string): Promise<{ hash: string | undefined; held: string[] }> {
  const store = await openStore(databaseUrl, { readOnly: true });
  // The follower commits a head before it settles the head's revocations.
  for (let left = 50; left > 0 && (await store.unsettledVaults(1, null, 1)).length > 0; left--) await Bun.sleep(100);
  const state = await store.chain(1);
  const held = new Set<string>();
  for (const wallet of state?.head ? WALLETS : []) {
    for (const version of [1, 2] as const) {
      const at = { block: state?.head?.number ?? 0, revision: state?.revision ?? 0 };
      for (const one of (await store.list({ chainId: 1, version, wallet, at, limit: 100_000 })).delegations) {
        held.add(asText(one));
      }
    }
  }
  await store.close();
  return { hash: state?.head?.hash, held: [...held].sort() };
}
