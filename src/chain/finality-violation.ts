// A final block that changed: the chain halts, and resumes when it is ours again, or when all providers keep saying that it is
// another.

import type { BlockRef, ChainState } from '../store/store.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import { Inconsistent, Untrusted } from './errors.ts';
import { bisectLast, hasBlock } from './find-block.ts';
import type { Header } from './node.ts';

/** What is said about a final block must be said so often, for so long, before it is believed against our own. */
const READS = 3;
const LONG_MS = 120_000;

export function createFinalityViolation(context: FollowerContext) {
  const { network, store, now, onEvent } = context;
  const { chainId } = network;
  let said: { hash: Header['hash'] | null; since: number; reads: number } | null = null;

  /** Halts the chain, unless another provider still has our block. No header: the chain does not reach so far any more. */
  async function report({ others }: TickProviders, ours: BlockRef, header: Header | null): Promise<void> {
    for (const { node } of others) {
      const theirs = await node.header(ours.number).catch(() => null);
      if (theirs?.hash === ours.hash)
        throw new Untrusted(`the provider has another block ${ours.number} than all others`);
    }
    const theirs = header?.hash ?? null;
    said = { hash: theirs, since: now(), reads: 1 };
    const since = Math.floor(now() / 1000);
    await context.halt({ code: 'finality-violation', since, block: ours.number, theirs });
  }

  /** True when the chain may resume. */
  async function isResolved(sources: TickProviders, state: ChainState): Promise<boolean> {
    const { verified, head } = state;
    if (verified === null || head === null) return true;
    const kept = await context.finalBlock();
    if (kept === undefined) return true;
    // Whoever still has our block settles it.
    for (const { node } of allProviders(sources)) if (await hasBlock(node, kept).catch(() => false)) return true;
    const hash = (await sources.first.node.header(verified))?.hash ?? null;
    if (said === null || said.hash !== hash) said = { hash, since: now(), reads: 0 };
    said.reads++;
    if (said.reads < READS || now() - said.since < LONG_MS) return false;
    await requireAgreement(sources, verified, hash);
    const common = await commonBlock(sources, state, verified);
    if (common === undefined) return tellForeign(state, verified);
    // A provider that does not reach so far on our own branch may just be behind.
    return hash === null ? false : rollBack(verified, common);
  }

  async function requireAgreement(
    { others }: TickProviders,
    number: number,
    hash: Header['hash'] | null,
  ): Promise<void> {
    for (const { node } of others) {
      const theirs = await node.header(number).catch(() => null);
      if (theirs !== null && theirs.hash !== hash)
        throw new Inconsistent(`the providers do not findConsensus about block ${number}`);
    }
  }

  /** The newest final block that is still the chain's. */
  async function commonBlock({ first }: TickProviders, { firstBlock }: ChainState, verified: number) {
    const blocks = await store.blocks(chainId, { from: firstBlock, to: verified });
    const isTheirs = (position: number) => hasBlock(first.node, blocks[position] as BlockRef);
    return blocks[await bisectLast(blocks.length, isTheirs)];
  }

  async function tellForeign({ halt }: ChainState, verified: number): Promise<false> {
    const since = halt?.since ?? Math.floor(now() / 1000);
    const isTold = halt?.code === 'finality-violation' && halt.foreign === true;
    if (!isTold)
      await context.halt({ code: 'finality-violation', since, block: verified, theirs: null, foreign: true });
    return false;
  }

  async function rollBack(verified: number, common: BlockRef): Promise<true> {
    await context.commit(({ epoch, head }) =>
      store.apply({ chainId, epoch, after: head, rollbackTo: common.number, blocks: [], head: common }),
    );
    onEvent({ type: 'reorg', from: verified, to: common.number });
    return true;
  }

  return { report, isResolved };
}
