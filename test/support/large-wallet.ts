// A process of its own that writes a v1 wallet with very many grants, and then, a line of its input at a time, what ends them
// all. It prints a line after each.

import type { RegistryEvent } from '../../src/registry/event.ts';
import { openStore } from '../../src/store/open.ts';
import type { BlockInput } from '../../src/store/store.ts';
import { block, COLD, granted, HOT } from './fixtures.ts';

/** LARGE_WALLET=500000 for more. */
export const GRANTS = Number(process.env['LARGE_WALLET'] ?? 200_000);
const A_BLOCK = 10_000;
/** The last block with grants; the one after it ends them. */
export const GRANTED = GRANTS / A_BLOCK;

/** What COLD does in the block after its grants: each takes the place of the one before it. */
export const ENDS: readonly RegistryEvent[] = [
  { type: 'vaultRevoked', from: COLD },
  { type: 'delegateRevoked', from: COLD, to: HOT },
];

if (import.meta.main) {
  const store = await openStore(process.argv[2] ?? '');
  let state = await store.claim(1, 1);
  const add = async (one: BlockInput, more = {}) => {
    const batch = { chainId: 1, epoch: state.epoch, after: state.head, blocks: [one], head: one, ...more };
    ({ state } = await store.apply(batch));
  };
  for (let number = 1, id = 0; number <= GRANTED; number++) {
    const grants = Array.from({ length: A_BLOCK }, () => granted('TOKEN', { tokenId: BigInt(id++) }));
    await add(block(number, grants));
    Bun.gc(true);
  }
  process.stdout.write('granted\n');
  for await (const line of console) {
    if (line === '') break;
    const turn = Number(line);
    await add(block(GRANTED + 1, [ENDS[turn] as RegistryEvent], turn), turn > 0 ? { rollbackTo: GRANTED } : {});
    process.stdout.write('ended\n');
  }
  await store.close();
}
