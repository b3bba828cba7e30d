// Compiles types.ts against the packed client, as a project that uses it does.

import { beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkPackages, packClient } from '../../test/support/packed-client.ts';

const SOURCE = readFileSync(join(import.meta.dir, 'types.ts'), 'utf8');
const DIRECTIVE = /^ *\/\/ @ts-expect-error (\d+): .+$/gm;
const UNUSED_DIRECTIVE = 2578;

let project: string;
beforeAll(() => {
  ({ project } = packClient());
  linkPackages(project, 'viem', 'react', '@types/react', '@tanstack/react-query');
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, files: ['types.ts'] }));
});

const OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
  // The declarations of the client are checked; those of viem need newer libraries.
  skipLibCheck: true,
};

/** The line and the code of each error. */
function errorsOf(source: string): (readonly [line: number, code: number])[] {
  writeFileSync(join(project, 'types.ts'), source);
  const compiler = join(import.meta.dir, '../../node_modules/.bin/tsgo');
  const { stdout } = Bun.spawnSync([compiler, '--project', '.', '--pretty', 'false'], { cwd: project });
  return [...stdout.toString().matchAll(/^types\.ts\((\d+),\d+\): error TS(\d+)/gm)].map(
    ([, line, code]) => [Number(line), Number(code)] as const,
  );
}

const lineOf = (index: number) => SOURCE.slice(0, index).split('\n').length;

test('correct use compiles, and each line that must not compile does not: one that does is noticed', () => {
  const isRight = '  const yes: boolean = await client.check.all(wallets);\n';
  const wrong = SOURCE.replace(isRight, `  // @ts-expect-error 2322: wrong\n${isRight}`);
  expect(errorsOf(wrong)).toEqual([[lineOf(SOURCE.indexOf(isRight)), UNUSED_DIRECTIVE]]);
});

test('these lines fail for the reason that they state', () => {
  const stated = [...SOURCE.matchAll(DIRECTIVE)].map(
    ({ index, 1: code }) => [lineOf(index) + 1, Number(code)] as const,
  );
  expect(stated.length).toBeGreaterThan(0);
  expect(errorsOf(SOURCE.replaceAll(DIRECTIVE, '//'))).toEqual(stated);
});
