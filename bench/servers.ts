// Starts the servers under test, each as its own process.

import { openSync } from 'node:fs';
import { join } from 'node:path';
import { openAccounts } from '../src/accounts/accounts.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { sqlitePath } from '../src/store/sqlite.ts';
import { eventually } from '../test/support/eventually.ts';
import { runNginx } from '../test/support/nginx.ts';
import { PROGRAM } from '../test/support/serve-process.ts';
import type { Server } from './load.ts';
import { onCores } from './machine.ts';

interface OursOptions {
  readonly databaseUrl: string;
  readonly folder: string;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The cores that the service runs on, as taskset names them. */
  readonly cores?: string;
}

/** Starts our service as an operator would, with its log in a file. */
export async function startOurs(options: OursOptions): Promise<Server> {
  const { databaseUrl, folder, args = [], environment = {}, cores } = options;
  const log = join(folder, `ours-${crypto.randomUUID()}.log`);
  const child = Bun.spawn([...onCores(cores), ...PROGRAM, 'serve', ...args], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      HOST: '127.0.0.1',
      PORT: String(freePort()),
      METRICS_PORT: '0',
      // The indexed chain is not being followed, so its head is old.
      MAX_LAG_1: '86400',
      ...environment,
    },
    stdout: openSync(log, 'w'),
    stderr: 'inherit',
  });
  const url = await eventually(
    'our service listens',
    async () => /"message":"listening".*?"url":"([^"]+)"/.exec(await Bun.file(log).text())?.[1],
    { child },
  );
  return { url, pid: child.pid, [Symbol.asyncDispose]: () => stopped(child) };
}

/** Starts the check that is written by hand. */
export async function startByHand(databaseUrl: string, key: string, folder: string): Promise<Server> {
  const port = freePort();
  const args = [sqlitePath(databaseUrl) ?? '', key, String(port)];
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'by-hand.ts'), ...args], {
    stdout: openSync(join(folder, 'by-hand.log'), 'w'),
    stderr: 'inherit',
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    'the check by hand listens',
    () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    { child },
  );
  return { url, pid: child.pid, [Symbol.asyncDispose]: () => stopped(child) };
}

/** The headers of a caller with an API key: without one, it is rate-limited after 25 requests. */
export async function keyHeaders(databaseUrl: string): Promise<{ readonly 'X-API-KEY': string }> {
  const accounts = await openAccounts(databaseUrl);
  const created = await accounts.create({ label: 'bench', now: Math.floor(Date.now() / 1000) });
  await accounts.close();
  return { 'X-API-KEY': created?.text ?? '' };
}

/** Starts nginx serving a static `true`, with its access log on. */
export async function startNginx(folder: string): Promise<Server> {
  const nginx = await runNginx(
    join(folder, 'nginx'),
    (port) => `access_log ${folder}/nginx.log combined;
keepalive_requests 1000000000;
server { listen 127.0.0.1:${port}; default_type application/json; location / { return 200 'true'; } }`,
  );
  return { ...nginx, [Symbol.asyncDispose]: nginx.stop };
}

export async function stopped(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await child.exited;
  clearTimeout(late);
}
