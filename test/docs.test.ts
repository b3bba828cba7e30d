// Tests that the README is short, and that every file that README and docs name exists.

import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';

const ROOT = join(import.meta.dir, '..');
const PAGES = ['README.md', 'CONTRIBUTING.md', ...new Glob('docs/*.md').scanSync(ROOT)].sort();
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

describe.each(PAGES)('%s', (page) => {
  test('links to files that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, path]) => path as string);
    expect(links.filter((path) => !existsSync(join(ROOT, dirname(page), path)))).toEqual([]);
  });

  test('names files of the repository that exist', () => {
    const paths = [...read(page).matchAll(/`((?:src|test|bench|chaos|contracts|deploy|docs)\/[\w./-]*)`/g)];
    expect(paths.map(([, path]) => path as string).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

test('the README has at most 1,000 words', () => {
  expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(1000);
});
