// Checks once, on start and after a halt, that the verified block is still on the chain.

import type { ChainState } from '../../store/store.ts';
import type { FollowerContext, TickProviders } from '../compare/context.ts';
import { Lagging } from '../rpc/errors.ts';
import type { Header } from '../rpc/node.ts';
import type { FinalityViolation } from './finality-violation.ts';
import { storeFirstBlock } from './first-block.ts';

export function createVerifiedCheck(context: FollowerContext, violation: FinalityViolation) {
  let isDone = false;

  async function run(providers: TickProviders, { verified, head }: ChainState, tip: Header): Promise<void> {
    if (isDone || verified === null || head === null) return;
    // The provider is behind us, or the chain became shorter: head-check.ts decides.
    if (tip.number < verified) return;
    const stored = await context.verifiedBlock();
    const header = await providers.first.node.header(verified);
    if (header === null) throw new Lagging(`the provider does not have block ${verified}`);
    const isSame = stored === undefined || header.hash === stored.hash;
    if (!isSame) await violation.report(providers, stored, header);
    isDone = true;
    if (isSame) await storeFirstBlock(context, providers);
  }

  return {
    run,
    reset() {
      isDone = false;
    },
  };
}
