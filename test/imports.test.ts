// The folders of src are layers.

import { describe, expect, test } from 'bun:test';
import { folderArrows, folderOf, importsOfSrc, LAYERS, WEB_MAY_IMPORT } from './support/imports.ts';

const IMPORTS = importsOfSrc();

describe('imports in src', () => {
  test('every file is in a folder that has a layer', () => {
    const folders = new Set(IMPORTS.flatMap(({ from, to }) => [folderOf(from), folderOf(to)]));
    expect([...folders].sort()).toEqual([...LAYERS].sort());
  });

  test('go from a layer to one before it, or stay in it', () => {
    const layer = (path: string) => LAYERS.indexOf(folderOf(path) as (typeof LAYERS)[number]);
    expect(IMPORTS.filter(({ from, to }) => layer(to) > layer(from))).toEqual([]);
  });

  test('of a page are the interface and the rules it stands on', () => {
    const isWeb = ({ from }: { from: string }) => folderOf(from) === 'web';
    const allowed = new Set([...WEB_MAY_IMPORT, 'web']);
    expect(IMPORTS.filter((one) => isWeb(one) && !allowed.has(folderOf(one.to)))).toEqual([]);
  });
});

test('docs/architecture.md has every arrow between folders, and no other', async () => {
  const text = await Bun.file(`${import.meta.dir}/../docs/architecture.md`).text();
  const drawn = [...text.matchAll(/^ +(\w+ --> \w+)$/gm)].map(([, arrow]) => arrow as string);
  expect(drawn).toEqual(folderArrows(IMPORTS));
});
