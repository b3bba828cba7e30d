// Tests that each request in docs/migrating.md is answered with the body that follows it.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLE_DELEGATIONS } from '../src/api/examples.ts';
import { createAdmission } from '../src/http/admission.ts';
import { createLimiter } from '../src/http/limiter.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { block } from './support/fixtures.ts';
import { appOf } from './support/serving.ts';

const PAGE = readFileSync(join(import.meta.dir, '../docs/migrating.md'), 'utf8');
const EXAMPLES = [
  ...PAGE.matchAll(
    /```sh\ncurl (?:-H '([\w-]+): (.*)' )?'http:\/\/localhost:8080(.+)'\n```\n\n```json\n([\s\S]+?)```/g,
  ),
].map(([, header, value = '', path = '', body = '']) => ({
  path,
  headers: header === undefined ? {} : { [header]: value },
  problem: JSON.parse(body) as { type: string; status: number },
}));
const HEAD = { number: 24_000_000, timestamp: 1_767_225_600 };

let store: Store;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('migrating.db')}`);
  const events = EXAMPLE_DELEGATIONS.map((delegation) => ({ type: 'granted', delegation }) as const);
  const head = { ...block(HEAD.number, events), timestamp: HEAD.timestamp };
  const { epoch } = await store.claim(1, HEAD.number);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
});
afterAll(() => store.close());

const admission = () =>
  createAdmission({
    anonymous: createLimiter({ most: 25, seconds: 10 }),
    pages: createLimiter({ most: 25, seconds: 10 }),
    lookups: createLimiter({ most: 25, seconds: 10 }),
    limiterOfKey: () => null,
    keys: { known: () => false, isFamiliar: () => true, lookUp: async () => false },
    proxies: { check: () => false } as never,
  });

test('the page has every problem that migrants see most', () => {
  expect(EXAMPLES.map(({ problem }) => problem.type.replace('/docs#problem-', ''))).toEqual([
    ...['bad-request', 'bad-request', 'bad-request', 'unknown-chain'],
    ...['bad-key', 'too-many-requests', 'chain-stale'],
  ]);
});

for (const { path, headers, problem } of EXAMPLES) {
  test(`${problem.type}: ${path}`, async () => {
    const age = problem.type.endsWith('chain-stale') ? 300 : 5;
    const app = appOf(store, HEAD.timestamp + age, {
      maxLag: () => 120,
      admission: admission(),
    });
    const ask = () => app.fetch(new Request(`http://localhost${path}`, { headers }), () => '192.0.2.1');
    for (let sent = 0; problem.status === 429 && sent < 25; sent++) await ask();
    const response = await ask();
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect((await response.json()) as object).toEqual(problem);
    expect(response.headers.has('retry-after')).toBe(problem.status === 429 || problem.status === 503);
  });
}
