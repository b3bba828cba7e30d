// Imports an archive into a database: checks the whole file and its newest block first, then writes it.

import { createProviderPool } from '../chain/rpc/provider-pool.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { checkArchive, importArchive } from '../store/archive.ts';
import { openStore } from '../store/open.ts';
import type { Config } from './config.ts';
import { UsageError } from './usage-error.ts';

export interface ImportedIndex {
  readonly chainId: number;
  readonly logs: number;
  readonly lastBlock: number;
  /** Whether a provider has the archive's newest block; false if none is configured. */
  readonly isConfirmed: boolean;
}

/** `readLines` is called twice: to check the file and to import it. */
export async function importIndex(
  config: Config,
  readLines: () => AsyncIterable<string>,
  onProgress: (logs: number, total: number) => void,
): Promise<ImportedIndex> {
  const { head, end } = await checkArchive(readLines());
  const { chainId, last } = head;
  const rpcUrls = config.chains.get(chainId)?.rpcUrls;
  if (rpcUrls !== undefined) {
    const { node } = await createProviderPool(NETWORKS.get(chainId) as Network, rpcUrls).pick(Date.now());
    const header = await node.header(last.number);
    if (header?.hash !== last.hash)
      throw new UsageError(
        `Archive rejected: block ${last.number} has another hash on chain ${chainId}. Nothing was written.`,
      );
  }
  const store = await openStore(config.databaseUrl);
  try {
    await importArchive(store, { head, end }, readLines(), (logs) => onProgress(logs, end.logs));
  } finally {
    await store.close();
  }
  return { chainId, logs: end.logs, lastBlock: last.number, isConfirmed: rpcUrls !== undefined };
}
