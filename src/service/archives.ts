// The archives that the service publishes with ARCHIVE=on: a child process writes them when somebody asks, at most once an hour.

import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MANIFEST } from '../store/archive-folder.ts';
import { selfCommand } from './self-command.ts';

const MAX_AGE_MS = 3_600_000;
/** A store that cannot be read is not read again for every caller. */
const PAUSE_MS = 60_000;

export type PublishedArchives = ReturnType<typeof publishArchives>;

/** The processes of one machine share the archives of a store. */
export function publishArchives(storeId: string, databaseUrl: string, onError: (error: unknown) => void) {
  const folder = join(tmpdir(), `delegations-archive-${storeId.replace(/^0x/, '').slice(0, 16)}`);
  requireOwn(folder);
  let child: Bun.Subprocess | null = null;
  let begunAt = Number.NEGATIVE_INFINITY;

  async function write(): Promise<void> {
    child = Bun.spawn(selfCommand('export', '--to', folder), {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const said = await new Response(child.stderr as ReadableStream).text();
    const code = await child.exited;
    child = null;
    if (code !== 0) onError(new Error(`the archives were not written: ${said.trim() || `exit code ${code}`}`));
  }

  return {
    folder,
    /** Has the archives written if they are old. Whoever asks gets those that are there. */
    refresh(): void {
      const writtenAt = statSync(join(folder, MANIFEST), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      const now = Date.now();
      if (child !== null || now - writtenAt < MAX_AGE_MS || now - begunAt < PAUSE_MS) return;
      begunAt = now;
      write().catch(onError);
    },
    stop: () => child?.kill('SIGTERM'),
  };
}

/** Whoever may write there could publish anything. */
function requireOwn(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new Error(`${folder} is not a folder of this user: remove it`);
}
