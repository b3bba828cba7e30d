// Reads the stored logs of a range, and groups them by block.

import type { BlockRef, LogRecord, Store } from '../../store/store.ts';

export interface StoredBlock extends BlockRef {
  readonly logs: readonly LogRecord[];
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
