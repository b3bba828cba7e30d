// Tests that the folders of src are layers: a folder imports only from the layers before it.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { allImports, folderArrows, importsWithin, LAYERS, WEB_MAY_IMPORT } from './support/imports.ts';

const IMPORTS = allImports();

describe.each(Object.entries(LAYERS))('imports in %s', (folder, layers) => {
  const inside = importsWithin(folder, IMPORTS);

  test('are between folders that have a layer', () => {
    const folders = new Set(inside.flatMap(({ fromFolder, toFolder }) => [fromFolder, toFolder]));
    expect([...folders].sort()).toEqual([...layers].sort());
  });

  test('point to an earlier layer or stay in their own', () => {
    const isBack = (from: string, to: string) => layers.indexOf(to) > layers.indexOf(from);
    expect(inside.filter(({ fromFolder, toFolder }) => isBack(fromFolder, toFolder))).toEqual([]);
  });
});

describe('imports', () => {
  test('of a web page are limited to api and registry', () => {
    const allowed = new Set([...WEB_MAY_IMPORT, 'web']);
    const ofWeb = importsWithin('src', IMPORTS).filter(({ fromFolder }) => fromFolder === 'web');
    expect(ofWeb.filter(({ toFolder }) => !allowed.has(toFolder))).toEqual([]);
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

test('docs/architecture.md has exactly the arrows between folders, and between those in them', async () => {
  const text = await Bun.file(`${import.meta.dir}/../docs/architecture.md`).text();
  const drawn = [...text.matchAll(/^ +(\w+ --> \w+)$/gm)].map(([, arrow]) => arrow as string);
  expect(drawn).toEqual(Object.keys(LAYERS).flatMap((folder) => folderArrows(folder, IMPORTS)));
});
