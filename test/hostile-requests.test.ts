// Sends many requests that nobody should send: each is answered with a documented status and a problem that says why.
// A longer run, in slices of 100,000, with another seed:
// TEST_MINUTES=999 HOSTILE_REQUESTS=1000000 HOSTILE_SEED=7 npx bun test test/hostile-requests.test.ts

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ANY_OPERATIONS } from '../src/api/any-operations.ts';
import { requiredParams } from '../src/api/operation.ts';
import { REGISTRY_OPERATIONS as OPERATIONS, type RegistryOperation } from '../src/api/operations.ts';
import { PROBLEMS } from '../src/api/problems.ts';
import type { RunningServer } from '../src/http/server/listener.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, CONTRACT, GOOD_VALUES, granted, HOT, timeOf } from './support/fixtures.ts';
import { ownMemory } from './support/processes.ts';
import { createRandom } from './support/random.ts';
import { type RawAnswer, rawClient } from './support/raw-http.ts';
import { serving } from './support/serving.ts';

const REQUESTS = Number(process.env['HOSTILE_REQUESTS'] ?? 12_000);
const SLICE = 100_000;
const LANES = 8;
const HEADS: Readonly<Record<number, number>> = { 1: 105, 10: 205 };

let store: Store;
let server: RunningServer;
const failures: unknown[] = [];

beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('hostile.db')}`);
  for (const [chain, number] of Object.entries(HEADS)) {
    const chainId = Number(chain);
    const { epoch } = await store.claim(chainId, number - 5);
    const head = { ...block(number, chainId === 1 ? [granted('ALL')] : []), timestamp: timeOf(105) };
    await store.apply({ chainId, epoch, after: null, blocks: [head], head });
  }
  server = serving(store, timeOf(105), { chainIds: new Set([1, 10]), onError: (error) => failures.push(error) });
});
afterAll(async () => {
  await server.stop();
  await store.close();
});

interface Hostile {
  readonly what: string;
  /** The request line and headers, without the last empty line. */
  readonly request: string;
  readonly statuses: readonly number[];
  /** The chain that a good answer must be of. */
  readonly chainId?: number;
}

const ADDRESSES = ['to', 'from', 'delegate', 'vault', 'contract'];

function generator(seed: number) {
  const random = createRandom(seed);
  const int = (below: number) => Math.floor(random() * below);
  const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
  /** Bytes that may stand in a request's first line: no controls, no space, nothing that ends the path. */
  const bytes = (length: number) =>
    Array.from({ length }, () => String.fromCharCode(pick([0x21, 0x24, 0x40, 0x80]) + (int(0x7f) % 0x1e)))
      .join('')
      .replace(/[#?]/g, '!');
  const percented = (length: number) =>
    Array.from({ length }, () => `%${int(256).toString(16).padStart(2, '0')}`).join('');

  const requiredOf = (operation: RegistryOperation) =>
    requiredParams(operation)
      .filter((name) => name !== 'wallet')
      .map((name) => [name, GOOD_VALUES[name] ?? ''] as const);
  const pathOf = (operation: RegistryOperation, wallet: string = HOT) => operation.path.replace('{wallet}', wallet);
  const line = (target: string, method = 'GET') => `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n`;
  const target = (operation: RegistryOperation, query: readonly (readonly [string, string])[], wallet?: string) =>
    `${pathOf(operation, wallet)}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`;
  const withBad = (
    what: string,
    operation: RegistryOperation,
    name: string,
    value: string,
    statuses = [400],
  ): Hostile => {
    if (name === 'wallet') return { what, request: line(pathOf(operation, value)), statuses };
    const query = requiredOf(operation).filter(([known]) => known !== name);
    return { what, request: line(target(operation, [...query, [name, value]])), statuses };
  };
  const addressOf = (operation: RegistryOperation) =>
    operation.kind === 'list' ? 'wallet' : pick(requiredParams(operation).filter((name) => ADDRESSES.includes(name)));
  const checkWithToken = () => pick(OPERATIONS.filter((operation) => requiredParams(operation).includes('tokenId')));

  /** A question about several chains, or of the token gate, with one part that is bad for every parameter. */
  const badAny = (): Hostile => {
    const { path, params } = pick(ANY_OPERATIONS);
    const [name, value] = pick<readonly [string, string]>([
      [pick(Object.keys(params)), pick(['-1', '1.5', '0x', 'a'.repeat(200), '%00', '%ff', percented(9), '[]'])],
      ['chainId', pick(['1,', ',', '1,,10', '1,1', 'served,1', '1;10', '1,2', '1,-10', '1,'.repeat(500)])],
      [pick(['chainid', 'vault', 'to', '__proto__', 'limit[]', percented(5)]), '1'],
      ['limit', pick(['0', '1e3', '9007199254740993', '99999'])],
      ['cursor', Buffer.from(`[${int(99)},${int(99)},"${bytes(9)}"]`).toString('base64url')],
    ]);
    const isInPath = name === 'wallet' && path.includes('{wallet}');
    const wallet = isInPath ? value : HOT;
    const query = { contract: CONTRACT, ...(isInPath ? {} : { [name]: value }) };
    return {
      what: 'any registry',
      request: line(
        `${path.replace('{wallet}', wallet)}?${Object.entries(query)
          .map((pair) => pair.join('='))
          .join('&')}`,
      ),
      statuses: [400, 404],
    };
  };

  const makers: (() => Hostile)[] = [
    badAny,
    () => {
      const hex = Array.from({ length: pick([0, 1, 39, 41, 64, 300]) }, () => int(16).toString(16)).join('');
      const operation = pick(OPERATIONS);
      return withBad(
        'bad hex',
        operation,
        addressOf(operation),
        pick(['0x', '', '0X', '1x', 'x'].map((lead) => lead + hex)),
        [400, 404],
      );
    },
    () => {
      const right = checksummed(`0x${Array.from({ length: 40 }, () => pick(['a', 'b', 'c', 'd', 'e', 'f'])).join('')}`);
      const at = 2 + int(40);
      const digit = right[at] ?? '';
      const turned = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase();
      const operation = pick(OPERATIONS);
      return withBad(
        'wrong checksum',
        operation,
        addressOf(operation),
        right.slice(0, at) + turned + right.slice(at + 1),
      );
    },
    () => {
      const operation = pick(OPERATIONS.filter(({ kind }) => kind === 'check'));
      return withBad(
        'unicode',
        operation,
        addressOf(operation),
        encodeURIComponent(pick(['０ｘ１', '🦊', 'é', '\u202e', 'ı'])),
      );
    },
    () => {
      const operation = pick(OPERATIONS.filter(({ kind }) => kind === 'check'));
      const value = pick([`${HOT}%00`, '%00', '%', '%zz', '%ff', '%c3%28', percented(1 + int(60))]);
      return withBad('percent', operation, addressOf(operation), value);
    },
    () => {
      const operation = pick(OPERATIONS);
      const query = requiredOf(operation);
      const [name, value] = query.length > 0 ? pick(query) : (['chainId', '1'] as const);
      return {
        what: 'repeated',
        request: line(target(operation, [...query, [name, value], [name, value]])),
        statuses: [400],
      };
    },
    () => {
      const operation = pick(OPERATIONS);
      const name = pick([
        'chainid',
        'ChainId',
        'rightz',
        'x',
        '',
        '__proto__',
        'constructor',
        'toString',
        percented(5),
        'to[]',
      ]);
      return {
        what: 'unknown',
        request: line(target(operation, [...requiredOf(operation), [name, '1']])),
        statuses: [400],
      };
    },
    () => {
      const length = pick([200, 3000, 5000, 12_000, 20_000]);
      const operation = pick(OPERATIONS.filter(({ kind }) => kind === 'check'));
      const statuses = length > 16_000 ? [431] : length > 4096 ? [414] : [400];
      return withBad(
        'giant value',
        operation,
        addressOf(operation),
        pick(['a', '1', '0x', '%41'])
          .repeat(length)
          .slice(0, length - (length % 3)),
        statuses,
      );
    },
    () => {
      const bad = pick([
        '-1',
        '1.5',
        '1e3',
        '0x10',
        '',
        '+1',
        '1_000',
        'NaN',
        'Infinity',
        '9'.repeat(79),
        String(2n ** 256n),
        '%31%00',
        '١',
      ]);
      return withBad('token id', checkWithToken(), 'tokenId', encodeURIComponent(decodeSafely(bad)));
    },
    () => {
      const operation = pick(OPERATIONS);
      const bad = pick(['0', '2', '137', '-1', '1.0', '1e0', '0x1', '', 'mainnet', '9'.repeat(30), '8453', 'null']);
      const query = [...requiredOf(operation), ['chainId', bad] as const];
      return { what: 'chain', request: line(target(operation, query)), statuses: [400] };
    },
    () => {
      const operation = pick(OPERATIONS);
      const [moment, statuses] = pick<readonly [readonly (readonly [string, string])[], readonly number[]]>([
        [[['block', pick(['-1', '1.5', '0x10', 'pending', 'latest%20', '9'.repeat(20), ''])]], [400]],
        [[['block', pick(['0', '99'])]], [404]],
        [[['block', pick(['106', '9007199254740991'])]], [503]],
        [
          [
            [
              'timestamp',
              pick([
                '-1',
                '1.5',
                'yesterday',
                '2026-1-1',
                '2026-01-01T00:00:00',
                '2026-13-45T99:99:99Z',
                '9'.repeat(15),
              ]),
            ],
          ],
          [400],
        ],
        [[['timestamp', '1']], [404]],
        [[['timestamp', String(timeOf(2000))]], [503]],
        [
          [
            ['block', '105'],
            ['timestamp', '1'],
          ],
          [400],
        ],
      ]);
      return { what: 'moment', request: line(target(operation, [...requiredOf(operation), ...moment])), statuses };
    },
    () => {
      const operation = pick(OPERATIONS);
      const name = pick([
        ...['numbers', 'explain', 'detail', 'direction', 'type', 'limit', 'cursor', 'rights', 'contract'],
        ...['types', 'unrestricted'],
      ]);
      const value = pick(['1', 'TRUE', '-1', '0', '10001', 'a'.repeat(200), percented(8), '%00']);
      const query = requiredOf(operation).filter(([known]) => known !== name);
      const isIgnored = 'ignored' in operation && operation.ignored.includes(name);
      const fine = isIgnored || (operation.kind === 'list' && name === 'limit' && value === '1');
      return {
        what: 'option',
        request: line(target(operation, [...query, [name, value]])),
        statuses: fine ? [200] : [400],
        chainId: 1,
      };
    },
    () => {
      const operation = pick(OPERATIONS);
      const method = pick(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']);
      return { what: 'method', request: line(target(operation, requiredOf(operation)), method), statuses: [405] };
    },
    () => {
      const path = pick([
        '/registry',
        '/registry/',
        '/registry/v2',
        '/registry/v2/',
        '/registry/v3/check/all',
        '/registry/v2/check/all/',
        '/registry//v2/check/all',
        '/Registry/v2/check/all',
        '/registry/v2/check/ALL',
        '/registry/v2/check%2fall',
        '/registry/v1/check/erc20',
        '/registry/v2/check/token',
        '/registry/v2/check',
        `/registry/v2/${HOT}/`,
        `/registry/v2/${HOT}/../../../etc/passwd`,
        '/.env',
        '/metrics',
        '//docs/',
        '/docs//',
        '//evil.example/',
        '/docs.MD',
        '/llms.txt%00',
        '/openapi.yml',
        '/%00',
        `/${percented(1 + int(30))}`,
        `/registry/v2/${percented(1 + int(30))}`,
        `/${'../'.repeat(int(20))}etc`,
        `/${'a/'.repeat(1 + int(300))}`,
      ]);
      return { what: 'path', request: line(path), statuses: [400, 404] };
    },
    () => ({
      what: 'raw bytes',
      request: line(`/registry/v2/${bytes(1 + int(40))}`),
      statuses: [400, 404],
    }),
    () => {
      const header = pick([
        `If-None-Match: ${pick(['*,"', '"', 'W/', ',,,', 'x'.repeat(3000)])}`,
        'Range: bytes=0-0',
        'Accept: text/html;q=x',
        `Origin: ${'x'.repeat(2000)}`,
        'X-Forwarded-For: 1.2.3.4, ,,',
        'Content-Length: 0',
        `X-API-KEY: ${bytes(20)}`,
        Array.from({ length: 100 }, (_, turn) => `X-${turn}: ${turn}`).join('\r\n'),
      ]);
      const chainId = pick([1, 10]);
      const operation = pick(OPERATIONS.filter(({ version }) => version === 2));
      const query = [...requiredOf(operation), ['chainId', String(chainId)] as const];
      return { what: 'header', request: `${line(target(operation, query))}${header}\r\n`, statuses: [200], chainId };
    },
    () => {
      const path = pick(['/llms.txt', '/docs.md', '/openapi.yaml', '/docs']);
      const method = pick(['POST', 'PUT', 'PATCH', 'DELETE']);
      return { what: 'document', request: line(`${path}?${percented(int(9))}`, method), statuses: [405] };
    },
    () => ({
      what: 'huge headers',
      request: `${line('/health')}${pick([`X: ${'x'.repeat(17_000)}`, Array.from({ length: 240 }, (_, turn) => `X-${turn}: 1`).join('\r\n')])}\r\n`,
      statuses: [431],
    }),
  ];
  return () => pick(makers)();
}

function decodeSafely(text: string): string {
  return text.replaceAll('%31', '1').replaceAll('%00', '\0');
}

/** What is wrong with an answer, or null. */
function faultOf({ statuses, chainId }: Hostile, answer: RawAnswer | null): string | null {
  if (answer === null) return 'closed';
  const { status, headers, body } = answer;
  if (!statuses.includes(status)) return `${status} is not among ${statuses.join(', ')}: ${body.slice(0, 200)}`;
  if (status === 200) {
    return headers.get('x-block-number') === String(HEADS[chainId ?? 1]) ? null : 'another chain answered';
  }
  // Bun's own parser says this before the API is asked.
  if (status === 431) return body === '' ? null : 'a body from the parser';
  if (headers.get('content-type') !== 'application/problem+json') return `type ${headers.get('content-type')}`;
  if (headers.get('access-control-allow-origin') !== '*') return 'no CORS header';
  const problem = JSON.parse(body) as Record<string, unknown>;
  const type = String(problem['type']).replace('/docs#problem-', '') as keyof typeof PROBLEMS;
  if (PROBLEMS[type]?.status !== status || problem['status'] !== status) return `a problem of another status: ${body}`;
  if (typeof problem['detail'] !== 'string' || typeof problem['title'] !== 'string') return `no words: ${body}`;
  if (/\\n *at |\.ts:\d|node_modules|Error:/.test(body)) return `insides shown: ${body}`;
  if (status === 405 && headers.get('allow') !== 'GET, HEAD, OPTIONS') return 'no Allow';
  if (status === 503 && !headers.has('retry-after')) return 'no Retry-After';
  return null;
}

describe('hostile requests', () => {
  test(`${REQUESTS} of them are each refused in a documented way, and none is a failure`, async () => {
    const seed = Number(process.env['HOSTILE_SEED'] ?? 1);
    const next = generator(seed);
    const counts = new Map<string, number>();
    const wrong: string[] = [];
    let left = REQUESTS;
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        const client = rawClient(server.url);
        while (left-- > 0) {
          if (left % SLICE === 0 && left > 0) {
            Bun.gc(true);
            console.log(`${left} left, ${(ownMemory(process.pid) / 1e6).toFixed(0)} MB, ${wrong.length} wrong`);
          }
          const hostile = next();
          const answer = await client.send(`${hostile.request}\r\n`);
          const fault = faultOf(hostile, answer);
          if (fault !== null)
            wrong.push(`${hostile.what}: ${JSON.stringify(hostile.request.slice(0, 300))} gave ${fault}`);
          const status = answer?.status ?? 0;
          counts.set(`${status}`, (counts.get(`${status}`) ?? 0) + 1);
        }
        client.close();
      }),
    );
    console.log(
      `${REQUESTS} hostile requests: ${[...counts]
        .sort()
        .map(([status, count]) => `${status} × ${count}`)
        .join(', ')}`,
    );
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(failures).toEqual([]);
  });
});

describe('what the HTTP parser answers before the API', () => {
  const health = (lines: string) => `GET /health HTTP/1.1\r\nHost: x\r\n${lines}\r\n`;
  const said: readonly (readonly [string, string, number | null])[] = [
    ['a request line that is none', 'hello\r\n\r\n', 400],
    ['HTTP/1.1 without Host', 'GET /health HTTP/1.1\r\n\r\n', 400],
    ['a header without a colon', health('what is this\r\n'), 400],
    ['a NUL in a header', health('x: a\0b\r\n'), 400],
    ['a negative length', health('Content-Length: -1\r\n'), 400],
    ['a length and chunks', health('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n'), 400],
    ['a path that does not begin with a slash', 'GET health HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a huge body', 'POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n', 413],
    ['large headers', health(`x: ${'y'.repeat(17_000)}\r\n`), 431],
    ['many headers', health(Array.from({ length: 240 }, (_, turn) => `x-${turn}: 1\r\n`).join('')), 431],
    ['a long address', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['HTTP/2.0 in words', 'GET /health HTTP/2.0\r\nHost: x\r\n\r\n', 505],
    ['a space in the address', 'GET /he alth HTTP/1.1\r\nHost: x\r\n\r\n', 505],
    ['an unknown method', 'BREW /health HTTP/1.1\r\nHost: x\r\n\r\n', null],
    ['a method in small letters', 'get /health HTTP/1.1\r\nHost: x\r\n\r\n', null],
  ];
  for (const [what, request, status] of said) {
    test(`${what}: ${status ?? 'closed'}`, async () => {
      const client = rawClient(server.url);
      const answer = await client.send(request);
      expect(answer?.status ?? null).toBe(status);
      expect(answer?.body ?? '').toBe('');
      client.close();
    });
  }

  test('documents are served whatever Accept and the query are', async () => {
    const accepts = [
      ',',
      ';',
      ';;q=',
      'text/markdown;q=9e9',
      'text/markdown;q=',
      ',text/markdown,,;',
      'x'.repeat(9000),
    ];
    const client = rawClient(server.url);
    for (const accept of accepts) {
      for (const path of ['/docs', '/docs.md', '/llms.txt', '/openapi.yaml', '/openapi.json']) {
        const answer = await client.send(`GET ${path}?%ff=%00&&= HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\n\r\n`);
        expect([path, answer?.status]).toEqual([path, 200]);
      }
    }
    client.close();
  });

  test('HTTP/1.0 and odd hosts are served', async () => {
    for (const request of [
      'GET /health HTTP/1.0\r\n\r\n',
      'GET /health HTTP/1.1\r\nHost: [\r\n\r\n',
      'GET http://elsewhere/health HTTP/1.1\r\nHost: x\r\n\r\n',
    ]) {
      const client = rawClient(server.url);
      expect(await client.send(request)).toMatchObject({ status: 200, body: '{"status":"ok"}' });
      client.close();
    }
  });

  test('two Host headers are refused, and every answer says that its type is not to be guessed', async () => {
    const client = rawClient(server.url);
    for (const path of ['/health', '/nowhere', `/registry/v2/${COLD}`]) {
      const refused = await client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`);
      expect([path, refused?.status, refused?.body]).toEqual([path, 400, expect.stringContaining('two Host headers')]);
    }
    client.close();
    for (const path of [
      '/',
      '/health',
      '/networks',
      '/openapi.json',
      '/nowhere',
      `/registry/v2/${COLD}`,
      '/registry/any/changes',
    ]) {
      const { headers } = await fetch(`${server.url}${path}`);
      expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
    }
  });

  test('headers that do not come to an end are cut off after some ten seconds', async () => {
    const client = rawClient(server.url);
    const began = performance.now();
    expect(await client.send('GET /health HTT')).toBeNull();
    expect(performance.now() - began).toBeGreaterThan(5000);
  });
});

describe('hostile bodies', () => {
  const HEAD = 'POST /registry/any/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const ask = `{"check":"all","from":"${COLD}","to":"${HOT}"}`;
  const whole = (body: string, head = HEAD) => `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
  const batch: Pick<Hostile, 'statuses'> = { statuses: [400, 408, 413, 415] };
  const faultOfBody = (answer: RawAnswer | null) =>
    answer?.status === 200 && answer.body.startsWith('{"complete":') ? null : faultOf({ ...batch } as Hostile, answer);

  test('4000 bodies with errors anywhere are each answered or refused in a documented way', async () => {
    const random = createRandom(16);
    const int = (below: number) => Math.floor(random() * below);
    const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
    const pieces = [
      '"',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '\\',
      'NaN',
      '1e999',
      '9'.repeat(400),
      '\0',
      '\xff',
      '\u00e9',
      'null',
      '-',
    ];
    const rows = [
      ask,
      ask.replace('"all"', '"erc20"'),
      ask.replace('}', ',"chainId":10}'),
      '{}',
      'null',
      '[[[[[[[[[[]]]]]]]]]]',
    ];
    const client = rawClient(server.url);
    const wrong: string[] = [];
    const statuses = new Map<number, number>();
    for (let turn = 0; turn < 4000; turn++) {
      let body = `{"questions":[${Array.from({ length: int(4) }, () => pick(rows)).join(',')}]}`;
      for (let edits = int(4); edits > 0; edits--) {
        const at = int(body.length + 1);
        body = body.slice(0, at) + pick(['', ...pieces]) + body.slice(at + int(4));
      }
      const head = HEAD.replace('application/json', pick(['application/json', 'application/json', 'text/html']));
      const answer = await client.send(whole(body, head));
      const fault = faultOfBody(answer);
      if (fault !== null) wrong.push(`${JSON.stringify(body.slice(0, 300))} gave ${fault}`);
      statuses.set(answer?.status ?? 0, (statuses.get(answer?.status ?? 0) ?? 0) + 1);
    }
    client.close();
    console.log(`4000 hostile bodies: ${JSON.stringify([...statuses].sort())}`);
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(failures).toEqual([]);
  });

  test('only a batch may have more than 16 KiB, with a length and in chunks', async () => {
    const send = async (request: string) => {
      const client = rawClient(server.url);
      const answer = await client.send(request);
      client.close();
      return answer;
    };
    const large = 'x'.repeat(20_000);
    for (const path of ['/health', '/developers/nonce', '/registry/v2/check/all', '/nope']) {
      const answer = await send(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n`);
      expect([path, answer?.status, JSON.parse(answer?.body ?? '').detail]).toEqual([
        path,
        413,
        'The body is larger than 16 KiB.',
      ]);
    }
    const chunked = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
    const spaced = (body: string) => send(`${chunked}${chunk(body.slice(0, 9))}${chunk(body.slice(9))}0\r\n\r\n`);
    expect((await spaced(`{"questions":[${ask}]}${' '.repeat(100_000)}`))?.body).toEndWith(
      '"answers":[{"result":true}]}',
    );
    const tooLarge = await send(`${chunked}${chunk(large).repeat(450)}0\r\n\r\n`);
    expect(tooLarge?.status).toBe(413);
  });

  test('a body that is slow or cut off ends, and the next request is answered', async () => {
    const impatient = serving(store, timeOf(105), { chainIds: new Set([1, 10]), answerTimeout: 1 });
    const client = rawClient(impatient.url);
    const slow = await client.send(`${HEAD}Content-Length: 1000\r\n\r\n{"questions":[`);
    expect([slow?.status, JSON.parse(slow?.body ?? '').detail]).toEqual([
      408,
      'The body did not arrive within 1 seconds.',
    ]);
    client.close();
    const gone = rawClient(impatient.url);
    void gone.send(`${HEAD}Content-Length: 1000\r\n\r\n{"questions":[`);
    await Bun.sleep(100);
    gone.close();
    const next = rawClient(impatient.url);
    expect((await next.send(whole(`{"questions":[${ask}]}`)))?.status).toBe(200);
    next.close();
    await impatient.stop();
    expect(failures).toEqual([]);
  });

  test('a refused batch leaves the connection in step', async () => {
    const client = rawClient(server.url);
    for (const body of ['{"questions":5}', `{"questions":[${`${ask},`.repeat(200)}]}`]) {
      expect((await client.send(whole(body)))?.status).toBe(400);
      expect((await client.send('GET /health HTTP/1.1\r\nHost: x\r\n\r\n'))?.body).toBe('{"status":"ok"}');
    }
    client.close();
  });
});

test('HEAD has the headers of GET, its length among them, and no body', async () => {
  const client = rawClient(server.url);
  const check = `/registry/v2/check/all?to=${HOT}&from=${COLD}`;
  for (const path of [check, `/registry/v2/${HOT}`, '/openapi.json', '/health', '/nope']) {
    const get = await client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const head = await client.send(`HEAD ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, { head: true });
    expect(head?.status).toBe(get?.status as number);
    expect(head?.headers.get('content-length')).toBe(String(get?.body.length));
    expect(head?.headers.get('etag')).toBe(get?.headers.get('etag') as string);
  }
  // Nothing followed the headers: the connection is still in step.
  expect((await client.send('GET /health HTTP/1.1\r\nHost: x\r\n\r\n'))?.body).toBe('{"status":"ok"}');
  client.close();
});

test('no wallet is taken for another: an address is compared whole', async () => {
  const client = rawClient(server.url);
  const ask = (to: string) =>
    client.send(`GET /registry/v2/check/all?to=${to}&from=${COLD} HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect((await ask(HOT))?.body).toBe('true');
  expect((await ask(address(0x1407)))?.body).toBe('false');
  client.close();
});
