// Tests that the README is short, that every file that README and docs name exists, and that examples with a body are true.

import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { scripts } from '../package.json' with { type: 'json' };
import { EXAMPLE_BLOCK, EXAMPLE_DELEGATIONS } from '../src/api/examples.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { block, timeOf } from './support/fixtures.ts';
import { LAYERS } from './support/imports.ts';
import { appOf } from './support/serving.ts';

const ROOT = join(import.meta.dir, '..');
const PAGES = ['README.md', 'CONTRIBUTING.md', 'AGENTS.md', ...new Glob('docs/*.md').scanSync(ROOT)].sort();
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

test('AGENTS.md names commands that exist and the layers in their order', () => {
  const page = read('AGENTS.md');
  const named = [...page.matchAll(/`npm run ([\w:]+)`/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const [chain = ''] = /`src\/registry\/` →[^.]+/.exec(page) ?? [];
  expect([...chain.matchAll(/`src\/(\w+)\/`/g)].map(([, name = '']) => name)).toEqual([...LAYERS]);
});

describe('the examples of docs/integrating.md', () => {
  /** A curl command with a body, and the JSON block that follows it. */
  const EXAMPLE = /```sh\ncurl '([^']+)'(?: -H '([^:]+): ([^']+)')? -d '([^']+)'\n```\n\n```json\n([^`]+)```/g;
  const found = [...read('docs/integrating.md').matchAll(EXAMPLE)].map(([, ...parts]) => parts as Texts);
  type Texts = [url: string, header: string, value: string, body: string, answer: string];

  test('are there', () => expect(found.length).toBeGreaterThan(0));

  for (const [url, header, value, body, answer] of found) {
    const target = url.replace('http://localhost:8080', '');
    test(`${target} gives the answer that is shown`, async () => {
      const store = await openStore(`sqlite:${temporaryPath('integrating.db')}`);
      const { epoch } = await store.claim(1, 100);
      const events = EXAMPLE_DELEGATIONS.map((delegation) => ({ type: 'granted', delegation }) as const);
      const head = block(EXAMPLE_BLOCK.number, events);
      await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head, verified: head.number });
      const init = { method: 'POST', body, headers: { [header]: value } };
      const response = await appOf(store, timeOf(100)).fetch(new Request(`http://localhost${target}`, init));
      expect(await response.json()).toEqual(JSON.parse(answer));
      await store.close();
    });
  }
});

test('the README has at most 1,000 words', () => {
  expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(1000);
});
