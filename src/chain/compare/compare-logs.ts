// Compares logs by their events and order, and reads those of the index. Log indexes are ignored, because nodes number logs differently.

import type { RegistryEvent } from '../../registry/event.ts';
import type { Network } from '../../registry/network.ts';
import type { BlockRef, LogRecord, Store } from '../../store/store.ts';
import type { NodeLog } from '../rpc/node.ts';
import { decodeLog } from '../rpc/registry-logs.ts';

/** Of a provider, or of the index. */
export type AnyLog = NodeLog | LogRecord;

/** Equal for equal events. */
export function eventKey(event: RegistryEvent): string {
  if (!('delegation' in event)) return `${event.type} ${event.from} ${'to' in event ? event.to : ''}`;
  const { version, kind, from, to, contract, tokenId, rights } = event.delegation;
  const amount = event.type === 'granted' ? event.delegation.amount : '';
  return `${event.type} ${version} ${kind} ${from} ${to} ${contract} ${tokenId} ${rights} ${amount}`;
}

/** Throws if a log cannot be decoded. */
export const eventKeys = (network: Network, logs: readonly AnyLog[]): string[] =>
  logs.map((log) => eventKey(eventOf(network, log)));

export const eventOf = (network: Network, log: AnyLog): RegistryEvent =>
  'event' in log ? log.event : decodeLog(network, log);

export const isEqual = (network: Network, some: readonly AnyLog[], others: readonly AnyLog[]): boolean =>
  Bun.deepEquals(eventKeys(network, some), eventKeys(network, others));

/** The keys that `others` does not have. A key that occurs n times must be there n times. */
export function missingFrom(others: readonly string[], keys: readonly string[]): string[] {
  const left = [...others];
  return keys.filter((key) => {
    const position = left.indexOf(key);
    if (position >= 0) left.splice(position, 1);
    return position < 0;
  });
}

export interface StoredBlock extends BlockRef {
  readonly logs: readonly LogRecord[];
}

const PAGE = 1000;

export async function readStoredLogs(store: Store, chainId: number, from: number, to = from): Promise<LogRecord[]> {
  const found: LogRecord[] = [];
  for (let after: LogRecord | undefined; ; after = found.at(-1)) {
    const position = after === undefined ? {} : { after: { block: after.block.number, logIndex: after.logIndex } };
    const page = await store.logs(chainId, { from, to, limit: PAGE, ...position });
    for (const log of page) found.push(log);
    if (page.length < PAGE) return found;
  }
}

export const groupStoredLogs = (logs: readonly LogRecord[]): Map<number, StoredBlock> =>
  new Map(
    [...Map.groupBy(logs, ({ block }) => block.number)].map(([number, some]) => [
      number,
      { ...(some[0] as LogRecord).block, logs: some },
    ]),
  );
