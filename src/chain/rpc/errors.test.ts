// Each failure of a provider has a cause and a message: over real sockets, and without the parts of its URL.

import { afterAll, describe, expect, test } from 'bun:test';
import { createChainMaker, headerJson, NO_ANSWER, Refusal, startFakeNode } from '../../../test/support/fake-node.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { createWorld, FIRST } from '../../../test/support/world.ts';
import { createProviderPool, type ProviderFailure } from './provider-pool.ts';

const SECRET = 'SECRET-KEY-123';
const node = startFakeNode();
afterAll(() => node.stop());

const url = (origin = node.url) => `${origin}/v2/${SECRET}`;
const failureOf = async (where: string, timeoutMs = 60_000): Promise<ProviderFailure | null | undefined> => {
  const pool = createProviderPool(MAINNET, [where], { timeoutMs });
  await pool.pick(0).catch(() => {});
  return pool.all[0]?.failure;
};
const json = (status: number, body: unknown) => Response.json(body, { status });

describe('no response', () => {
  test.each([
    ['dns', `http://${SECRET.toLowerCase()}.invalid/`, 'DNS lookup failed (ENOTFOUND)'],
    ['connection-refused', url('http://127.0.0.1:9'), 'Cannot connect (ECONNREFUSED)'],
    ['tls', url(node.url.replace('http:', 'https:')), 'TLS failed (EPROTO)'],
  ])('%s', async (cause, where, message) => {
    expect(await failureOf(where)).toMatchObject({ cause, message, httpStatus: null, rpcCode: null });
  });

  test('timeout', async () => {
    node.fault = () => NO_ANSWER;
    expect(await failureOf(url(), 500)).toMatchObject({
      cause: 'timeout',
      message: 'No complete response within 500 ms',
    });
  });

  test('a redirect is not followed', async () => {
    node.fault = () => Response.redirect(`https://other.example/${SECRET}`);
    expect((await failureOf(url()))?.cause).toBe('http-3xx');
  });

  test('a connection that is closed', async () => {
    const closing = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: (socket) => void socket.end() } });
    expect((await failureOf(url(`http://127.0.0.1:${closing.port}`)))?.cause).toBe('connection-lost');
    closing.stop(true);
  });
});

describe('an error', () => {
  const daily = { jsonrpc: '2.0', id: 1, error: { code: -32_005, message: 'daily request count exceeded' } };
  test.each<[string, Response, Partial<ProviderFailure>]>([
    [
      'HTTP 401 with a text',
      new Response('Must be authenticated!', { status: 401 }),
      { cause: 'http-401', message: 'HTTP 401: Must be authenticated!', httpStatus: 401 },
    ],
    [
      'HTTP 403 with JSON',
      json(403, { error: 'origin not allowed' }),
      { cause: 'http-403', message: 'HTTP 403: origin not allowed', httpStatus: 403 },
    ],
    [
      'HTTP 404 with a page',
      new Response('<html>Not found</html>', { status: 404 }),
      { cause: 'http-404', message: 'HTTP 404', httpStatus: 404 },
    ],
    ['HTTP 402', new Response('', { status: 402 }), { cause: 'http-402', httpStatus: 402 }],
    ['HTTP 418', new Response('', { status: 418 }), { cause: 'http-4xx', httpStatus: 418 }],
    ['HTTP 502', new Response('', { status: 502 }), { cause: 'http-5xx', httpStatus: 502 }],
    [
      'HTTP 401 with a JSON-RPC error',
      json(401, { jsonrpc: '2.0', id: 1, error: { code: -32_600, message: 'no such project' } }),
      { cause: 'http-401', message: 'eth_chainId: no such project', httpStatus: 401, rpcCode: -32_600 },
    ],
    ['HTTP 429', new Response('', { status: 429 }), { cause: 'rate-limited', httpStatus: 429 }],
    [
      'a used-up quota with HTTP 200',
      json(200, daily),
      { cause: 'rate-limited', message: 'eth_chainId: daily request count exceeded', rpcCode: -32_005 },
    ],
    [
      'a JSON-RPC error',
      json(200, { jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'method not found' } }),
      { cause: 'rpc-error', message: 'eth_chainId: method not found', rpcCode: -32_601 },
    ],
    ['not JSON', new Response('hello'), { cause: 'bad-response', message: 'The response is not JSON' }],
    ['another chain', json(200, { jsonrpc: '2.0', id: 1, result: '0xa' }), { cause: 'wrong-chain' }],
  ])('%s', async (_name, response, expected) => {
    node.fault = () => response;
    expect(await failureOf(url())).toMatchObject(expected);
  });

  test('its message has no URL, no key and no line break, and is short', async () => {
    node.fault = () => {
      const other = '9f8e7d6c5b4a39281706f5e4d3c2b1a0';
      throw new Refusal(-32_000, `key ${SECRET}\nof https://up.example/x via ${other} ${'y'.repeat(5000)}`);
    };
    const message = String((await failureOf(url()))?.message);
    expect(message).toStartWith('eth_chainId: key … of … via … yyy');
    expect(message.length).toBeLessThanOrEqual(300);
  });
});

test('the second and third providers have causes of their own, and each recovers', async () => {
  const nodes = Array.from({ length: 3 }, () => startFakeNode());
  const recovered: [string, number][] = [];
  const pool = createProviderPool(
    MAINNET,
    nodes.map((one) => one.url),
    { random: () => 0, onRecovery: (provider, unhealthyMs) => recovered.push([provider, unhealthyMs]) },
  );
  const causes = () => pool.all.map(({ failure }) => failure?.cause ?? null);
  const [first, second, third] = nodes as [typeof node, typeof node, typeof node];
  second.fault = () => new Response('', { status: 401 });
  third.fault = () => new Response('', { status: 503 });
  const provider = await pool.pick(0);
  await pool.others(provider, 0);
  expect(causes()).toEqual([null, 'http-401', 'http-5xx']);

  [second.fault, third.fault] = [null, null];
  await pool.pick(60_000);
  const others = await pool.others(provider, 60_000);
  expect(causes()).toEqual([null, null, null]);
  expect(recovered.sort()).toEqual([
    ['1/2', 60_000],
    ['1/3', 60_000],
  ]);

  // One that is only asked to compare is judged by what it answers there.
  second.fault = () => new Response('', { status: 429 });
  await others[0]?.node.chainId().catch(() => {});
  expect(causes()).toEqual([null, 'rate-limited', null]);
  second.fault = null;
  await others[0]?.node.chainId();
  expect(causes()).toEqual([null, 'rate-limited', null]);
  const [again] = await pool.others(provider, 61_000);
  await again?.node.chainId();
  expect(causes()).toEqual([null, null, null]);
  expect(first.calls.size).toBeGreaterThan(0);
  for (const one of nodes) await one.stop();
});

test('a node below the first block is still syncing', async () => {
  const world = await createWorld({ blocks: 20 });
  const [syncing] = world.nodes as [typeof node];
  world.one.restart();
  syncing.fault = ({ method, params }, honest) =>
    method === 'eth_getBlockByNumber' && params[0] === 'latest'
      ? headerJson(createChainMaker(FIRST - 200).block(null, []))
      : honest();
  world.one.errors.length = 0;
  await world.one.catchUp(1);
  expect(world.one.errors[0]?.message).toBe(
    `the provider is still syncing: its head is block ${FIRST - 200}, the index starts at block ${FIRST}`,
  );
  expect(world.one.providers.all[0]?.failure?.cause).toBe('syncing');
  await world.close();
});
