// What a node has of a range of blocks, against what the store has.

import type { RegistryEvent } from '../registry/event.ts';
import type { Network } from '../registry/network.ts';
import type { LogRecord, Store } from '../store/store.ts';
import { Inconsistent, Untrusted } from './errors.ts';
import { type BlockLogs, contentOf } from './logs.ts';
import type { Node, NodeLog } from './node.ts';
import { eventOf } from './resolve.ts';

export interface Differences {
  /** Logs that only the node has. */
  readonly missing: readonly NodeLog[];
  /** Logs that only we have. */
  readonly surplus: readonly LogRecord[];
}

const PAGE = 1000;

export async function storedLogs(store: Store, chainId: number, from: number, to: number): Promise<LogRecord[]> {
  const found: LogRecord[] = [];
  for (let after: LogRecord | undefined; ; after = found.at(-1)) {
    const position = after === undefined ? {} : { after: { block: after.block.number, logIndex: after.logIndex } };
    const page = await store.logs(chainId, { from, to, limit: PAGE, ...position });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

/** Equal for equal events. */
export const eventText = (event: RegistryEvent): string =>
  JSON.stringify(event, (_, value) => (typeof value === 'bigint' ? String(value) : value));
/** What a log did in which block. */
const nameOf = (blockHash: string, event: RegistryEvent) => blockHash + eventText(event);

export function compareLogs(network: Network, found: readonly BlockLogs[], stored: readonly LogRecord[]): Differences {
  const ours = new Map<string, LogRecord[]>();
  for (const log of stored) {
    const name = nameOf(log.block.hash, log.event);
    const same = ours.get(name);
    if (same === undefined) ours.set(name, [log]);
    else same.push(log);
  }
  const theirs = found
    .flatMap(({ logs }) => logs)
    .map((log) => ({ log, same: ours.get(nameOf(log.blockHash, eventOf(network, log))) ?? [] }));
  // A wallet may do the same thing twice in a block: first those find each other that have the same number too. Numbers
  // alone do not count, for nodes differ in them.
  const left = theirs.filter(({ log, same }) => !take(same, ({ logIndex }) => logIndex === log.logIndex));
  const missing = left.filter(({ same }) => !take(same, () => true)).map(({ log }) => log);
  return { missing, surplus: stored.filter((log) => ours.get(nameOf(log.block.hash, log.event))?.includes(log)) };
}

/** Takes the first that matches out of the list; false where none does. */
function take<T>(list: T[], matches: (one: T) => boolean): boolean {
  const at = list.findIndex(matches);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}

/** A log that we missed must be in its transaction's receipt, in a block that is the chain's. */
export async function confirmLogs(node: Node, logs: readonly NodeLog[]): Promise<void> {
  for (const log of logs) {
    const header = await node.header(log.blockNumber);
    if (header?.hash !== log.blockHash) throw new Inconsistent(`block ${log.blockNumber} is changing`);
    const receipt = await node.receipt(log.transactionHash);
    if (!receipt?.some((one) => one.blockHash === log.blockHash && contentOf(one) === contentOf(log))) {
      throw new Untrusted(`a log of block ${log.blockNumber} is in no receipt`);
    }
  }
}
