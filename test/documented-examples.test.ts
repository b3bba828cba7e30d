// Every example of the documentation gives the answer that it shows, on the sandbox that readers have: those of the OpenAPI
// document (and so of /docs and /docs.md), of README.md and of docs/*.md. What a chain makes up as it runs is not compared: block
// numbers, hashes and times, transaction hashes, the index of a log, and cursors. "…" in an answer stands for anything.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { EXAMPLES } from '../src/api/examples.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';
import { runCommand } from './support/serve-process.ts';

const ROOT = join(import.meta.dir, '..');
const PAGES = ['README.md', ...new Glob('docs/*.md').scanSync(ROOT)].sort().map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}));

interface Request {
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

let sandbox: QuietSandbox;
beforeAll(async () => {
  // So that each example comes from a caller of its own, with a rate limit of its own.
  sandbox = await startQuietSandbox({ TRUSTED_PROXIES: '127.0.0.0/8' });
});
afterAll(() => sandbox.stop());

let run = 0;

/** Sends a request as a caller that has sent none before, and again as often as it is told. */
async function ask({ path, headers = {}, body }: Request, times = 1): Promise<string> {
  const caller = `192.0.2.${++run}`;
  const send = () =>
    fetch(sandbox.url + path, {
      headers: { 'x-forwarded-for': caller, ...headers },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
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
      const sent = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const found = await ask({ path: request, ...(body === undefined ? {} : sent) });
      expect(comparable(JSON.parse(found))).toBe(comparable(answer));
    });
  }
});

const URL_START = /^http:\/\/(localhost|127\.0\.0\.1):8080/;
const HEADER = /-H '([^:]+): ([^']+)'/;

/** What a curl command sends. */
function requestOf(command: string): Request {
  const [, url = ''] = / '(http:[^']+)'/.exec(command) ?? [];
  const [, header, value = ''] = HEADER.exec(command) ?? [];
  const [, body] = / -d '([^']+)'/.exec(command) ?? [];
  return {
    path: url.replace(URL_START, ''),
    ...(header === undefined ? {} : { headers: { [header]: value } }),
    ...(body === undefined ? {} : { body }),
  };
}

const RATE_LIMIT = 25;
const notRun: string[] = [];

describe.each(PAGES)('$path', ({ text }) => {
  for (const [, command = '', answer = ''] of text.matchAll(/```sh\n(curl [^`]+)```\n\n```json\n([^`]+)```/g)) {
    const shown = JSON.parse(answer) as { type?: unknown };
    const request = requestOf(command);
    if (shown.type === '/docs#problem-chain-stale') {
      notRun.push(`${request.path}: a sandbox is never behind its chain`);
      continue;
    }
    test(request.path, async () => {
      const found = await ask(request, shown.type === '/docs#problem-too-many-requests' ? RATE_LIMIT + 1 : 1);
      expect(comparable(elide(JSON.parse(found), shown))).toBe(comparable(shown));
    });
  }

  for (const [, url = '', answer = ''] of text.matchAll(/^curl '(http:[^']+)'\n(?!```)(.+)$/gm)) {
    test(url.replace(URL_START, ''), async () => {
      const parts = answer.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
      expect(await ask({ path: url.replace(URL_START, '') })).toMatch(new RegExp(`^${parts.join('.*')}$`));
    });
  }

  for (const [, args = '', output = ''] of text.matchAll(/^\.\/delegations (.+:8080.+)\n([^`]+)```/gm)) {
    test(`./delegations ${args}`, async () => {
      run++;
      const words = args.split(' ').map((word) => word.replace(URL_START, sandbox.url));
      const { stdout } = await runCommand(words);
      const withoutBlocks = (printed: string) => printed.replaceAll(/block \d+, \S+Z/g, 'any block');
      expect(withoutBlocks(stdout)).toBe(withoutBlocks(output));
    });
  }
});

test('all were run but for one, which shows a problem that a sandbox does not have', () => {
  console.log(`documented examples: ${run} run on the sandbox, ${notRun.length} not run`);
  for (const one of notRun) console.log(`not run: ${one}`);
  expect(notRun).toHaveLength(1);
  expect(run).toBeGreaterThanOrEqual(EXAMPLES.length + 15);
});
