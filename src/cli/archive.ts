// delegations export and import: an index moves to another machine, and need not be read from a node again.

import { existsSync, statSync } from 'node:fs';
import { createProviders } from '../chain/providers.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import type { Environment } from '../service/config.ts';
import { readConfig } from '../service/config.ts';
import { showStatus } from '../service/status-line.ts';
import { UsageError } from '../service/usage-error.ts';
import { archiveLines } from '../store/export-archive.ts';
import { checkArchive, importArchive } from '../store/import-archive.ts';
import { openStore } from '../store/open.ts';
import { type Command, chainOf } from './command.ts';
import { linesOf } from './lines.ts';
import { writeOut } from './output.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'write the index of a chain to a file',
  usage: '--chain <id> > index.ndjson',
  about: `Writes the final history of a chain, as lines of JSON with a checksum at the end. The service may go on meanwhile.`,
  options: { chain: { value: '<id>', about: 'the chain' } },
  examples: ['delegations export --chain 1 | gzip > mainnet.ndjson.gz'],
  run: (call) => exportIndex(call.environment, chainOf(call).chainId),
};

export const importCommand: Command = {
  name: 'import',
  summary: 'read such a file into a store',
  usage: '<file>',
  about: `Reads what delegations export has written into a store that does not have the chain yet. The file is checked to its end
before anything is written; with an RPC_URL_<chainId>, its newest block must also be the chain's. The service then goes on
following from there. An import that was broken off goes on when it is started again.`,
  operands: [1, 1],
  examples: ['RPC_URL_1=https://node.example delegations import mainnet.ndjson'],
  run: ({ environment, operands }) => importIndex(environment, operands[0] as string),
};

async function exportIndex(environment: Environment, chainId: number): Promise<void> {
  const store = await openStore(readConfig(environment).databaseUrl, { readOnly: true });
  try {
    const lines = archiveLines(store, chainId);
    for (let next = await lines.next(); ; next = await lines.next()) {
      if (next.done) {
        process.stderr.write(`${next.value.logs} logs of ${next.value.blocks} blocks\n`);
        return;
      }
      await writeOut(next.value);
    }
  } finally {
    await store.close();
  }
}

async function importIndex(environment: Environment, path: string): Promise<void> {
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`);
  // It is read twice: first to see that it is whole.
  if (!statSync(path).isFile()) throw new UsageError(`${path} is no file: unpack the archive into one first.`);
  const config = readConfig(environment);
  const { head, end } = await checkArchive(linesOf(path));
  const urls = config.chains.get(head.chainId)?.rpcUrls;
  if (urls !== undefined) {
    const { node } = await createProviders(NETWORKS.get(head.chainId) as Network, urls).pick(Date.now());
    const header = await node.header(head.last.number);
    if (header?.hash !== head.last.hash) {
      throw new UsageError(`Block ${head.last.number} of the archive is not the chain's. Nothing was written.`);
    }
  }
  const store = await openStore(config.databaseUrl);
  try {
    await importArchive(store, { head, end }, linesOf(path), (logs) => showStatus(`${logs} of ${end.logs} logs`));
    showStatus('');
  } finally {
    await store.close();
  }
  const checked =
    urls === undefined ? 'no node was asked whether they are the chain’s' : 'its newest block is the chain’s';
  await writeOut(`Chain ${head.chainId}: ${end.logs} logs up to block ${head.last.number}; ${checked}.\n`);
}
