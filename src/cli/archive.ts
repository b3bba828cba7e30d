// delegations export, import and backup: move an index to another machine without reading the chain again, and copy a SQLite store
// while the service runs.

import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createProviderPool } from '../chain/rpc/provider-pool.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { type Environment, readConfig } from '../service/config.ts';
import { learnNetworks } from '../service/stored-networks.ts';
import { showStatus, UsageError } from '../service/terminal.ts';
import { archiveLines, checkArchive, importArchive } from '../store/archive.ts';
import { backUpSqlite } from '../store/backup.ts';
import { openStore } from '../store/open.ts';
import { sqlitePath } from '../store/sqlite.ts';
import { type Command, requireNetwork } from './command.ts';
import { writeOut, writeWhole } from './output.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'write the index of a chain to a file',
  usage: '--chain <id> > index.ndjson',
  about: 'Writes the final history of a chain as NDJSON with a checksum at the end. The service can keep running.',
  options: { chain: { value: '<id>', about: 'chain id' } },
  examples: ['delegations export --chain 1 | gzip > mainnet.ndjson.gz'],
  async run(call) {
    await using store = await openStore(readConfig(call.environment).databaseUrl, { readOnly: true });
    learnNetworks(await store.chains());
    const { chainId } = requireNetwork(call);
    const lines = archiveLines(store, chainId);
    let next = await lines.next();
    for (; !next.done; next = await lines.next()) await writeWhole(next.value);
    process.stderr.write(`Exported ${next.value.logs} logs in ${next.value.blocks} blocks.\n`);
  },
};

export const importCommand: Command = {
  name: 'import',
  summary: 'read an exported file into a database',
  usage: '<file>|-',
  about: `Imports a file written by delegations export, gzipped or not, into a database that does not have the chain yet. With -, it
is read from standard input, through a temporary file in TMPDIR. The whole file is checked before anything is written. If RPC_URL_<chainId> is set, the newest block of the file must also be on the chain. The service
then continues from that block. To resume an interrupted import, run it again.`,
  operands: [1, 1],
  examples: [
    'RPC_URL_1=https://node.example delegations import mainnet.ndjson.gz',
    'ssh other delegations export --chain 1 | delegations import -',
  ],
  run: ({ environment, operands: [file = ''] }) =>
    file === '-' ? importStdin(environment) : runImport(environment, file),
};

/** A file is read twice, to check it first: a pipe cannot be. */
async function importStdin(environment: Environment): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-import-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    const path = join(folder, 'archive');
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
    await runImport(environment, path);
  } finally {
    remove();
    process.off('exit', remove);
  }
}

/** Checks the whole file and its newest block first, then writes it. */
async function runImport(environment: Environment, path: string): Promise<void> {
  if (!existsSync(path)) throw new UsageError(`File not found: ${path}`);
  if (!statSync(path).isFile())
    throw new UsageError(`${path} is not a regular file. To read from a pipe: delegations import -`);
  const config = readConfig(environment);
  const { head, end } = await checkArchive(readLines(path));
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
  await using store = await openStore(config.databaseUrl);
  await importArchive(store, { head, end }, readLines(path), (done) =>
    showStatus(done === end.logs ? '' : `${done} of ${end.logs} logs`),
  );
  showStatus('');
  const confirmed =
    rpcUrls !== undefined
      ? 'Its newest block is on the chain.'
      : `RPC_URL_${chainId} is not set, so its newest block was not compared with the chain.`;
  await writeOut(`Chain ${chainId}: imported ${end.logs} logs up to block ${last.number}. ${confirmed}\n`);
}

const GZIP_MAGIC = [0x1f, 0x8b];

/** The lines of a file, gzipped or not, at the pace of their reader. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of await chunksOf(path)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

async function chunksOf(path: string): Promise<AsyncIterable<Uint8Array>> {
  const start = await Bun.file(path).slice(0, GZIP_MAGIC.length).bytes();
  return GZIP_MAGIC.every((byte, position) => start[position] === byte) ? unzipped(path) : Bun.file(path).stream();
}

async function* unzipped(path: string): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path);
  const unzip = file.pipe(createGunzip());
  file.on('error', (error) => unzip.destroy(error));
  try {
    for await (const chunk of unzip) yield chunk;
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith('Z_')) throw error;
    throw new UsageError(`${path} is not a complete gzip file: ${(error as Error).message}`);
  } finally {
    file.destroy();
  }
}

export const backup: Command = {
  name: 'backup',
  summary: 'copy a SQLite database to a file',
  usage: '<file>',
  about: `Writes index and keys of the SQLite database of DATABASE_URL to a new file, all of one moment, and checks the copy. The
service can keep running. The file has secrets, so only its owner can read it. To restore it, stop the service and put the
file in the place of the database, without the old -wal and -shm files. For PostgreSQL, use pg_dump.`,
  operands: [1, 1],
  examples: ['delegations backup /backups/delegations-$(date +%F).db'],
  async run({ environment, operands: [file = ''] }) {
    const path = sqlitePath(readConfig(environment).databaseUrl);
    if (path === null) throw new UsageError('DATABASE_URL is a PostgreSQL database. Use pg_dump to back it up.');
    const bytes = backUpSqlite(path, file);
    await writeOut(`Wrote ${file}, ${(bytes / 1e6).toFixed(1)} MB.\n`);
  },
};
