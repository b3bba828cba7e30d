// What providers have of a range of blocks, against what the store has: block by block, in order, by what the logs say.

import type { RegistryEvent } from '../registry/event.ts';
import type { Network } from '../registry/network.ts';
import { jsonText } from '../store/json.ts';
import type { BlockRef, LogRecord, Store } from '../store/store.ts';
import type { BlockLogs } from './group-logs.ts';
import type { NodeLog } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { decodeLog } from './resolve-blocks.ts';

export interface StoredBlock extends BlockRef {
  readonly logs: readonly LogRecord[];
}

/** What one provider has of a range. */
export interface ProviderLogs {
  readonly source: Provider;
  readonly blocks: ReadonlyMap<number, BlockLogs>;
}

const PAGE = 1000;

export async function readStoredLogs(store: Store, chainId: number, from: number, to: number): Promise<LogRecord[]> {
  const found: LogRecord[] = [];
  for (let after: LogRecord | undefined; ; after = found.at(-1)) {
    const position = after === undefined ? {} : { after: { block: after.block.number, logIndex: after.logIndex } };
    const page = await store.logs(chainId, { from, to, limit: PAGE, ...position });
    for (const log of page) found.push(log);
    if (page.length < PAGE) return found;
  }
}

export function groupStoredLogs(logs: readonly LogRecord[]): Map<number, StoredBlock> {
  const blocks = new Map<number, StoredBlock & { logs: LogRecord[] }>();
  for (const log of logs) {
    const block = blocks.get(log.block.number);
    if (block === undefined) blocks.set(log.block.number, { ...log.block, logs: [log] });
    else block.logs.push(log);
  }
  return blocks;
}

/** Equal for equal events. */
export function eventKey(event: RegistryEvent): string {
  let text = texts.get(event);
  if (text === undefined) {
    text = jsonText(event);
    texts.set(event, text);
  }
  return text;
}
const texts = new WeakMap<RegistryEvent, string>();

/** Equal where the same happened in the same order. Numbers do not count, for nodes differ in them. */
export const eventKeys = (network: Network, logs: readonly (NodeLog | LogRecord)[]): string[] =>
  logs.map((log) => eventKey('event' in log ? log.event : decodeLog(network, log)));

/** Those of some texts that are not among others, each as often as it is not. */
export function missingFrom(others: readonly string[], some: readonly string[]): string[] {
  const left = [...others];
  return some.filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** The blocks that the store or a provider has logs of, in order. */
export const blocksWithLogs = (stored: ReadonlyMap<number, StoredBlock>, answered: readonly ProviderLogs[]): number[] =>
  [...new Set([...stored.keys(), ...answered.flatMap(({ blocks }) => [...blocks.keys()])])].sort((a, b) => a - b);
