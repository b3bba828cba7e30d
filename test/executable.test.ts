// Runs the executable of npm run build alone in an empty directory.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scripts } from '../package.json' with { type: 'json' };
import { checkUrl } from '../src/api/url.ts';
import { asksBalance } from '../src/registry/check.ts';
import { startFakeNode } from './support/fake-node.ts';
import { eventually } from './support/live-chain.ts';
import { everyQuestion, trueAnswers } from './support/questions.ts';
import { replayOf } from './support/replay.ts';
import { RECORDINGS } from './support/vectors.ts';

const root = mkdtempSync(join(tmpdir(), 'delegations-executable-'));
const folder = join(root, 'alone');
const program = join(folder, 'delegations');

beforeAll(() => {
  const outfile = join(root, 'built');
  const command = scripts.build.replace('dist/delegations', outfile).replace(/^bun /, `${process.execPath} `);
  const { exitCode, stderr } = Bun.spawnSync(command.split(' '), { cwd: join(import.meta.dir, '..') });
  if (exitCode !== 0) throw new Error(stderr.toString());
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

async function listeningUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stdout.values({ preventCancel: true })) {
    text += decoder.decode(chunk, { stream: true });
    const line = text.split('\n').find((one) => one.includes('"message":"listening"') && one.endsWith('}'));
    if (line !== undefined) return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error(`it does not listen: ${text}`);
}

const run = (...args: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], { cwd: folder, env: {} });
  return { code: exitCode, text: stdout.toString() + stderr.toString() };
};

describe('the executable', () => {
  for (const workers of [1, 2]) {
    test(`with --workers ${workers}, indexes a recording from a node and serves API, pages and docs`, async () => {
      const [recording] = RECORDINGS;
      if (recording === undefined) throw new Error('no recording');
      const node = startFakeNode(replayOf(recording));
      const child = Bun.spawn([program, 'serve', '--workers', String(workers)], {
        cwd: folder,
        env: {
          RPC_URL_1: node.url,
          START_BLOCK_1: String(recording.blocks[0]?.number),
          FINALITY_1: '1 blocks',
          POLL_INTERVAL_1: '100',
          DATABASE_URL: `sqlite:${join(root, `store-${workers}.db`)}`,
          HOST: '127.0.0.1',
          PORT: '0',
          METRICS_PORT: '0',
          ANONYMOUS_LIMIT: 'off',
          LOG_LEVEL: 'info',
        },
        stdout: 'pipe',
        stderr: 'inherit',
      });
      try {
        const url = await listeningUrl(child.stdout);
        const checkpoint = recording.checkpoints.at(-2);
        const block = checkpoint?.blockNumber ?? 0;
        await eventually('followed', async () => {
          const [network] = (await (await fetch(`${url}/networks`)).json()) as { finalizedBlock: number | null }[];
          return (network?.finalizedBlock ?? 0) >= block;
        });
        const truths = checkpoint ? trueAnswers(checkpoint) : new Map();
        const asked = everyQuestion(recording).filter((_, turn) => turn % 7 === 0);
        let wrong = 0;
        for (const { question, name } of asked) {
          const response = await fetch(`${url}${checkUrl(question, { block })}`);
          const truth = String(truths.get(name) ?? (asksBalance(question) ? 0n : false));
          if (response.status !== 200 || (await response.text()) !== truth) wrong++;
        }
        console.log(`the executable with --workers ${workers}: ${asked.length} answers compared, ${wrong} wrong`);
        expect([asked.length > 100, wrong]).toEqual([true, 0]);
        for (const [path, says] of [
          ['/', 'Explorer'],
          ['/status', 'Ethereum'],
          ['/developers', 'Sign in'],
          ['/docs', '/registry/v2/check/all'],
          ['/openapi.json', '"openapi"'],
          ['/style.css', '{'],
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
        child.kill('SIGTERM');
        await child.exited;
        await node.stop();
      }
    });
  }

  test('has all commands, and explains that the sandbox is missing', () => {
    expect(run('--version')).toMatchObject({ code: 0 });
    expect(run('--help').text).toContain('delegations <command>');
    expect(run('sandbox')).toEqual({ code: 2, text: expect.stringContaining('npm run sandbox') });
  });
});
