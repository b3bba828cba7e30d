// The newest blocks, one by one: linked to each other and to ours, with every provider's logs of them.

import type { BlockInput, BlockRef, ChainState } from '../store/store.ts';
import { bloomMayContain } from './bloom.ts';
import type { Ancestor, Commit } from './commit.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import { crossCheck } from './cross-check.ts';
import { Inconsistent, Lagging } from './errors.ts';
import type { createFinalityViolation } from './finality-violation.ts';
import { bisectLast, hasBlock } from './find-block.ts';
import { groupLogs } from './group-logs.ts';
import type { Header, Node, NodeLog } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { registryFilter } from './registry-filter.ts';
import { resolveBlocks } from './resolve-blocks.ts';

/** Up to so many new blocks are read header by header; more are read as a range first. */
export const LIVE_BLOCKS = 32;
/**
 * After so long without a new block the other providers are asked whether there is one; and after so long at a lower head of
 * our own branch, all of them, the chain counts as shorter. Less than what a follower is given to make progress.
 */
const STILL_MS = 30_000;
/** Other providers are waited for so long at the head: what they have later, the window compares. */
const SECOND_MS = 2000;

export function createLive(
  context: FollowerContext,
  commit: Commit,
  violation: ReturnType<typeof createFinalityViolation>,
) {
  const { network, store, now } = context;
  const { chainId } = network;
  const filter = registryFilter(network);
  let shorterSince: number | null = null;
  let movedAt = now();

  /** What a provider's head means for ours: throws where nothing can be made of it now. */
  async function checkHead(sources: TickProviders, tip: Header, { head }: ChainState): Promise<void> {
    if (head !== null && tip.number < head.number) await requireShorter(sources, tip, head);
    else shorterSince = null;
    if (tip.hash === head?.hash) await notFrozen(sources, tip);
    else movedAt = now();
  }

  /**
   * A lower head proves nothing, unless it is of another branch than ours and no other provider has our head: then the chain
   * was reorganised to a shorter branch, and is followed at once. At a lower head of our own branch a provider is behind,
   * until all of them have been for a while.
   */
  async function requireShorter(sources: TickProviders, tip: Header, head: BlockRef): Promise<void> {
    const lagging = new Lagging(`the provider is at ${tip.number}, and we are at ${head.number}`);
    const from = context.state?.verified ?? context.state?.firstBlock ?? 0;
    const common = (await store.blocks(chainId, { from, to: tip.number })).at(-1);
    // Whether each of the others has our head; null where it does not say.
    const heads = await Promise.all(
      sources.others.map(async ({ node }) => {
        const latest = await node.header('latest').catch(() => null);
        if (latest === null || latest.number < head.number) return latest && false;
        return hasBlock(node, head).catch(() => null);
      }),
    );
    if (heads.includes(true)) throw lagging;
    if (common !== undefined && !(await hasBlock(sources.first.node, common))) return;
    shorterSince ??= now();
    if (now() - shorterSince < STILL_MS || heads.includes(null)) throw lagging;
  }

  /** A provider that stands still is well only if the others stand there too. */
  async function notFrozen({ others }: TickProviders, tip: Header): Promise<void> {
    if (now() - movedAt < Math.max(STILL_MS, 4000 * network.blockSeconds)) return;
    movedAt = now();
    for (const { node } of others) {
      const theirs = await node.header('latest').catch(() => null);
      if (theirs !== null && theirs.number > tip.number) throw new Lagging(`another provider is at ${theirs.number}`);
    }
  }

  /** The newest block that we and the provider have in common; null where that halted the chain. */
  async function findAncestor(sources: TickProviders, state: ChainState, tip: Header): Promise<Ancestor | null> {
    const { head, verified, firstBlock } = state;
    const { node } = sources.first;
    if (head === null) return { number: firstBlock - 1, hash: null };
    if (tip.hash === head.hash || (tip.number === head.number + 1 && tip.parentHash === head.hash)) return head;
    const isOurs = async (block: BlockRef) => {
      if (block.number > tip.number) return false;
      const header = block.number === tip.number ? tip : await node.header(block.number);
      if (header === null) throw new Inconsistent(`the provider is at ${tip.number} and has no block ${block.number}`);
      return header.hash === block.hash;
    };
    if (await isOurs(head)) return head;
    const kept = await store.blocks(chainId, { from: verified ?? firstBlock, to: head.number - 1 });
    const found = kept[await bisectLast(kept.length, (position) => isOurs(kept[position] as BlockRef))];
    if (found !== undefined) return found;
    const [lowest] = kept;
    if (verified === null) return { number: firstBlock - 1, hash: null };
    const header = await node.header(verified);
    if (lowest === undefined || (header === null && tip.number >= verified) || header?.hash === lowest.hash) {
      throw new Inconsistent('the chain is changing');
    }
    if (header === null) await requireForeign(node, tip);
    await violation.report(sources, lowest, header);
    return null;
  }

  /** A chain that ends below what was final is another one, unless it has what we have there. */
  async function requireForeign(node: Node, { number }: Header): Promise<void> {
    const newest = await store.newestBlock(chainId, number);
    if (newest !== null && (await hasBlock(node, newest)))
      throw new Lagging(`the provider is at ${number}, below what was final`);
  }

  /** Reads the blocks above the base one by one, linked to each other, and puts them in the place of ours. */
  async function advance(sources: TickProviders, tip: Header, base: Ancestor): Promise<void> {
    const { node } = sources.first;
    const between = Array.from({ length: tip.number - base.number - 1 }, (_, turn) => base.number + 1 + turn);
    const headers = [...(await node.headers(between)), tip];
    let parent = base.hash;
    for (const { number, parentHash, hash } of headers) {
      if (parent !== null && parentHash !== parent)
        throw new Inconsistent(`block ${number} does not follow its parent`);
      parent = hash;
    }
    const logs = await logsOf(sources.first, headers);
    logs.push(...(await promised(sources, headers, logs)));
    const settled = await crossCheck(context, sources, groupLogs(logs), {
      end: tip,
      ask: (source) => logsOf(source, headers),
      timeoutMs: SECOND_MS,
    });
    const known = new Map(headers.map((header) => [header.number, header]));
    const found = await resolveBlocks(node, network, settled, { known });
    const withLogs = new Map(found.map((block) => [block.number, block]));
    const blocks = headers.map((header): BlockInput => withLogs.get(header.number) ?? { ...refOf(header), logs: [] });
    await commit({ end: tip, blocks }, base);
  }

  /** The newest by its hash, for a node that does not have the block yet then says so instead of sending nothing. */
  async function logsOf({ scanner }: Provider, headers: readonly Header[]): Promise<NodeLog[]> {
    const [first, tip] = [headers[0], headers.at(-1)] as [Header, Header];
    const earlier = headers.length > 1 ? await scanner.fetchLogs(first.number, tip.number - 1) : [];
    return [...earlier, ...(await scanner.fetchBlockLogs(tip.hash))];
  }

  /** Logs that a bloom promises and that did not come: asked for again, elsewhere too. */
  async function promised(sources: TickProviders, headers: readonly Header[], logs: readonly NodeLog[]) {
    const seen = new Set(logs.map(({ blockHash }) => blockHash));
    const found: NodeLog[] = [];
    for (const { hash, bloom } of network.bloom ? headers : []) {
      if (bloom === null || seen.has(hash) || !promises(bloom)) continue;
      for (const source of allProviders(sources)) {
        // Only the provider that this tick keeps to must answer.
        const again = await source.scanner.fetchBlockLogs(hash).catch((error) => {
          if (source === sources.first) throw error;
          return [];
        });
        if (again.length === 0) continue;
        found.push(...again);
        break;
      }
    }
    return found;
  }

  const promises = (bloom: string) =>
    filter.address.some((address) => bloomMayContain(bloom, address)) &&
    filter.topics.flat().some((topic) => bloomMayContain(bloom, topic));

  return { checkHead, findAncestor, advance };
}

export const refOf = ({ number, hash, timestamp }: BlockRef): BlockRef => ({ number, hash, timestamp });
