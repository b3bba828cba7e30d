// Reads the imports between the files of src from their text.

import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Glob } from 'bun';

const ROOT = join(import.meta.dir, '../..');

/** From the bottom up: a folder imports only from itself and the folders before it. So do the folders inside these. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  src: [
    'registry',
    'proof',
    'api',
    'store',
    'chain',
    'accounts',
    'feed',
    'webhooks',
    'web',
    'mcp',
    'http',
    'service',
    'sandbox',
    'cli',
  ],
  'src/chain': ['rpc', 'prove', 'compare', 'revocations', 'audit', 'tokens', 'names', 'follow'],
  'src/http': ['wire', 'limits', 'developers', 'context', 'answers', 'server'],
};

/** Web pages know the interface and the data that they are given, not its source. */
export const WEB_MAY_IMPORT = ['registry', 'api'];

export interface Import {
  readonly from: string;
  readonly to: string;
}

const RELATIVE = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

/** Every import between two files of ours, without tests. */
export function allImports(): Import[] {
  const folders = ['src', 'bench', 'chaos', 'deploy', 'test/support'];
  return folders
    .flatMap((folder) => [...new Glob(`${folder}/**/*.ts`).scanSync(ROOT)])
    .filter((path) => !path.endsWith('.test.ts'))
    .sort()
    .flatMap((from) =>
      [...readFileSync(join(ROOT, from), 'utf8').matchAll(RELATIVE)]
        .map(([, path = '']) => normalize(join(dirname(from), path)))
        .filter((to) => to.endsWith('.ts'))
        .map((to) => ({ from, to })),
    );
}

/** The imports between two files in a folder, by the folder in it that each of them is in. */
export const importsWithin = (folder: string, imports: readonly Import[]) =>
  imports
    .filter(({ from, to }) => from.startsWith(`${folder}/`) && to.startsWith(`${folder}/`))
    .map((one) => ({ ...one, fromFolder: folderIn(folder, one.from), toFolder: folderIn(folder, one.to) }));

const folderIn = (folder: string, path: string) => path.slice(folder.length + 1).split('/')[0] ?? '';

/** The arrows between the folders in a folder, without duplicates, in the order of the layers. */
export function folderArrows(folder: string, imports: readonly Import[]): string[] {
  const arrows = importsWithin(folder, imports).filter(({ fromFolder, toFolder }) => fromFolder !== toFolder);
  const place = (name: string) => LAYERS[folder]?.indexOf(name) ?? 0;
  const sorted = arrows.toSorted(
    (a, b) => place(a.fromFolder) - place(b.fromFolder) || place(a.toFolder) - place(b.toFolder),
  );
  return [...new Set(sorted.map(({ fromFolder, toFolder }) => `${fromFolder} --> ${toFolder}`))];
}
