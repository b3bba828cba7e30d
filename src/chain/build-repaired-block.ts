// Builds the store's input for a block whose logs were settled.

import type { Network } from '../registry/network.ts';
import type { BlockInput, LogInput } from '../store/store.ts';
import { Inconsistent } from './errors.ts';
import type { LogEntry } from './log-dispute.ts';
import type { BlockId, Header, Node, NodeLog } from './node.ts';
import type { ProviderLogs } from './provider-logs.ts';
import { resolveBlocks } from './resolve-blocks.ts';

export async function buildRepairedBlock(
  network: Network,
  answers: readonly ProviderLogs[],
  block: BlockId,
  entries: readonly LogEntry[],
): Promise<BlockInput> {
  const header = await fetchHeader(answers, block);
  const indexes = entries.map(({ log }) => log.logIndex);
  const isRising = indexes.every((index, position) => position === 0 || index > (indexes[position - 1] as number));
  const numbered = entries.map(({ log }, position) => ({ ...log, logIndex: isRising ? log.logIndex : position }));
  const fromNodes = numbered.filter((log): log is NodeLog & { logIndex: number } => !('event' in log));
  const found = { ...block, timestamp: null, logs: fromNodes };
  const node = await findNode(answers, fromNodes);
  const [resolved] = await resolveBlocks(node, network, [found], { known: new Map([[block.number, header]]) });
  const fromIndex = numbered.flatMap((log): LogInput[] => {
    if (!('event' in log)) return [];
    const { logIndex, transactionHash, event, revoked } = log;
    return [{ logIndex, transactionHash, event, revoked }];
  });
  const logs = [...(resolved?.logs ?? []), ...fromIndex].sort((a, b) => a.logIndex - b.logIndex);
  return { ...block, timestamp: header.timestamp, logs };
}

/** A node that has the transactions, if there is one. */
async function findNode(answers: readonly ProviderLogs[], logs: readonly NodeLog[]): Promise<Node> {
  const [first] = answers as [ProviderLogs, ...ProviderLogs[]];
  const [log] = logs;
  if (log === undefined) return first.provider.node;
  for (const { provider } of answers) {
    const [found] = await provider.node.transactions([log.transactionHash]).catch(() => [null]);
    if (found) return provider.node;
  }
  return first.provider.node;
}

async function fetchHeader(answers: readonly ProviderLogs[], { number, hash }: BlockId): Promise<Header> {
  for (const { provider } of answers) {
    const header = await provider.node.header(number).catch(() => null);
    if (header?.hash === hash) return header;
  }
  throw new Inconsistent(`no provider has block ${number} (${hash})`);
}
