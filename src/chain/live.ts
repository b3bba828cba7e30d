// Reads the newest blocks header by header, checks that they link to each other and to the index, and commits them.

import type { BlockInput, BlockRef } from '../store/store.ts';
import { bloomMayContain } from './bloom.ts';
import type { Ancestor, Commit } from './commit.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import { crossCheck } from './cross-check.ts';
import { Inconsistent } from './errors.ts';
import { groupLogs } from './group-logs.ts';
import type { Header, NodeLog } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { registryFilter } from './registry-filter.ts';
import { resolveBlocks } from './resolve-blocks.ts';

/** If the index is further behind than this, the backfill reads ranges first. */
export const LIVE_BLOCKS = 32;
/** How long the other providers may take at the head. The window check compares what they have later. */
const CROSS_CHECK_TIMEOUT_MS = 2000;

export function createLive(context: FollowerContext, commit: Commit) {
  const { network } = context;
  const filter = registryFilter(network);

  /** Replaces everything above the ancestor by the chain's blocks up to the tip. */
  async function advance(providers: TickProviders, tip: Header, ancestor: Ancestor): Promise<void> {
    if (ancestor.hash !== tip.hash) return readBlocks(providers, tip, ancestor);
    const head = context.state?.head ?? null;
    // The chain became shorter: drop our blocks above its head.
    if (head !== null && head.number > tip.number) await commit({ end: tip, blocks: [] }, ancestor);
  }

  async function readBlocks(providers: TickProviders, tip: Header, ancestor: Ancestor): Promise<void> {
    const { node } = providers.first;
    const count = tip.number - ancestor.number - 1;
    const between = Array.from({ length: count }, (_, position) => ancestor.number + 1 + position);
    const headers = [...(await node.headers(between)), tip];
    requireLinked(headers, ancestor);
    const logs = await fetchLogs(providers.first, headers);
    logs.push(...(await fetchMissing(providers, headers, logs)));
    const settled = await crossCheck(context, providers, groupLogs(logs), {
      end: tip,
      fetch: (provider) => fetchLogs(provider, headers),
      timeoutMs: CROSS_CHECK_TIMEOUT_MS,
    });
    const known = new Map(headers.map((header) => [header.number, header]));
    const resolved = await resolveBlocks(node, network, settled, { known });
    const withLogs = new Map(resolved.map((block) => [block.number, block]));
    const blocks = headers.map((header): BlockInput => withLogs.get(header.number) ?? { ...refOf(header), logs: [] });
    await commit({ end: tip, blocks }, ancestor);
  }

  /** The newest block is read by hash: a node that does not have it yet then fails instead of returning no logs. */
  async function fetchLogs({ scanner }: Provider, headers: readonly Header[]): Promise<NodeLog[]> {
    const [first, tip] = [headers[0], headers.at(-1)] as [Header, Header];
    const earlier = headers.length > 1 ? await scanner.fetchLogs(first.number, tip.number - 1) : [];
    return [...earlier, ...(await scanner.fetchBlockLogs(tip.hash))];
  }

  /** Reads blocks again, from any provider, if their bloom has a registry event but no log was returned. */
  async function fetchMissing(providers: TickProviders, headers: readonly Header[], logs: readonly NodeLog[]) {
    const seen = new Set(logs.map(({ blockHash }) => blockHash));
    const found: NodeLog[] = [];
    for (const { hash, bloom } of network.bloom ? headers : []) {
      if (bloom === null || seen.has(hash) || !mayHaveRegistryLog(bloom)) continue;
      for (const provider of allProviders(providers)) {
        // Only a failure of the tick's own provider fails the tick.
        const again = await provider.scanner.fetchBlockLogs(hash).catch((error) => {
          if (provider === providers.first) throw error;
          return [];
        });
        if (again.length === 0) continue;
        found.push(...again);
        break;
      }
    }
    return found;
  }

  const mayHaveRegistryLog = (bloom: string) =>
    filter.address.some((address) => bloomMayContain(bloom, address)) &&
    filter.topics.flat().some((topic) => bloomMayContain(bloom, topic));

  return { advance };
}

function requireLinked(headers: readonly Header[], ancestor: Ancestor): void {
  let parent = ancestor.hash;
  for (const { number, parentHash, hash } of headers) {
    if (parent !== null && parentHash !== parent)
      throw new Inconsistent(`block ${number} does not link to block ${number - 1}`);
    parent = hash;
  }
}

const refOf = ({ number, hash, timestamp }: BlockRef): BlockRef => ({ number, hash, timestamp });
