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

test('a page of holders names the chain of the token, and each of the delegations once', async () => {
  const [block, at] = [{ number: 5 }, { number: 7 }].map((one) => ({ ...one, hash: null, timestamp: null }));
  const asked: string[] = [];
  const fetch = (async (input: Request | string) => {
    asked.push(input instanceof Request ? input.url : String(input));
    const delegationChains = [
      { chainId: 1, block },
      { chainId: 33139, block: at },
    ];
    return Response.json({ holds: false, chainId: 1, block, holders: [], next: null, delegationChains });
  }) as unknown as typeof globalThis.fetch;
  const client = createClient({ url: 'http://127.0.0.1:1', fetch });
  const query = { wallet: WALLETS.to, contract: WALLETS.from, delegationChainId: '1,33139' };
  for await (const { chains } of client.holders(query).pages())
    expect(chains.map((one) => [one.chainId, one.block?.number])).toEqual([
      [1, 5],
      [33139, 7],
    ]);
  expect(asked.map((url) => new URL(url).searchParams.get('delegationChainId'))).toEqual(['1,33139']);
});
