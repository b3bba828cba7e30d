// Tests that the folders of src are layers: a folder imports only from the layers before it.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { folderArrows, folderOf, importsOfSrc, LAYERS, WEB_MAY_IMPORT } from './support/imports.ts';

const IMPORTS = importsOfSrc();

describe('imports in src', () => {
  test('every file is in a folder that has a layer', () => {
    const folders = new Set(IMPORTS.flatMap(({ from, to }) => [folderOf(from), folderOf(to)]));
    expect([...folders].sort()).toEqual([...LAYERS].sort());
  });

  test('point to an earlier layer or stay in their own', () => {
    const layer = (path: string) => LAYERS.indexOf(folderOf(path) as (typeof LAYERS)[number]);
    expect(IMPORTS.filter(({ from, to }) => layer(to) > layer(from))).toEqual([]);
  });

  test('of a web page are limited to api and registry', () => {
    const isWeb = ({ from }: { from: string }) => folderOf(from) === 'web';
    const allowed = new Set([...WEB_MAY_IMPORT, 'web']);
    expect(IMPORTS.filter((one) => isWeb(one) && !allowed.has(folderOf(one.to)))).toEqual([]);
  });

  test('have no cycle between files', () => {
    const importsOf = Map.groupBy(IMPORTS, ({ from }) => from);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (path.includes(file) || done.has(file)) return;
      for (const { to } of importsOf.get(file) ?? []) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of importsOf.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test('of viem are loaded only at sign-in: viem takes longer to load than the rest of a command', async () => {
    const src = join(import.meta.dir, '../src');
    const files = [...new Glob('**/*.ts').scanSync(src)].filter((path) => !path.endsWith('.test.ts'));
    const texts = files.map((path) => ({ path, text: readFileSync(join(src, path), 'utf8') }));
    const loading = texts.filter(({ text }) => /^import (?!type )[^;]*'viem/m.test(text));
    expect(loading.map(({ path }) => path)).toEqual([]);
  });
});

test('docs/architecture.md has exactly the arrows between folders', async () => {
  const text = await Bun.file(`${import.meta.dir}/../docs/architecture.md`).text();
  const drawn = [...text.matchAll(/^ +(\w+ --> \w+)$/gm)].map(([, arrow]) => arrow as string);
  expect(drawn).toEqual(folderArrows(IMPORTS));
});
