// Decides which logs a block has when providers or the index disagree. Receipts decide first, then the registry's answers,
// then the number of providers, then the longer list: a missing log is more likely than an invented one.

import type { Network } from '../registry/network.ts';
import { eventKey } from './compare-logs.ts';
import { type Candidate, type Dispute, type LogEntry, toEntry } from './log-dispute.ts';
import { fetchBlockMembership, fetchReceiptLogs } from './log-evidence.ts';
import { leastContradicted } from './settle-by-registry.ts';

/** The transaction has no registry log. It counts as nobody's report, but the registry's answers may support it. */
const NO_LOGS: Candidate = [];

/** The logs of the block, in order. */
export async function settleLogs(network: Network, dispute: Dispute): Promise<LogEntry[]> {
  const { reports, stored } = dispute;
  const reported = reports.map(({ logs }) => logs.map((log) => toEntry(network, log)));
  const ours = stored.map(
    (log): LogEntry => ({ key: eventKey(log.event), transaction: log.transactionHash, transactionIndex: null, log }),
  );
  const transactions = [...new Set([...reported.flat(), ...ours].map(({ transaction }) => transaction))];
  const receipts = await fetchReceiptLogs(network, dispute, transactions);
  const hasAllReceipts = transactions.every((one) => receipts.has(one));
  const isInBlock = hasAllReceipts ? () => true : await fetchBlockMembership(dispute);
  const open = transactions.map((transaction) => {
    const of = (entries: Candidate) => entries.filter((one) => one.transaction === transaction);
    const confirmed = receipts.get(transaction) ?? [];
    const isConfirmed = confirmed.length > 0;
    const known = [...confirmed.flat(), ...of(reported.flat())].find((one) => one.transactionIndex !== null);
    // The index counts only without a receipt, and only for logs that it has: it lacks what its provider lacked.
    const indexed = of(ours);
    const claims = [...reported.map(of), ...(indexed.length > 0 ? [indexed] : [])];
    const candidates = isConfirmed ? confirmed : isInBlock(transaction) ? claims : [NO_LOGS];
    return { isConfirmed, candidates, place: known?.transactionIndex ?? Number.MAX_SAFE_INTEGER };
  });
  open.sort((a, b) => a.place - b.place);
  const settled = open.map(({ candidates }) => longest(candidates));
  for (const [position, { candidates, isConfirmed }] of open.entries()) {
    const inBlock = (candidate: Candidate) => settled.with(position, candidate).flat();
    const all = isConfirmed ? candidates : [...candidates, NO_LOGS];
    const left = hasOneText(all) ? all : await leastContradicted(network, dispute, all, inBlock);
    settled[position] = longest(mostReported(left));
  }
  return settled.flat();
}

const longest = (candidates: readonly Candidate[]): Candidate =>
  candidates.reduce((best, one) => (one.length > best.length ? one : best), []);

const textOfCandidate = (candidate: Candidate) => candidate.map(({ key }) => key).join('\n');

const hasOneText = (candidates: readonly Candidate[]) => new Set(candidates.map(textOfCandidate)).size <= 1;

/** Of equal candidates the first is kept: a provider's log has more fields than the index's record of it. */
function mostReported(candidates: readonly Candidate[]): readonly Candidate[] {
  const counted = new Map<string, { candidate: Candidate; count: number }>();
  for (const candidate of candidates) {
    const text = textOfCandidate(candidate);
    const known = counted.get(text);
    const count = candidate === NO_LOGS ? 0 : 1;
    if (known === undefined) counted.set(text, { candidate, count });
    else known.count += count;
  }
  const most = Math.max(...[...counted.values()].map(({ count }) => count));
  return [...counted.values()].filter(({ count }) => count === most).map(({ candidate }) => candidate);
}
