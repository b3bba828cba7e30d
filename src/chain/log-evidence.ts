// Fetches evidence about disputed logs: the receipts of their transactions, and the transactions of their block.

import type { Bytes32 } from '../registry/delegation.ts';
import { type Network, registryAt } from '../registry/network.ts';
import { type Dispute, type LogEntry, toEntry } from './log-dispute.ts';
import type { NodeLog } from './node.ts';

/** The registry logs in each provider's receipts, by transaction. A missing receipt means "unknown": nodes prune old ones. */
export async function fetchReceiptLogs(
  network: Network,
  { block, reports }: Dispute,
  transactions: readonly Bytes32[],
): Promise<Map<Bytes32, LogEntry[][]>> {
  const found = new Map<Bytes32, LogEntry[][]>();
  await Promise.all(
    reports.map(async ({ provider }) => {
      const receipts = await provider.node.receipts(transactions).catch(() => []);
      for (const [position, logs] of receipts.entries()) {
        const transaction = transactions[position] as Bytes32;
        // A receipt of another branch proves nothing about this block.
        if (logs === null || logs.some(({ blockHash }) => blockHash !== block.hash)) continue;
        const own = logs.filter(({ address }) => registryAt(network, address) !== null);
        const entries = toEntries(
          network,
          own.map((log) => ({ ...log, transactionHash: transaction })),
        );
        if (entries !== null) found.set(transaction, [...(found.get(transaction) ?? []), entries]);
      }
    }),
  );
  return found;
}

/** Null if a log cannot be decoded. */
function toEntries(network: Network, logs: readonly NodeLog[]): LogEntry[] | null {
  try {
    return [...logs].sort((a, b) => a.logIndex - b.logIndex).map((log) => toEntry(network, log));
  } catch {
    return null;
  }
}

/** Some nodes omit transaction hashes. */
const NO_HASH = /^0x0+$/;

/** Tells whether a transaction is in the block. True if no provider can tell. */
export async function fetchBlockMembership({ block, reports }: Dispute): Promise<(transaction: Bytes32) => boolean> {
  const lists = await Promise.all(
    reports.map(({ provider }) => provider.node.blockTransactionHashes(block).catch(() => null)),
  );
  const known = lists.filter((list) => list !== null);
  return (transaction) =>
    known.length === 0 || NO_HASH.test(transaction) || known.some((list) => list.has(transaction));
}
