// Tests the documents for programs: /llms.txt, /docs.md and /openapi.yaml have what the page and the OpenAPI document have.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createConfig, lintFromString, parseYaml } from '@redocly/openapi-core';
import { EXAMPLES } from '../src/api/examples.ts';
import { describeParam, openApi } from '../src/api/openapi.ts';
import type { OperationBase } from '../src/api/operation.ts';
import { OPERATIONS } from '../src/api/operations.ts';
import { PROBLEMS } from '../src/api/problems.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { timeOf } from './support/fixtures.ts';
import { appOf } from './support/serving.ts';

const ALL: readonly OperationBase[] = OPERATIONS;

let store: Store;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('documents.db')}`);
});
afterAll(() => store.close());

const send = (path: string, init: RequestInit = {}) =>
  appOf(store, timeOf(100)).fetch(new Request(`http://localhost${path}`, init));
const textOf = async (path: string) => (await send(path)).text();

describe.each([
  ['/llms.txt', 'text/plain; charset=utf-8', 'public, max-age=300'],
  ['/docs.md', 'text/markdown; charset=utf-8', 'public, max-age=300'],
  ['/openapi.yaml', 'application/yaml', 'no-cache'],
])('%s', (path, type, cache) => {
  test('is text that any site may read, and that caches keep like the page or the document beside it', async () => {
    const response = await send(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('cache-control')).toBe(cache);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect((await send(path, { method: 'POST' })).status).toBe(405);
    expect((await send(path, { method: 'OPTIONS' })).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});

test('/llms.txt is short, and names every operation on one line and every document', async () => {
  const text = await textOf('/llms.txt');
  expect(text.length).toBeLessThan(5000);
  expect(text).toStartWith('# Delegations\n\n> ');
  const lines = text.split('\n');
  for (const { method, path, summary } of ALL) expect(lines).toContain(`- \`${method} ${path}\`: ${summary}`);
  const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, path = '']) => path);
  expect(links).toEqual(['/docs.md', '/openapi.json', '/openapi.yaml', '/networks']);
  for (const path of links) expect((await send(path)).status).toBe(200);
});

describe('/docs.md', () => {
  test('has every operation with its parameters and examples', async () => {
    const text = await textOf('/docs.md');
    for (const operation of ALL.filter(({ tag }) => tag !== 'status')) {
      const start = text.indexOf(`\n\`${operation.method} ${operation.path}\`\n`);
      expect(start).toBeGreaterThan(0);
      const next = text.indexOf('\n### ', start);
      const section = text.slice(start, next < 0 ? undefined : next);
      expect(section).toContain(operation.description);
      for (const [name, use] of Object.entries(operation.params)) {
        const row = section.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
        expect(row).toContain(`| ${use.required ? 'yes' : 'no'} |`);
        expect(row?.replaceAll('\\|', '|')).toContain(describeParam(operation, use));
      }
      for (const { request, answer } of EXAMPLES.filter((one) => one.operation === operation.id)) {
        expect(section).toContain(`curl 'http://localhost${request}'`);
        expect(section).toContain(JSON.stringify(answer, null, 2));
      }
    }
  });

  test('has every problem', async () => {
    const text = await textOf('/docs.md');
    for (const [type, { status, title, help }] of Object.entries(PROBLEMS))
      expect(text).toContain(`| ${status} \`${type}\` | ${title}. ${help} |`);
  });

  test('has as many cells in each row as its table has columns, and no HTML outside of code', async () => {
    const text = (await textOf('/docs.md')).replaceAll(/```[\s\S]+?```/g, '').replaceAll(/`[^`]*`/g, 'code');
    expect(text).not.toMatch(/<|&(lt|gt|amp|quot);/);
    for (const table of text.split('\n\n').filter((part) => part.startsWith('|'))) {
      const counts = table
        .trim()
        .split('\n')
        .map((line) => line.replaceAll('\\|', '').split('|').length);
      expect(new Set(counts).size).toBe(1);
    }
  });
});

describe('/docs', () => {
  const MARKDOWN = 'text/markdown; charset=utf-8';
  const PAGE = 'text/html; charset=utf-8';
  test.each([
    ['text/markdown', MARKDOWN],
    ['Text/Markdown; charset=utf-8', MARKDOWN],
    ['text/markdown, text/html, */*', MARKDOWN],
    ['text/html;q=0.5, text/markdown', MARKDOWN],
    ['text/html, text/markdown;q=0.9', PAGE],
    ['text/markdown;q=0', PAGE],
    ['text/markdown;q=x', PAGE],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', PAGE],
    ['*/*', PAGE],
    ['', PAGE],
  ])('Accept: %s', async (accept, type) => {
    const response = await send('/docs', { headers: { accept } });
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('vary')).toBe('Accept-Encoding, Accept');
    if (type === MARKDOWN) expect(await response.text()).toBe(await textOf('/docs.md'));
  });
});

describe('/openapi.yaml', () => {
  test('is the same document as /openapi.json for another parser', async () => {
    expect(parseYaml(await textOf('/openapi.yaml'))).toEqual(JSON.parse(await textOf('/openapi.json')));
    expect(JSON.parse(await textOf('/openapi.json'))).toEqual(openApi());
  });

  test('has no fault that a linter finds', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const source = await textOf('/openapi.yaml');
    const found = await lintFromString({ source, absoluteRef: `${import.meta.dir}/openapi.yaml`, config });
    expect(found.map(({ ruleId, message }) => [ruleId, message])).toEqual([]);
  });
});

describe.each(['/docs', '/docs.md', '/llms.txt'])('the commands of %s', (path) => {
  const textAt = async (url: string, more = {}) => {
    const response = await appOf(store, timeOf(100), more).fetch(new Request(url + path));
    return response.text();
  };
  const originsOf = (text: string) => new Set(text.match(/https?:\/\/[\w.:-]+(?=\/registry\/)/g));

  test.each(['http://localhost:8080', 'http://delegations.example', 'https://[::1]:8443'])(
    'name the origin that the reader uses: %s',
    async (url) => {
      const text = await textAt(url);
      expect(text).toContain(`${url}/registry/any/check/contract?`);
      expect(text).not.toContain('origin.invalid');
      if (!url.includes('[')) expect(originsOf(text)).toEqual(new Set([url]));
    },
  );

  test('name the public URL, if the operator has set one', async () => {
    const publicUrl = 'https://public.example';
    expect(originsOf(await textAt('http://10.0.0.7:8080', { publicUrl }))).toEqual(new Set([publicUrl]));
  });

  test('do not repeat a host that would end a quote', async () => {
    const text = await textAt("http://a'$(id)'b");
    expect(text).not.toContain('$(id)');
    expect(text).toContain('/registry/any/check/contract?');
  });
});
