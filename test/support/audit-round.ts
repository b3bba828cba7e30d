// Runs one audit pass over all final blocks at once, instead of spread over hours.

import type { Auditor } from '../../src/chain/follow/auditor.ts';
import type { World } from './world.ts';

export async function auditRound({ one }: World, auditor: Auditor): Promise<void> {
  await auditor.auditAll().catch((error) => one.errors.push(error));
  // Repairs may need further ticks to settle.
  for (let turn = 0; turn < 3; turn++) {
    one.clock += 61_000;
    await one.settle(10);
  }
}
