// Reads the imports between the files of src from their text.

import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Glob } from 'bun';

const ROOT = join(import.meta.dir, '../..');

/** From the bottom up: a folder imports only from itself and the folders before it. */
export const LAYERS = [
  'registry',
  'api',
  'store',
  'chain',
  'accounts',
  'webhooks',
  'web',
  'mcp',
  'http',
  'service',
  'sandbox',
  'cli',
] as const;

/** Web pages know the interface and the data that they are given, not its source. */
export const WEB_MAY_IMPORT = ['registry', 'api'];

export interface Import {
  readonly from: string;
  readonly to: string;
}

const RELATIVE = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

/** Every import between two files of src, without tests. Paths are relative to src. */
export function importsOfSrc(): Import[] {
  const src = join(ROOT, 'src');
  const files = [...new Glob('**/*.ts').scanSync(src)].filter((path) => !path.endsWith('.test.ts')).sort();
  return files.flatMap((from) => {
    const text = readFileSync(join(src, from), 'utf8');
    return [...text.matchAll(RELATIVE)]
      .map(([, path = '']) => normalize(join(dirname(from), path)))
      .filter((to) => !to.startsWith('..') && to.endsWith('.ts'))
      .map((to) => ({ from, to }));
  });
}

export const folderOf = (path: string): string => path.split('/')[0] ?? '';

/** The imports between folders, without duplicates, in the order of the layers. */
export function folderArrows(imports: readonly Import[]): string[] {
  const found = new Set(
    imports
      .map(({ from, to }) => [folderOf(from), folderOf(to)] as const)
      .filter(([from, to]) => from !== to)
      .map(([from, to]) => `${from} --> ${to}`),
  );
  const place = (arrow: string) => {
    const [from = '', to = ''] = arrow.split(' --> ');
    return LAYERS.indexOf(from as never) * 100 + LAYERS.indexOf(to as never);
  };
  return [...found].sort((a, b) => place(a) - place(b));
}
