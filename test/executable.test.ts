// Runs the executable of npm run build alone in an empty directory.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildExecutable } from './support/built-executable.ts';
import { serveRecording } from './support/recorded-service.ts';

const root = mkdtempSync(join(tmpdir(), 'delegations-executable-'));
const folder = join(root, 'alone');
const program = join(folder, 'delegations');

beforeAll(() => {
  const outfile = join(root, 'built');
  buildExecutable(outfile);
  mkdirSync(folder);
  copyFileSync(outfile, program);
  // Files that it must not read.
  writeFileSync(join(folder, '.env'), 'KEYS_PER_WALLET=nonsense\n');
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./evil.ts"]\n');
  writeFileSync(join(folder, 'evil.ts'), 'process.exit(99)\n');
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs","imports":{"*":"./evil.ts"}}');
  writeFileSync(join(folder, 'tsconfig.json'), '{"compilerOptions":{"paths":{"*":["./evil.ts"]}}}');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const run = (...args: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], { cwd: folder, env: {} });
  return { code: exitCode, text: stdout.toString() + stderr.toString() };
};

describe('the executable', () => {
  for (const workers of [1, 2]) {
    test(`with --workers ${workers}, indexes a recording from a node and serves API, pages and docs`, async () => {
      const served = await serveRecording([program, 'serve', '--workers', String(workers)], {
        folder,
        environment: { DATABASE_URL: `sqlite:${join(root, `store-${workers}.db`)}` },
      });
      try {
        const { url } = served;
        const { asked, wrong } = await served.compareAnswers();
        console.log(`the executable with --workers ${workers}: ${asked} answers compared, ${wrong} wrong`);
        expect([asked > 100, wrong]).toEqual([true, 0]);
        for (const [path, says] of [
          ['/', 'Who may act for your wallet?'],
          ['/status', 'Ethereum'],
          ['/developers', 'Sign in'],
          ['/docs', '/registry/v2/check/all'],
          ['/openapi.json', '"openapi"'],
          ['/style.css', '{'],
          ['/geist.woff2', 'wOF2'],
          ['/live.js', 'fetch'],
          ['/developers.js', 'fetch'],
        ]) {
          const response = await fetch(url + path);
          expect([path, response.status, await response.text()]).toEqual([
            path,
            200,
            expect.stringContaining(says ?? ''),
          ]);
        }
      } finally {
        await served.stop();
      }
    });
  }

  test('has all commands, and explains that the sandbox is missing', () => {
    expect(run('--version')).toMatchObject({ code: 0 });
    expect(run('--help').text).toContain('delegations <command>');
    expect(run('sandbox')).toEqual({ code: 2, text: expect.stringContaining('npm run sandbox') });
  });
});
