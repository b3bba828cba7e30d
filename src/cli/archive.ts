// delegations export, import and backup: move an index to another machine without reading the chain again, and copy a SQLite store
// while the service runs.

import { createReadStream, createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createProviderPool } from '../chain/rpc/provider-pool.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { type Environment, readConfig } from '../service/config.ts';
import { learnNetworks } from '../service/stored-networks.ts';
import { showStatus, UsageError } from '../service/terminal.ts';
import { ArchiveError, archiveLines, checkArchive, importArchive } from '../store/archive.ts';
import { writeArchive } from '../store/archive-folder.ts';
import { backUpSqlite } from '../store/backup.ts';
import { openStore } from '../store/open.ts';
import { sqlitePath } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { type Command, requireNetwork } from './command.ts';
import { exportRows, ROW_FORMATS } from './export-rows.ts';
import { writeOut, writeWhole } from './output.ts';
import { downloadArchive, fetchManifest, megabytes, sha256Of } from './published-archive.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'write the index of a chain to a file',
  usage: '--chain <id> > index.ndjson, or --to <folder>',
  about: `Writes the final history of a chain as NDJSON with a checksum at the end, up to its newest final block with delegations. The
service can keep running. The same blocks make the same bytes.

With --to, writes a compressed archive of the chain, or of every chain, into a folder, and index.json: for each archive its chain,
blocks, size and SHA-256. Any web server can publish the folder, and delegations import reads it from there.

With --format ndjson or csv, writes the columns of the view delegations_history, for databases and spreadsheets.`,
  options: {
    chain: { value: '<id>', about: 'chain id' },
    to: { value: '<folder>', about: 'where to write archives and their manifest' },
    format: {
      value: '<format>',
      about: 'archive, for delegations import; ndjson or csv: a row for each grant, for other tools [archive]',
      choices: ['archive', ...Object.keys(ROW_FORMATS)],
    },
  },
  examples: [
    'delegations export --chain 1 | gzip > mainnet.ndjson.gz',
    'delegations export --to /var/www/archive',
    'delegations export --chain 1 --format csv > delegations.csv',
  ],
  async run(call) {
    await using store = await openStore(readConfig(call.environment).databaseUrl, { readOnly: true });
    const states = await store.chains();
    learnNetworks(states);
    const [folder, format = 'archive'] = [call.text('to'), call.text('format')];
    if (folder !== undefined && format !== 'archive') throw new UsageError('--to writes archives: leave out --format.');
    if (folder !== undefined) {
      const all = states.filter(({ verified }) => verified !== null).map(({ chainId }) => chainId);
      const chainIds = call.text('chain') === undefined ? all : [requireNetwork(call).chainId];
      if (chainIds.length === 0) throw new UsageError('No chain has finalized blocks in this store yet.');
      await exportTo(store, chainIds, folder);
      return;
    }
    const { chainId } = requireNetwork(call);
    if (format === 'ndjson' || format === 'csv') {
      const state = states.find((one) => one.chainId === chainId);
      if (state?.verified == null) throw new UsageError(`Chain ${chainId} has no finalized blocks in this store yet.`);
      const show = (rows: number) => showStatus(`${rows} rows`);
      for await (const text of exportRows(store, state, format, show)) await writeWhole(text);
      return showStatus('');
    }
    const lines = archiveLines(store, chainId);
    let next = await lines.next();
    for (; !next.done; next = await lines.next()) await writeWhole(next.value);
    process.stderr.write(`Exported ${next.value.logs} logs in ${next.value.blocks} blocks.\n`);
  },
};

async function exportTo(store: Store, chainIds: readonly number[], folder: string): Promise<void> {
  for (const chainId of chainIds) {
    const show = (logs: number) => showStatus(`Chain ${chainId}: ${logs} logs`);
    const { file, logs, last, size, sha256 } = await writeArchive(store, chainId, folder, show);
    showStatus('');
    const what = `${logs} logs up to block ${last.number}, ${megabytes(size)}, SHA-256 ${sha256}`;
    await writeOut(`${join(folder, file)}: ${what}\n`);
  }
}

export const importCommand: Command = {
  name: 'import',
  summary: 'read an exported file into a database',
  usage: '<file>|<url>|-',
  about: `Imports an archive written by delegations export, gzipped or not, into a database that does not have the chain yet. With -, it
is read from standard input. What is not a file is read through a temporary one in TMPDIR; a download that is cut goes on where it
was, also when the command runs again. If there is an index.json beside the URL, the file must be the one that it describes. The whole
file is checked before anything is written. If RPC_URL_<chainId> is set, the newest block of the file must also be on the chain. The
service then continues from that block, and compares all that was imported with its own providers, newest first: see "imported" in
/networks, and IMPORT_TRUST. To resume an interrupted import, run it again.`,
  operands: [1, 1],
  examples: [
    'RPC_URL_1=https://node.example delegations import https://archive.example/ethereum.delegations.gz',
    'RPC_URL_1=https://node.example delegations import mainnet.ndjson.gz',
    'ssh other delegations export --chain 1 | delegations import -',
  ],
  run: ({ environment, operands: [file = ''] }) =>
    file === '-'
      ? importStdin(environment)
      : /^https?:\/\//.test(file)
        ? importUrl(environment, file)
        : runImport(environment, file),
};

/** What was downloaded is kept until it is imported: the same command goes on from there. */
async function importUrl(environment: Environment, text: string): Promise<void> {
  if (!URL.canParse(text)) throw new UsageError(`${text} is not a URL.`);
  const url = new URL(text);
  const folder = join(tmpdir(), `delegations-import-${sha256Of(text).slice(0, 16)}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = basename(url.pathname);
  const expected = (await fetchManifest(new URL('.', url)))?.find((one) => one.file === file);
  const path = join(folder, 'archive');
  try {
    await downloadArchive(url.href, path, expected);
  } catch (error) {
    if (existsSync(path))
      process.stderr.write(`What was downloaded is in ${folder}. The same command goes on from there.\n`);
    throw error;
  }
  await runImport(environment, path);
  rmSync(folder, { recursive: true, force: true });
}

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

/** In KiB: the index pages that a large commit changes. */
const IMPORT_CACHE = 262_144;

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
  await using store = await openStore(config.databaseUrl, { writerCache: IMPORT_CACHE });
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

/** A line is a block: one with more is not of a chain. */
const MAX_LINE = 64 * 1024 * 1024;

/** The lines of a file, gzipped or not, at the pace of their reader. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of await chunksOf(path)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw new ArchiveError('The file is not an archive: a line is too long.');
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
