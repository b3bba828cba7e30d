// Fills a store with one wallet's long list of delegations.

import { openStore } from '../../src/store/open.ts';
import { address, delegation, hash } from './fixtures.ts';

const A_BLOCK = 30_000;

/** Token ids 0 to `count - 1`, delegated to HOT by `granters` wallets in turn, the first of which is `address(0x10000)`. */
export async function fillLongList(url: string, count: number, granters: number): Promise<void> {
  const store = await openStore(url);
  let state = await store.claim(1, 1);
  for (let number = 1, id = 0; id < count; number++) {
    const logs = Array.from({ length: A_BLOCK }, (_, logIndex) => {
      const one = delegation('ERC721', { from: address(0x10000 + (id % granters)), tokenId: BigInt(id) });
      return { logIndex, transactionHash: hash(id++), event: { type: 'granted', delegation: one } as const };
    });
    const head = { number, hash: hash(number, 7), timestamp: Math.floor(Date.now() / 1000), logs };
    state = await store.apply({ chainId: 1, epoch: state.epoch, after: state.head, blocks: [head], head });
  }
  await store.close();
}
