// Reads the newest blocks header by header, checks that they link to each other and to the index, and commits them. Where blocks can
// be proven, no log is committed that its block's hash does not commit to.

import { BadLogError } from '../../registry/event.ts';
import type { Context } from '../compare/context.ts';
import { decideLogs, findDisputes, proveReports } from '../compare/decide-logs.ts';
import { numbersFrom } from '../compare/lineage.ts';
import { fetchReports, findDiffering, logsOfBlock, onlyComparable, type Reports } from '../compare/provider-logs.ts';
import { toBlockInput } from '../compare/resolve-blocks.ts';
import { absenceBy, isExcluded } from '../prove/absence.ts';
import { Inconsistent } from '../rpc/errors.ts';
import type { Header, NodeLog } from '../rpc/node.ts';
import type { Provider, TickProviders } from '../rpc/provider-pool.ts';
import type { Ancestor, Commit } from './commit.ts';

/** If the index is further behind than this, the backfill reads ranges first. */
export const LIVE_BLOCKS = 100;
/** How long the other providers may take at the head. The window check compares what they have later. */
const CROSS_CHECK_TIMEOUT_MS = 2000;

/** How the logs of a block, or that it has none, are known. */
export type Evidence = 'bloom' | 'receipts' | 'compared';
type KnownLogs = { readonly logs: readonly NodeLog[]; readonly evidence: Evidence };

export function createLive(context: Context, commit: Commit, onBlock: (evidence: Evidence) => void) {
  const { network } = context;

  /** Replaces everything above the ancestor by the chain's blocks up to the tip. */
  async function advance(providers: TickProviders, tip: Header, ancestor: Ancestor): Promise<void> {
    if (ancestor.hash !== tip.hash) return readBlocks(providers, tip, ancestor);
    const head = context.state?.head ?? null;
    // The chain became shorter: drop our blocks above its head.
    if (head !== null && head.number > tip.number) await commit({ end: tip, blocks: [] }, ancestor);
  }

  async function readBlocks(providers: TickProviders, tip: Header, ancestor: Ancestor): Promise<void> {
    const between = await providers[0].node.headers(numbersFrom(ancestor.number + 1, tip.number - 1));
    const headers = [...between, tip];
    context.proof.requireHeaders(headers);
    requireLinked(headers, ancestor);
    const fetch = (provider: Provider) => fetchLogs(provider, headers);
    const all = await fetchReports(context, providers, fetch, CROSS_CHECK_TIMEOUT_MS);
    const reports = context.proof.isProven ? all : await onlyComparable(context, all, tip);
    const differing = new Set(findDiffering(context, reports));
    const blocks = await Array.fromAsync(headers, (header) =>
      readBlock(providers, header, reports, differing.has(header.number)),
    );
    await commit({ end: tip, blocks, isProving: false }, ancestor);
  }

  async function readBlock(providers: TickProviders, header: Header, reports: Reports, isDisputed: boolean) {
    const [ours] = reports as [Reports[number]];
    const proven = context.proof.isProven ? await proveBlock(providers, header, reports) : null;
    const { logs, evidence }: KnownLogs = proven ?? {
      logs: isDisputed ? (await decideLogs(context, reports, header)).logs : logsOfBlock(ours, header),
      evidence: 'compared',
    };
    onBlock(evidence);
    return toBlockInput(network, header, logs, evidence !== 'compared');
  }

  /** Null if the block is not proven: it has no logs as far as anyone says, or logs that its hash does not commit to. */
  async function proveBlock(providers: TickProviders, header: Header, reports: Reports): Promise<KnownLogs | null> {
    const lists = reports.map((report) => logsOfBlock(report, header));
    const isClaimed = lists.some((list) => list.length > 0);
    const absence = absenceBy(network, header.bloom);
    if (!isClaimed && absence === 'excluded') return { logs: [], evidence: 'bloom' };
    if (!isClaimed && absence === 'compared') return null;
    const proving = proveReports(context, providers, reports, header, header);
    const proven = await (!isClaimed && absence === 'sampled' ? proving.catch(nullIfUnproven) : proving);
    if (proven === null) return null;
    const { logs, isProven, isDisputed } = proven;
    if (isDisputed) await context.dispute(await findDisputes(context, header.number, [logs, ...lists]));
    return { logs, evidence: isProven ? (absence === 'excluded' ? 'bloom' : 'receipts') : 'compared' };
  }

  /** The newest block is read by hash: a node that does not have it yet then fails instead of returning no logs. */
  async function fetchLogs({ scanner }: Provider, headers: readonly Header[]): Promise<NodeLog[]> {
    const [first, tip] = [headers[0], headers.at(-1)] as [Header, Header];
    const earlier = headers.length > 1 ? await scanner.fetchLogs(first.number, tip.number - 1) : [];
    const logs = [...earlier, ...(await scanner.fetchBlockLogs(tip.hash))];
    if (!context.proof.isProven) logs.push(...(await fetchMissing(scanner, headers, logs)));
    return logs;
  }

  /** Without proofs, reads blocks again whose bloom has a registry event, although no log was returned: logs can come later. */
  async function fetchMissing(scanner: Provider['scanner'], headers: readonly Header[], logs: readonly NodeLog[]) {
    const seen = new Set(logs.map(({ blockHash }) => blockHash));
    const found: NodeLog[] = [];
    for (const { hash, bloom } of network.bloom ? headers : []) {
      if (bloom === null || seen.has(hash) || isExcluded(network, bloom)) continue;
      found.push(...(await scanner.fetchBlockLogs(hash)));
    }
    return found;
  }

  return { advance };
}

/** A log that is proven and cannot be read is not left out. */
function nullIfUnproven(error: unknown): null {
  if (error instanceof BadLogError) throw error;
  return null;
}

function requireLinked(headers: readonly Header[], ancestor: Ancestor): void {
  let parent = ancestor.hash;
  for (const { number, parentHash, hash } of headers) {
    if (parent !== null && parentHash !== parent)
      throw new Inconsistent(`block ${number} does not link to block ${number - 1}`);
    parent = hash;
  }
}
