// One round of the audit over all that is final, without waiting for its hours to come.

import type { Auditor } from '../../src/chain/auditor.ts';
import type { World } from './world.ts';

export async function auditRound({ one }: World, auditor: Auditor): Promise<void> {
  await auditor.auditAll().catch((error) => one.errors.push(error));
  // What it found may have to be settled in ticks.
  for (let turn = 0; turn < 3; turn++) {
    one.clock += 61_000;
    await one.settle(10);
  }
}
