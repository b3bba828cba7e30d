// delegations mirror: keeps a folder of archives as somebody else publishes them.

import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../chain/follow/run-follower.ts';
import { UsageError } from '../service/terminal.ts';
import { checkArchive } from '../store/archive.ts';
import { type ArchiveEntry, addToManifest, MANIFEST, readManifest } from '../store/archive-folder.ts';
import { readLines } from './archive.ts';
import type { Command } from './command.ts';
import { dateOf, nowSeconds, writeOut } from './output.ts';
import { downloadArchive, fetchManifest, megabytes } from './published-archive.ts';

const DEFAULT_MINUTES = 60;
const MAX_MINUTES = 10_080;

export const mirror: Command = {
  name: 'mirror',
  summary: 'keep a copy of published archives',
  usage: '--from <url> --to <folder>',
  about: `Copies the archives that another service publishes at /archive (ARCHIVE=on), or any folder with their manifest, and looks for newer ones
until it is stopped. Each file is checked from its first line to its last before it takes the place of the older one, and index.json is
written last. What is cut off goes on where it was. Nothing is believed about what is in the archives: whoever imports them compares
them with their own providers.`,
  options: {
    from: { value: '<url>', about: 'folder with the manifest, such as https://delegations.example/archive/' },
    to: { value: '<folder>', about: 'where to keep the archives' },
    every: { value: '<minutes>', about: 'how often to look for newer ones [60]' },
    once: { about: 'look once, then exit' },
  },
  examples: [
    'delegations mirror --from https://delegations.example/archive/ --to /var/www/archive',
    'delegations mirror --from https://delegations.example/archive/ --to ./archive --once',
  ],
  async run(call) {
    const [from, to] = [call.text('from'), call.text('to')];
    if (from === undefined || to === undefined) throw new UsageError('--from and --to are needed.');
    if (!/^https?:\/\//.test(from) || !URL.canParse(from))
      throw new UsageError(`--from must be a URL, such as https://delegations.example/archive/, got ${from}.`);
    const minutes = call.number('every') ?? DEFAULT_MINUTES;
    if (minutes < 1 || minutes > MAX_MINUTES)
      throw new UsageError(`--every must be from 1 to ${MAX_MINUTES} minutes, got ${minutes}.`);
    mkdirSync(to, { recursive: true });
    const folder = new URL(from.endsWith('/') ? from : `${from}/`);
    if (call.isSet('once')) return mirrorOnce(folder, to);
    const stopped = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
    while (!stopped.signal.aborted) {
      await mirrorOnce(folder, to).catch((error) => process.stderr.write(`${dateOf(nowSeconds())} ${error.message}\n`));
      await sleep(minutes * 60_000, stopped.signal);
    }
  },
};

async function mirrorOnce(from: URL, to: string): Promise<void> {
  const published = await fetchManifest(from);
  if (published === null) throw new UsageError(`${new URL(MANIFEST, from)} is not there: it is no folder of archives.`);
  const have = readManifest(to);
  for (const entry of published) {
    const { file, sha256, size, last, logs } = entry;
    if (have.some((one) => one.file === file && one.sha256 === sha256)) continue;
    await copy(from, to, entry);
    await writeOut(`${file}: ${logs} logs up to block ${last.number}, ${megabytes(size)}\n`);
  }
}

async function copy(from: URL, to: string, entry: ArchiveEntry): Promise<void> {
  const path = join(to, `.${entry.file}.part`);
  await downloadArchive(new URL(entry.file, from).href, path, entry);
  const { head, end } = await checkArchive(readLines(path));
  const isSame = head.chainId === entry.chainId && head.last.hash === entry.last.hash && end.logs === entry.logs;
  if (!isSame) throw new UsageError(`${entry.file} is not what ${MANIFEST} says.`);
  renameSync(path, join(to, entry.file));
  rmSync(`${path}.version`, { force: true });
  addToManifest(to, entry);
}
