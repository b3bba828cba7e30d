// A final block that changed: the chain shuts, and opens when it is ours again, or when all nodes keep saying that it is
// another.

import type { BlockRef, ChainState } from '../store/store.ts';
import { Inconsistent, Lagging, Untrusted } from './errors.ts';
import type { Followed } from './followed.ts';
import type { Header } from './node.ts';
import type { Nodes } from './resolve.ts';
import { hasBlock, lastWhere } from './search.ts';

/** What is said about a final block must be said so often, for so long, before it is believed against our own. */
const READS = 3;
const LONG_MS = 120_000;
/** How the reason begins for which the chain is shut. */
const REASON = 'A block that was final has changed';

export function createViolation(chain: Followed) {
  const { network, store, now, onEvent } = chain;
  const { chainId } = network;
  let said: { hash: string; since: number; reads: number } | null = null;

  /** Shuts the chain, unless another node still has our block. */
  async function changed({ others }: Nodes, ours: BlockRef, header: Header): Promise<void> {
    for (const other of others) {
      const theirs = await other.header(ours.number).catch(() => null);
      if (theirs?.hash === ours.hash) throw new Untrusted(`the node has another block ${ours.number} than all others`);
    }
    said = { hash: header.hash, since: now(), reads: 1 };
    await chain.shut(`${REASON}: block ${ours.number} is now ${header.hash}.`);
  }

  /** True when the chain may open again. */
  async function isOver(nodes: Nodes, state: ChainState): Promise<boolean> {
    const { verified, head } = state;
    if (!state.shut?.startsWith(REASON)) return false;
    if (verified === null || head === null) return true;
    const kept = await chain.finalBlock();
    const header = await nodes.node.header(verified);
    if (header === null) throw new Lagging(`the node does not know block ${verified}`);
    if (kept === undefined || header.hash === kept.hash) return true;
    if (said?.hash !== header.hash) said = { hash: header.hash, since: now(), reads: 0 };
    said.reads++;
    if (said.reads < READS || now() - said.since < LONG_MS) return false;
    await requireAgreement(nodes, kept, header);
    await rollBack(nodes, state, verified);
    return true;
  }

  async function requireAgreement({ others }: Nodes, kept: BlockRef, { number, hash }: Header): Promise<void> {
    for (const other of others) {
      const theirs = await other.header(number).catch(() => null);
      if (theirs?.hash === kept.hash) throw new Untrusted(`the node has another block ${number} than the others`);
      if (theirs?.hash !== hash) throw new Inconsistent(`the nodes do not agree about block ${number}`);
    }
  }

  /** To the newest final block that is still the chain's. */
  async function rollBack({ node }: Nodes, { firstBlock, epoch, head }: ChainState, verified: number): Promise<void> {
    const blocks = await store.blocks(chainId, { from: firstBlock, to: verified });
    const common = blocks[await lastWhere(blocks.length, (position) => hasBlock(node, blocks[position] as BlockRef))];
    if (common === undefined) throw new Untrusted('the node has nothing in common with the index');
    await chain.apply({ chainId, epoch, after: head, rollbackTo: common.number, blocks: [], head: common });
    onEvent({ type: 'reorg', from: verified, to: common.number });
  }

  return { changed, isOver };
}
