// Tests that each request in docs/migrating.md is answered with the body that follows it.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EXAMPLE_DELEGATIONS } from '../src/api/examples.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { codeBlock, curlExamples } from './support/code-blocks.ts';
import { temporaryPath } from './support/engines.ts';
import { block } from './support/fixtures.ts';
import { admissionOf, appOf } from './support/serving.ts';

const PAGE = 'docs/migrating.md';
const EXAMPLES = curlExamples(PAGE).map(({ url, init, answer }) => ({
  url,
  init,
  problem: JSON.parse(answer.text) as { type: string; status: number },
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

const admission = () => admissionOf(25);

test('the page has every problem that migrants see most', () => {
  expect(EXAMPLES.map(({ problem }) => problem.type.replace('/docs#problem-', ''))).toEqual([
    ...['bad-request', 'bad-request', 'bad-request', 'unknown-chain'],
    ...['bad-key', 'too-many-requests', 'chain-stale'],
  ]);
});

const answering = (age: number) => appOf(store, HEAD.timestamp + age, { maxLag: () => 120, admission: admission() });

for (const { url, init, problem } of EXAMPLES) {
  test(`${problem.type}: ${url}`, async () => {
    const app = answering(problem.type.endsWith('chain-stale') ? 300 : 5);
    const ask = () => app.fetch(new Request(url, init), () => '192.0.2.1');
    for (let sent = 0; problem.status === 429 && sent < 25; sent++) await ask();
    const response = await ask();
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect((await response.json()) as object).toEqual(problem);
    expect(response.headers.has('retry-after')).toBe(problem.status === 429 || problem.status === 503);
  });
}

test('the code of the page answers yes and no, and throws what is unknown', async () => {
  const { text } = codeBlock(PAGE, 'function mayAct');
  const mayActAfter = (age: number) => {
    const app = answering(age);
    const ask = (url: string, init: RequestInit) => app.fetch(new Request(url, init), () => '192.0.2.1');
    return new Function('fetch', 'BASE_URL', 'KEY', `${text}; return mayAct;`)(ask, 'http://localhost', '');
  };
  const wanted = EXAMPLE_DELEGATIONS.find(({ kind, version }) => kind === 'CONTRACT' && version === 2);
  if (wanted === undefined) throw new Error('no example of a contract');
  const { to, from, contract } = wanted;
  expect(await mayActAfter(5)(to, from, contract)).toBe(true);
  expect(await mayActAfter(5)(from, to, contract)).toBe(false);
  await expect(mayActAfter(300)(to, from, contract)).rejects.toThrow('Chain stale: Chain 1 is stale');
  await expect(mayActAfter(5)('0x12', from, contract)).rejects.toThrow('Invalid request: to must be an address');
});
