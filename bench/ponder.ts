// Installs and runs the peer, a Ponder app for the same registry that follows Ponder's documentation. See bench/ponder.

import { cpSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../src/sandbox/free-port.ts';
import { eventually } from '../test/support/eventually.ts';
import type { Server } from './load.ts';
import { peakMemory } from './processes.ts';
import { stopped } from './servers.ts';

const APP = join(import.meta.dir, 'ponder');
const SLOWEST_BACKFILL_SECONDS = 1800;

export interface Ponder {
  readonly databaseUrl: string;
  readonly databasePid: number;
  readonly version: string;
  readonly node: string;
  /** Indexes into a schema; resolves when the whole history is indexed. */
  index(schema: string): Promise<Server & { readonly peakMemory: number }>;
  /** Serves only the API, on an indexed schema. */
  serve(schema: string): Promise<Server>;
}

interface PonderOptions {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly databasePid: number;
  readonly rpcUrl: string;
}

export function createPonder({ folder, databaseUrl, databasePid, rpcUrl }: PonderOptions): Ponder {
  const app = install();
  const node = nodeOf(app);
  const start = async (command: 'start' | 'serve', schema: string, path: string, seconds: number) => {
    const port = String(freePort());
    const log = openSync(join(folder, `ponder-${schema}-${command}.log`), 'w');
    const program = join(app, 'node_modules/ponder/dist/esm/bin/ponder.js');
    const args = [command, '--schema', schema, '--port', port, '--hostname', '127.0.0.1', '--log-format', 'json'];
    const child = Bun.spawn([node, program, ...args], {
      cwd: app,
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        RPC_URL: rpcUrl,
        NODE_ENV: 'production',
        PONDER_TELEMETRY_DISABLED: '1',
      },
      stdout: log,
      stderr: log,
    });
    const url = `http://127.0.0.1:${port}`;
    const ready = eventually(`Ponder has ${path}`, async () => (await fetch(url + path)).ok, { seconds, child });
    const memory = await peakMemory(child.pid, ready);
    return { url, pid: child.pid, databasePid, peakMemory: memory, [Symbol.asyncDispose]: () => stopped(child) };
  };
  return {
    databaseUrl,
    databasePid,
    version: JSON.parse(readFileSync(join(app, 'node_modules/ponder/package.json'), 'utf8')).version,
    node: Bun.spawnSync([node, '--version']).stdout.toString().trim(),
    index: (schema) => start('start', schema, '/ready', SLOWEST_BACKFILL_SECONDS),
    serve: (schema) => start('serve', schema, '/health', 60),
  };
}

/** Installs into the user's cache, once for each set of versions. */
function install(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'delegations-bench', 'ponder');
  const installed = join(folder, 'installed');
  const wanted = readFileSync(join(APP, 'package.json'), 'utf8');
  if (readOr(installed) !== wanted) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  cpSync(APP, folder, { recursive: true });
  if (readOr(installed) === wanted) return folder;
  console.log('Installing the Ponder app …');
  const { exitCode, stderr } = Bun.spawnSync(['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    // npm skips dev packages where NODE_ENV is production.
    env: { ...process.env, NODE_ENV: 'development' },
  });
  if (exitCode !== 0) throw new Error(`npm install of the Ponder app failed: ${stderr.toString().slice(-1000)}`);
  writeFileSync(installed, wanted);
  return folder;
}

/** The Node version that Ponder runs best on, or the one on the PATH. */
function nodeOf(app: string): string {
  const own = join(app, `node_modules/node-linux-${process.arch}/bin/node`);
  return existsSync(own) ? own : (Bun.which('node') ?? 'node');
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
