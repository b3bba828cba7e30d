// The packed client against the real service and a faulty server: the same suite in Node, Bun, Deno, workerd and a browser.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { freePort } from '../../src/sandbox/free-port.ts';
import { startBrowser } from '../../test/support/browser.ts';
import { packClient } from '../../test/support/packed-client.ts';
import { runProgram } from '../../test/support/serve-process.ts';
import { type FaultyServer, startFaultyServer } from './faulty-server.ts';
import { type ServiceOnChain, startServiceOnChain } from './service-on-chain.ts';
import { CASES, type Results, type Servers } from './suite/suite.ts';

const RUNTIMES = ['Node', 'Bun', 'Deno', 'workerd', 'Chromium'] as const;
const { resolve } = createRequire(import.meta.url);

let service: ServiceOnChain;
let faulty: FaultyServer;
let servers: Servers;
/** A project that has installed the client, with the suite in it. */
let project: string;
type Runtime = (typeof RUNTIMES)[number];
const results = {} as Record<Runtime, Results>;

beforeAll(async () => {
  ({ project } = packClient());
  cpSync(join(import.meta.dir, 'suite'), join(project, 'suite'), { recursive: true });
  service = await startServiceOnChain();
  faulty = startFaultyServer(service.grant);
  servers = { url: service.url, faulty: faulty.url, refused: `http://127.0.0.1:${freePort()}` };
  // Deno looks there for what is installed.
  await Bun.write(join(project, 'package.json'), '{"dependencies":{"delegations-client":"*"}}');
  await Bun.write(join(project, 'suite.js'), await bundle('program.ts', 'node'));
  // At the same time, because they mostly wait.
  const runs: Record<Runtime, () => Promise<Results>> = {
    Node: () => inProgram('node'),
    Bun: () => inProgram(process.execPath),
    Deno: () => inProgram(denoPath(), 'run', '--node-modules-dir=manual', '--allow-net=127.0.0.1'),
    workerd: inWorkerd,
    Chromium: inBrowser,
  };
  await Promise.all(
    RUNTIMES.map(async (runtime) => {
      results[runtime] = await runs[runtime]().catch((error) => ({ '': String(error) }));
    }),
  );
});
afterAll(async () => {
  faulty.stop();
  await service.stop();
});

/** As one file. Node and Bun resolve the client by themselves. */
async function bundle(entry: string, target: 'node' | 'browser'): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(project, 'suite', entry)],
    target,
    packages: target === 'node' ? 'external' : 'bundle',
  });
  return (outputs[0] as Blob).text();
}

// The binaries of their platform packages: install scripts do not run.
const platform = process.platform === 'linux' ? { deno: '-glibc', workerd: 'linux' } : { deno: '', workerd: 'darwin' };
const denoPath = () => resolve(`@deno/${process.platform}-${process.arch}${platform.deno}/deno`);
const workerdPath = () =>
  resolve(`@cloudflare/workerd-${platform.workerd}-${process.arch === 'x64' ? '64' : process.arch}/bin/workerd`);

/** Its network may reach the test's servers, which are on the loopback interface. */
const workerdConfig = (port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "suite", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "2026-10-01",
    )),
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "suite")],
);
`;

async function inWorkerd(): Promise<Results> {
  const port = freePort();
  await Bun.write(join(project, 'worker.js'), await bundle('worker.ts', 'browser'));
  await Bun.write(join(project, 'workerd.capnp'), workerdConfig(port));
  const child = Bun.spawn([workerdPath(), 'serve', 'workerd.capnp'], {
    cwd: project,
    stdout: 'inherit',
    stderr: 'inherit',
  });
  try {
    const ask = () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(servers) });
    for (;;) {
      const response = await ask().catch(() => null);
      if (response?.ok) return (await response.json()) as Results;
      if (response !== null) throw new Error(`workerd answered ${response.status}: ${await response.text()}`);
      if (child.exitCode !== null) throw new Error(`workerd ended with code ${child.exitCode}.`);
      await Bun.sleep(50);
    }
  } finally {
    child.kill();
    await child.exited;
  }
}

async function inProgram(program: string, ...args: string[]): Promise<Results> {
  const command = [program, ...args, 'suite.js', JSON.stringify(servers)];
  const { code, stdout, stderr } = await runProgram(command, { folder: project });
  if (code !== 0) throw new Error(`${program} exited with code ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

async function inBrowser(): Promise<Results> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`${servers.faulty}/page`);
    await page.addScriptTag({ content: await bundle('browser.ts', 'browser'), type: 'module' });
    await page.waitForFunction('globalThis.runSuite');
    return await page.evaluate(`runSuite(${JSON.stringify(servers)})`);
  } finally {
    await browser.close();
  }
}

describe.each(RUNTIMES)('in %s', (runtime) => {
  test('the suite ran', () => {
    expect(results[runtime]['']).toBeUndefined();
  });
  test.each(Object.keys(CASES))('%s', (name) => {
    expect(results[runtime][name]).toBe(null);
  });
});
