import { describe, expect, test } from 'bun:test';
import { createClient } from '../src/client.ts';
import { TooManyQuestions, Unreachable } from '../src/errors.ts';
import { delegationActions } from '../src/viem.ts';

const WALLETS = { from: `0x${'1'.repeat(40)}`, to: `0x${'2'.repeat(40)}` } as const;

describe('a client', () => {
  test('without a usable URL is refused when it is created, with a sentence', () => {
    for (const [url, got] of [
      [undefined, 'undefined'],
      ['', ''],
      ['localhost:8080', '"localhost:8080"'],
      ['ftp://example.com', '"ftp://example.com"'],
    ] as const)
      expect(() => createClient({ url: url as string })).toThrow(
        `url must be the base URL of the service, such as http://localhost:8080, not ${got}`,
      );
  });

  test('names the URL and the cause of what does not respond', async () => {
    const failing = async () => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
    };
    const client = createClient({ url: 'http://127.0.0.1:1', timeout: 50, fetch: failing as unknown as typeof fetch });
    const error = await client.check.all(WALLETS).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(Unreachable);
    expect((error as Error).message).toBe(
      'No response from http://127.0.0.1:1/registry/any/check/all: fetch failed (connect ECONNREFUSED 127.0.0.1:1)',
    );
  });

  test('does not repeat a batch that can never pass', async () => {
    let requests = 0;
    const problem = {
      type: '/docs#problem-too-many-questions',
      title: 'Too many questions',
      status: 413,
      detail: 'Send at most 25 in a batch.',
    };
    const fetch = (async () => {
      requests++;
      return Response.json(problem, { status: 413 });
    }) as unknown as typeof globalThis.fetch;
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    const questions = Array.from({ length: 26 }, () => ({ check: 'all' as const, ...WALLETS }));
    expect(await client.checkMany({ questions }).catch((one: unknown) => one)).toBeInstanceOf(TooManyQuestions);
    expect(requests).toBe(1);
  });
});

test('a viem client without a chain is refused, unless the options name one', () => {
  const url = 'http://localhost:8080';
  expect(() => delegationActions({ url })({ chain: undefined })).toThrow('has no chain');
  expect(delegationActions({ url, chainId: 8453 })({ chain: undefined }).delegations.defaults.chainId).toBe(8453);
});
