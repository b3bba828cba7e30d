// Finds and handles a finalized block that changed: the chain halts, and resumes when a provider has our block again, or after all
// providers have agreed on another one for a while.

import type { BlockRef, ChainState } from '../../store/store.ts';
import { bisectLast, findAgreedBlock, hasBlock, headersAt } from '../compare/agreed-block.ts';
import type { Context } from '../compare/context.ts';
import { Inconsistent, Lagging } from '../rpc/errors.ts';
import type { Header } from '../rpc/node.ts';
import type { TickProviders } from '../rpc/provider-pool.ts';
import { storeFirstBlock } from './first-block.ts';

/** Another block is accepted after this many reads over this time. */
const MIN_READS = 3;
const MIN_MS = 120_000;

export function createFinalityViolation(context: Context) {
  const { network, store, now, onEvent } = context;
  const { chainId } = network;
  /** The block that the providers have instead of ours. A null hash: the chain ends below it. */
  let observed: { hash: Header['hash'] | null; since: number; reads: number } | null = null;

  /** Whether the verified block was found to be on the chain, since the start or the last halt. */
  let isChecked = false;

  async function check(providers: TickProviders, { verified, head }: ChainState, tip: Header): Promise<void> {
    if (isChecked || verified === null || head === null) return;
    // The provider is behind us, or the chain became shorter: head-check.ts decides.
    if (tip.number < verified) return;
    const stored = await context.verifiedBlock();
    const header = await providers[0].node.header(verified);
    if (header === null) throw new Lagging(`the provider does not have block ${verified}`);
    const isSame = stored === undefined || header.hash === stored.hash;
    if (!isSame) await report(providers, stored, header);
    isChecked = true;
    if (isSame) await storeFirstBlock(context, providers);
  }

  /** Halts the chain, unless another provider still has our block. A null header: the chain ends below our block. */
  async function report([, ...others]: TickProviders, ours: BlockRef, header: Header | null): Promise<void> {
    const headers = await headersAt(others, ours.number);
    if (headers.some((theirs) => theirs?.hash === ours.hash))
      throw new Inconsistent(`the provider has another block ${ours.number} than the other providers`);
    const theirs = header?.hash ?? null;
    observed = { hash: theirs, since: now(), reads: 1 };
    const since = Math.floor(now() / 1000);
    await context.halt({ code: 'finality-violation', since, block: ours.number, theirs });
  }

  /** Resumes the chain if that is resolved. */
  async function resume(providers: TickProviders, state: ChainState): Promise<boolean> {
    if (!(await isResolved(providers, state))) return false;
    isChecked = false;
    await context.halt(null);
    return true;
  }

  async function isResolved(providers: TickProviders, state: ChainState): Promise<boolean> {
    const { verified, head, firstBlock, halt } = state;
    if (verified === null || head === null) return true;
    const stored = await context.verifiedBlock();
    if (stored === undefined) return true;
    if ((await headersAt(providers, verified)).some((theirs) => theirs?.hash === stored.hash)) return true;
    const hash = (await providers[0].node.header(verified))?.hash ?? null;
    if (observed === null || observed.hash !== hash) observed = { hash, since: now(), reads: 0 };
    observed.reads++;
    if (observed.reads < MIN_READS || now() - observed.since < MIN_MS) return false;
    await requireAgreement(providers, verified, hash);
    // The newest stored finalized block that the provider has.
    const blocks = await store.blocks(chainId, { from: firstBlock, to: verified });
    const isTheirs = (position: number) => hasBlock(providers[0].node, blocks[position] as BlockRef);
    const common = blocks[await bisectLast(blocks.length, isTheirs)];
    if (common === undefined) {
      // The providers have none of our blocks: they probably serve another chain.
      const since = halt?.since ?? Math.floor(now() / 1000);
      const isReported = halt?.code === 'finality-violation' && halt.foreign === true;
      if (!isReported)
        await context.halt({ code: 'finality-violation', since, block: verified, theirs: null, foreign: true });
      return false;
    }
    // A provider whose chain ends below the verified block, on our branch, may only lag.
    if (hash === null) return false;
    await context.commit(({ epoch, head: after }) =>
      store.apply({ chainId, epoch, after, rollbackTo: common.number, blocks: [], head: common }),
    );
    onEvent({ type: 'reorg', from: verified, to: common.number });
    return true;
  }

  async function requireAgreement(providers: TickProviders, number: number, hash: Header['hash'] | null) {
    const headers = await headersAt(providers.slice(1), number);
    if (headers.every((theirs) => theirs === null || theirs.hash === hash)) return;
    // A single block that a provider made up is not the parent of the next one.
    const child = await providers[0].node.header(number + 1);
    const agreed = child && (await findAgreedBlock(context, providers, number, child));
    if (!agreed?.isAll || agreed.header.hash !== hash)
      throw new Inconsistent(`the providers disagree about block ${number}`);
  }

  return { check, report, resume };
}

export type FinalityViolation = ReturnType<typeof createFinalityViolation>;
