// Starts the servers under test, each as its own process.

import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAccounts } from '../src/accounts/accounts.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { findProgram } from '../test/support/programs.ts';
import { MAIN } from '../test/support/serve-process.ts';
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
  const child = Bun.spawn([...onCores(cores), process.execPath, MAIN, 'serve', ...args], {
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
  const url = await eventually(child, async () => {
    const lines = (await Bun.file(log).text()).split('\n').slice(0, -1);
    const listening = lines.map((line) => JSON.parse(line)).find(({ message }) => message === 'listening');
    return listening?.url as string | undefined;
  });
  return { url, pid: child.pid, stop: () => stopped(child) };
}

/** Creates an API key: without one, a caller is rate-limited after 25 requests. */
export async function keyOf(databaseUrl: string): Promise<string> {
  const accounts = await openAccounts(databaseUrl);
  const created = await accounts.create({ label: 'bench', now: Math.floor(Date.now() / 1000) });
  await accounts.close();
  return created?.text ?? '';
}

/** Starts nginx serving a static `true`, with its access log on. */
export async function startNginx(folder: string): Promise<Server> {
  const port = freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx-error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log ${folder}/nginx.log combined;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server { listen 127.0.0.1:${port}; default_type application/json; location / { return 200 'true'; } }
}
`,
  );
  const child = Bun.spawn([findProgram('nginx'), '-c', config, '-e', join(folder, 'nginx-error.log')], {
    stdout: 'ignore',
    stderr: 'inherit',
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(child, async () => ((await fetch(url).catch(() => null))?.ok ? true : undefined));
  return { url, pid: child.pid, stop: () => stopped(child) };
}

export async function stopped(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await child.exited;
  clearTimeout(late);
}

/** Polls until the server answers; throws if the process exits first. */
export async function eventually<T>(
  child: Bun.Subprocess,
  attempt: () => Promise<T | undefined>,
  seconds = 30,
): Promise<T> {
  for (const end = performance.now() + 1000 * seconds; performance.now() < end; ) {
    if (child.exitCode !== null) throw new Error(`The server exited with code ${child.exitCode}`);
    const found = await attempt();
    if (found !== undefined) return found;
    await Bun.sleep(20);
  }
  await stopped(child);
  throw new Error(`The server did not answer within ${seconds} s`);
}
