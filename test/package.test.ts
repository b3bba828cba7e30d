// The server as a package: packed as npm publishes it, installed into an empty folder, and run there without a network.

import { beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packProgram } from '../deploy/package.ts';
import manifest from '../package.json' with { type: 'json' };
import { temporaryPath } from './support/engines.ts';
import { run } from './support/packed-client.ts';
import { serveRecording } from './support/recorded-service.ts';
import { startSandboxOf } from './support/sandbox-process.ts';
import { runProgram } from './support/serve-process.ts';

const ROOT = join(import.meta.dir, '..');
const folder = temporaryPath('package');
const project = join(folder, 'project');
const program = join(project, 'node_modules/.bin/delegations');
/** Nothing is fetched any more. */
const OFFLINE = {
  PATH: process.env['PATH'] ?? '',
  npm_config_offline: 'true',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
};

let tarball = '';
let installed = '';
let megabytes = 0;
beforeAll(async () => {
  mkdirSync(project, { recursive: true });
  tarball = await packProgram(folder);
  const startedAt = Date.now();
  const { code, stdout, stderr } = await runProgram(['npm', 'install', '--prefer-offline', tarball], {
    folder: project,
  });
  installed = stdout + stderr;
  if (code !== 0) throw new Error(installed);
  megabytes = Number.parseInt(run(project, 'du', '-sm', 'node_modules'), 10);
  console.log(
    `the package: ${statSync(tarball).size} bytes packed, ${megabytes} MB installed in ${seconds(startedAt)} s, with ${run(project, 'node', '--version').trim()}`,
  );
}, 240_000);

const seconds = (since: number) => ((Date.now() - since) / 1000).toFixed(1);

describe('the package', () => {
  test('has what it needs to run, and nothing else', () => {
    const files = run(folder, 'tar', 'tzf', tarball).split('\n').filter(Boolean);
    console.log(`the package: ${files.length} files`);
    const needed =
      /^package\/(delegations|program\/[\w-]+\.js|program\/geist-\w+\.woff2|third-party-licenses\.txt|openapi\.json|package\.json|README\.md|LICENSE)$/;
    expect(files.filter((name) => !needed.test(name))).toEqual([]);
    expect(files).toContain('package/program/main.js');
    const licenses = run(folder, 'tar', 'xzOf', tarball, 'package/third-party-licenses.txt');
    const bundled = licenses.split('\n---\n\n').map((text) => text.split(' ')[0]);
    for (const name of [...Object.keys(manifest.dependencies), '@modelcontextprotocol/server', '@noble/curves'])
      expect(bundled).toContain(name);
  });

  test('installs in at most 130 MB, nearly all of them Bun', () => {
    expect(megabytes).toBeLessThanOrEqual(130);
  });

  test('installs without a warning about engines, install scripts or deprecation', () => {
    expect(installed).toContain('added ');
    expect(installed).not.toMatch(/EBADENGINE|install-scripts|deprecated/);
  });

  test('has Bun for every platform, in the version of the checkout', () => {
    const buns = Object.entries(manifest.optionalDependencies).filter(([name]) => name.startsWith('@oven/bun-'));
    expect(buns.map(([, version]) => version)).toEqual(Array(6).fill(manifest.devDependencies.bun));
  });
});

describe('installed in an empty folder, without a network', () => {
  test('the sandbox says what it needs besides', async () => {
    const alone = await runProgram([program, 'sandbox', '--port', '0'], { folder: project, environment: OFFLINE });
    expect(alone.code).toBe(2);
    const [, command = ''] = /Install it here: (npm install @nomicfoundation\/edr-\S+)$/m.exec(alone.stderr) ?? [];
    const { code, stderr } = await runProgram([...command.split(' '), '--prefer-offline'], { folder: project });
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  }, 120_000);

  test('the sandbox starts and gives the answers that it prints', async () => {
    const startedAt = Date.now();
    const sandbox = startSandboxOf(['sh', '-c', 'cd "$0" && exec "$@"', project, program], OFFLINE);
    try {
      await sandbox.ready();
      const [, url = '', answer = ''] = /curl '([^']+)'\n {4}(\S+)\n/.exec(sandbox.text()) ?? [];
      expect([url, await (await fetch(url)).text()]).toEqual([url, answer]);
      console.log(`the package: the sandbox gave its first answer after ${seconds(startedAt)} s`);
    } finally {
      sandbox.child.kill('SIGINT');
      await sandbox.child.exited;
    }
    expect(sandbox.text()).toContain('Stopped.');
  });

  test('serve indexes a chain and answers, and npx delegations check asks it', async () => {
    const served = await serveRecording([program, 'serve'], {
      folder: project,
      environment: { ...OFFLINE, DATABASE_URL: `sqlite:${join(folder, 'store.db')}` },
    });
    try {
      const { asked, wrong } = await served.compareAnswers();
      console.log(`the package: ${asked} answers compared, ${wrong} wrong`);
      expect([asked > 100, wrong]).toEqual([true, 0]);
      const check = ['npx', 'delegations', 'check', '--from', `0x${'1'.repeat(40)}`, '--to', `0x${'2'.repeat(40)}`];
      const { code, stdout } = await runProgram([...check, '--block', 'finalized', '--url', served.url], {
        folder: project,
        environment: OFFLINE,
      });
      expect([code, stdout]).toEqual([1, expect.stringMatching(/^no \(/)]);
    } finally {
      await served.stop();
    }
  });
});

test('without Bun, the command says what to install', async () => {
  const alone = join(folder, 'alone');
  mkdirSync(alone);
  copyFileSync(join(ROOT, 'delegations'), join(alone, 'delegations'));
  const { code, stderr } = await runProgram(['./delegations', '--version'], { folder: alone });
  expect([code, stderr]).toEqual([127, expect.stringContaining('npm install --include=optional')]);
});
