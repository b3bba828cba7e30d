// Proofs of who was chosen by owners: that each delegation that decided holds at the block, by the words of the registry.

import { chunksOf } from '../chain/rpc/rpc.ts';
import { provenText } from '../http/answers/proven.ts';
import type { PinnedBlock } from '../http/context/as-of.ts';
import type { ChosenGrant } from '../http/context/chosen.ts';
import type { Service } from '../http/context/service.ts';
import { questionFor } from '../registry/check.ts';
import { UsageError } from '../service/terminal.ts';
import { createProofFile } from './proof-file.ts';

/** Fewer than a provider's caller may have waiting. */
const AT_ONCE = 8;
const CALLER = { id: 'allowlist', hasKey: true };

/** Writes a line for each owner that has chosen another wallet: the check that its delegation alone passes. */
export async function proveChoices(
  path: string,
  chosen: readonly ChosenGrant[],
  chains: readonly PinnedBlock[],
  service: Service,
): Promise<void> {
  const [pinned, ...others] = chains.filter(({ chainId }) => chosen.some((one) => one.chainId === chainId));
  if (pinned === undefined) throw new UsageError('There is nothing to prove: no owner has a delegation. Omit --prove.');
  if (others.length > 0)
    throw new UsageError(
      '--prove needs one chain: a file of proofs is about one block, and owners have chosen on several.',
    );
  const { chainId, chain, block } = pinned;
  const call = { service, caller: () => CALLER };
  const file = createProofFile(path);
  for (const some of chunksOf(chosen, AT_ONCE)) {
    const questions = some.map(({ grant }) => questionFor(grant));
    const proven = questions.map((question) => provenText(call, chain, block, question, true, 'string'));
    for (const [turn, text] of (await Promise.all(proven)).entries()) {
      const { scope: check, version, ...wallets } = questions[turn] as (typeof questions)[number];
      file.add(chainId, { version: String(version), check, ...wallets }, JSON.parse(text));
    }
  }
  file.end();
}
