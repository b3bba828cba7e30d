// Tests that the README is short, and that every file and section that the documentation names exists.

import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scripts } from '../package.json' with { type: 'json' };
import { PAGES } from './support/code-blocks.ts';
import { LAYERS } from './support/imports.ts';

const ROOT = join(import.meta.dir, '..');
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

describe.each(PAGES)('%s', (page) => {
  test('links to files that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, path]) => path as string);
    expect(links.filter((path) => !existsSync(join(ROOT, dirname(page), path)))).toEqual([]);
  });

  test('links to sections that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const isBroken = ([, path = '', section = '']: RegExpExecArray) => {
      const text = read(path === '' ? page : join(dirname(page), path));
      const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
      return !titles.some(
        (title) =>
          title
            .toLowerCase()
            .replace(/[^\w -]/g, '')
            .replaceAll(' ', '-') === section,
      );
    };
    expect(links.filter(isBroken).map(([link]) => link)).toEqual([]);
  });

  test('names files of the repository that exist', () => {
    const paths = [...read(page).matchAll(/`((?:src|test|bench|chaos|contracts|deploy|docs)\/[\w./-]*)`/g)];
    expect(paths.map(([, path]) => path as string).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

test('AGENTS.md names commands that exist and the layers in their order', () => {
  const page = read('AGENTS.md');
  const named = [...page.matchAll(/`npm run ([\w:]+)`/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const [chain = ''] = /`src\/registry\/` →[^.]+/.exec(page) ?? [];
  expect([...chain.matchAll(/`src\/(\w+)\/`/g)].map(([, name = '']) => name)).toEqual([...(LAYERS['src'] ?? [])]);
});

test('the README has at most 1,000 words', () => {
  expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(1000);
});
