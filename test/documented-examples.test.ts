// The examples with an answer as JSON, of the OpenAPI document (and so of /docs and /docs.md) and of the pages, give that answer
// on the sandbox that readers have. What a chain makes up as it runs is not compared: block numbers, hashes and times,
// transaction hashes, the index of a log, and cursors. "…" in an answer stands for anything.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { EXAMPLES } from '../src/api/examples.ts';
import { type CurlExample, curlExamples, PAGES } from './support/code-blocks.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';

let sandbox: QuietSandbox;
beforeAll(async () => {
  // So that each example comes from a caller of its own, with a rate limit of its own.
  sandbox = await startQuietSandbox({ TRUSTED_PROXIES: '127.0.0.0/8' });
});
afterAll(() => sandbox.stop());

let run = 0;

const pathOf = (url: string) => url.slice(new URL(url).origin.length);

/** Sends a request as a caller that has sent none before, `times` times. */
async function ask(path: string, init: Partial<CurlExample['init']> = {}, times = 1): Promise<string> {
  const headers = { 'X-Forwarded-For': `192.0.2.${++run}`, ...init.headers };
  const send = () => fetch(sandbox.url + path, { ...init, headers });
  for (let left = times; left > 1; left--) await send();
  return (await send()).text();
}

const OWN_TO_A_CHAIN = new Set(['number', 'hash', 'block', 'timestamp', 'transactionHash', 'logIndex', 'cursor']);

/** The JSON text of an answer, with every field in its order, but without what is a chain's own. */
const comparable = (answer: unknown): string =>
  JSON.stringify(
    answer,
    (name, value) => (OWN_TO_A_CHAIN.has(name) && typeof value !== 'object' ? `any ${typeof value}` : value),
    2,
  );

/** What was found, with "…" where the documentation has it. A list with nothing but "…" stands for any list. */
function elide(found: unknown, shown: unknown): unknown {
  if (shown === '…') return '…';
  if (Array.isArray(found) && Array.isArray(shown))
    return shown.length === 1 && shown[0] === '…' ? shown : found.map((one, at) => elide(one, shown[at]));
  if (typeof found !== 'object' || found === null || typeof shown !== 'object' || shown === null) return found;
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, elide(value, (shown as Record<string, unknown>)[name])]),
  );
}

describe('OpenAPI', () => {
  for (const { request, body, summary, answer } of EXAMPLES) {
    test(`${request.split('?')[0]}: ${summary}`, async () => {
      const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const found = await ask(request, body === undefined ? {} : sent);
      expect(comparable(JSON.parse(found))).toBe(comparable(answer));
    });
  }
});

const RATE_LIMIT = 25;
const notRun: string[] = [];

describe.each(PAGES)('%s', (page) => {
  for (const { url, init, answer } of curlExamples(page)) {
    const shown = JSON.parse(answer.text) as { type?: unknown };
    const isTooMany = shown.type === '/docs#problem-too-many-requests';
    if (shown.type === '/docs#problem-chain-stale') {
      notRun.push(`${pathOf(url)}: a sandbox is never behind its chain`);
      continue;
    }
    test(pathOf(url), async () => {
      const found = await ask(pathOf(url), init, isTooMany ? RATE_LIMIT + 1 : 1);
      expect(comparable(elide(JSON.parse(found), shown))).toBe(comparable(shown));
    });
  }
});

test('all were run but for one, which shows a problem that a sandbox does not have', () => {
  console.log(`documented examples: ${run} run on the sandbox, ${notRun.length} not run`);
  for (const one of notRun) console.log(`not run: ${one}`);
  expect(notRun).toHaveLength(1);
  expect(run).toBeGreaterThanOrEqual(EXAMPLES.length + 10);
});
