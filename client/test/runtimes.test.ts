// The packed client against the real service and a faulty server: the same suite in Node, Bun and a browser.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/sandbox/free-port.ts';
import { startBrowser } from '../../test/support/browser.ts';
import { packClient } from '../../test/support/packed-client.ts';
import { runProgram } from '../../test/support/serve-process.ts';
import { type FaultyServer, startFaultyServer } from './faulty-server.ts';
import { type ServiceOnChain, startServiceOnChain } from './service-on-chain.ts';
import { CASES, type Results, type Servers } from './suite/suite.ts';

const RUNTIMES = ['Node', 'Bun', 'Chromium'] as const;

let service: ServiceOnChain;
let faulty: FaultyServer;
let servers: Servers;
/** A project that has installed the client, with the suite in it. */
let project: string;
let results: Record<(typeof RUNTIMES)[number], Results>;

beforeAll(async () => {
  ({ project } = packClient());
  cpSync(join(import.meta.dir, 'suite'), join(project, 'suite'), { recursive: true });
  service = await startServiceOnChain();
  faulty = startFaultyServer(service.grant);
  servers = { url: service.url, faulty: faulty.url, refused: `http://127.0.0.1:${freePort()}` };
  await Bun.write(join(project, 'suite.js'), await bundle('program.ts', 'node'));
  // At the same time, because they mostly wait.
  const [inNode, inBun, inChromium] = await Promise.all([inProgram('node'), inProgram(process.execPath), inBrowser()]);
  results = { Node: inNode, Bun: inBun, Chromium: inChromium };
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

async function inProgram(program: string): Promise<Results> {
  const command = [program, 'suite.js', JSON.stringify(servers)];
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
  test.each(Object.keys(CASES))('%s', (name) => {
    expect(results[runtime][name]).toBe(null);
  });
});
