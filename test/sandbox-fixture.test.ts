// Runs the code of "In your tests" in docs/integrating.md as another project does: with Node's and Bun's test runners, and as a
// shell script. The project has the packed client, viem, and this program on its path.

import { beforeAll, expect, test } from 'bun:test';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packClient } from './support/packed-client.ts';
import { runProgram } from './support/serve-process.ts';

const ROOT = join(import.meta.dir, '..');
const [, SECTION = ''] =
  /^## In your tests\n([\s\S]+?)^## /m.exec(readFileSync(join(ROOT, 'docs/integrating.md'), 'utf8')) ?? [];
const blocksOf = (language: string) =>
  [...SECTION.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]+?)^\`\`\``, 'gm'))].map(([, code = '']) => code);

let folder: string;
beforeAll(() => {
  const [scenario = '', ...otherJson] = blocksOf('json');
  const [fixture = '', tests = '', ...otherCode] = blocksOf('js');
  const [script = '', ...otherScripts] = blocksOf('sh');
  expect([...otherJson, ...otherCode, ...otherScripts]).toEqual([]);
  folder = packClient().project;
  symlinkSync(join(ROOT, 'node_modules/viem'), join(folder, 'node_modules/viem'));
  for (const [name, text] of [
    ['package.json', '{"type":"module"}'],
    ['scenario.json', scenario],
    ['sandbox.js', fixture],
    ['delegations.test.js', tests],
    ['ci.sh', script],
  ] as const)
    writeFileSync(join(folder, name), text);
});

/** The path has the program first, as in an npm script of a project that has installed it. */
const run = (...command: string[]) =>
  runProgram(command, { folder, environment: { PATH: `${ROOT}:${process.env['PATH']}` } });

test('with the test runner of Node', async () => {
  const { code, stdout, stderr } = await run('node', '--test', 'delegations.test.js');
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^. pass 1$/m)]);
});

test('with the test runner of Bun', async () => {
  const { code, stderr } = await run(process.execPath, 'test', '--timeout', '60000', 'delegations.test.js');
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^ 1 pass$/m)]);
});

test('as a shell script, which leaves nothing behind', async () => {
  const { code, stdout, stderr } = await run('sh', 'ci.sh');
  expect([stdout, stderr, code]).toEqual(['true', '', 0]);
  const { url } = JSON.parse(readFileSync(join(folder, 'sandbox.json'), 'utf8')) as { url: string };
  expect(await fetch(url).catch(() => 'nobody is there')).toBe('nobody is there');
});
