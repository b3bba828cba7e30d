// Runs as a process: writes a v1 wallet with very many grants, then revokes them all, one way for each line of its input.
// It prints a line after each step.

import type { RegistryEvent } from '../../src/registry/event.ts';
import { openStore } from '../../src/store/open.ts';
import type { BlockInput } from '../../src/store/store.ts';
import { block, COLD, granted, HOT } from './fixtures.ts';

/** Set LARGE_WALLET=500000 for a larger run. */
export const GRANTS = Number(process.env['LARGE_WALLET'] ?? 40_000);
const A_BLOCK = 10_000;
/** The last block with grants; the next block revokes them. */
export const GRANTED = GRANTS / A_BLOCK;

/** The revocations in the block after the grants; each replaces the one before it. */
export const ENDS: readonly RegistryEvent[] = [
  { type: 'vaultRevoked', from: COLD },
  { type: 'delegateRevoked', from: COLD, to: HOT },
];

if (import.meta.main) {
  const store = await openStore(process.argv[2] ?? '');
  let state = await store.claim(1, 1);
  const add = async (one: BlockInput, more = {}) => {
    const batch = { chainId: 1, epoch: state.epoch, after: state.head, blocks: [one], head: one, ...more };
    state = await store.apply(batch);
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
