// Audits a range of finalized blocks: compares it with all providers, repairs the index, and verifies its revocations.

import { type Comparison, compareBlocks } from '../compare/compare-blocks.ts';
import type { FollowerContext } from '../compare/context.ts';
import type { Revocations } from '../revocations/revocations.ts';
import type { Provider } from '../rpc/provider-pool.ts';

/** Null if the chain is halted, or no block of the range is verified yet. */
export async function auditRange(
  context: FollowerContext,
  revocations: Revocations,
  fetchProviders: () => Promise<readonly Provider[]>,
  from: number,
  to: number,
): Promise<Comparison | null> {
  const anchor = await context.verifiedBlock();
  if (context.state === null || context.state.halt !== null || anchor === undefined) return null;
  const [low, high] = [Math.max(from, context.state.firstBlock), Math.min(to, anchor.number)];
  if (low > high) return null;
  const providers = await fetchProviders();
  const result = await compareBlocks(context, providers, anchor, low, high);
  const [first, ...others] = providers;
  if (first !== undefined) await revocations.verify({ first, others }, low, high);
  const confirmed = context.state.agreedBlock ?? context.state.firstBlock - 1;
  const isConfirmed = result.providers > 1 && result.isComplete;
  if (isConfirmed && low <= confirmed + 1 && high > confirmed) await context.report({ agreedBlock: high });
  return result;
}
