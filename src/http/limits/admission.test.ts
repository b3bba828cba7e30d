// Keys and limits as the interface promises them: the real process on a real socket. Each test's name is one of its sentences.

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { insertKeys } from '../../../test/support/account-rows.ts';
import { temporaryPath } from '../../../test/support/engines.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { block, COLD, granted, HOT } from '../../../test/support/fixtures.ts';
import { startRedis } from '../../../test/support/redis.ts';
import { type LogLine, runCommand, type ServeProcess, startServe } from '../../../test/support/serve-process.ts';
import { openAccounts } from '../../accounts/accounts.ts';
import { openStore } from '../../store/open.ts';

const path = temporaryPath('admission.db');
const url = `sqlite:${path}`;
const V1 = `/registry/v1/check/all?delegate=${HOT}&vault=${COLD}`;
const V2 = `/registry/v2/check/all?to=${HOT}&from=${COLD}`;
let served: ServeProcess;

beforeAll(async () => {
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const head = { ...block(101, [granted('ALL')]), timestamp: Math.floor(Date.now() / 1000) };
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  await store.close();
  served = await startServe(url, { ANONYMOUS_LIMIT: '25/10s', TRUSTED_PROXIES: '127.0.0.1', MAX_LAG_1: '86400' });
});
afterAll(() => served.stop());

let clients = 0;
/** Somebody who was never here before. */
const newcomer = () => `198.51.${Math.floor(++clients / 250)}.${(clients % 250) + 1}`;
const ask = (client: string, target = V2, headers: Record<string, string> = {}) =>
  fetch(served.url + target, { headers: { 'x-forwarded-for': client, ...headers } });
const burst = async (count: number, send: (turn: number) => Promise<Response>) => {
  const statuses: Record<number, number> = {};
  for (const { status } of await Promise.all(Array.from({ length: count }, (_, turn) => send(turn)))) {
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
};
const keys = async (...args: string[]) => {
  const { stdout, stderr, code } = await runCommand(['keys', ...args], { DATABASE_URL: url });
  return { text: stdout.trim(), stderr, code };
};

describe('limits', () => {
  test('25 requests per 10 seconds, v1 and v2 together, without an API key', async () => {
    const client = newcomer();
    const statuses = await burst(60, (turn) => ask(client, turn % 2 === 0 ? V1 : V2));
    console.log('a burst of 60:', JSON.stringify(statuses));
    expect(statuses).toEqual({ 200: 25, 429: 35 });
    // Somebody else is not concerned.
    expect((await ask(newcomer())).status).toBe(200);
  });

  test('a request without a key is accepted but subject to the limit: every answer tells what is left, a refusal when to ask again', async () => {
    const client = newcomer();
    const first = await ask(client);
    expect(first.headers.get('ratelimit-policy')).toBe('"anon";q=25;w=10');
    expect(first.headers.get('ratelimit')).toBe('"anon";r=24;t=10');
    expect((await ask(client, '/registry/v2/check/all')).headers.get('ratelimit')).toMatch(/^"anon";r=23;t=/);
    await burst(23, () => ask(client));
    const refused = await ask(client);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'application/problem+json']);
    expect(refused.headers.get('ratelimit')).toMatch(/^"anon";r=0;t=([1-9]|10)$/);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait >= 1 && wait <= 10).toBe(true);
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(((await refused.json()) as { type: string }).type).toEndWith('too-many-requests');
  });

  const batch = (client: string, count: number, headers: Record<string, string> = {}) =>
    fetch(`${served.url}/registry/any/check`, {
      method: 'POST',
      body: JSON.stringify({ questions: Array.from({ length: count }, () => ({ check: 'all', from: COLD, to: HOT })) }),
      headers: { 'content-type': 'application/json', 'x-forwarded-for': client, ...headers },
    });
  const leftOf = ({ headers }: Response) => Number(/;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);

  test('each question of a batch counts as a request, and a batch is accepted whole or not at all', async () => {
    const client = newcomer();
    const first = await batch(client, 20);
    expect([first.status, leftOf(first)]).toEqual([200, 5]);
    // Counts as one request, as its questions were read.
    const second = await batch(client, 6);
    expect([second.status, leftOf(second)]).toEqual([429, 4]);
    const wait = Number(second.headers.get('retry-after'));
    expect(wait >= 1 && wait <= 10).toBe(true);
    expect([(await batch(client, 4)).status, (await ask(client)).status]).toEqual([200, 429]);
    const whole = newcomer();
    expect([(await batch(whole, 25)).status, (await batch(whole, 1)).status]).toEqual([200, 429]);
  });

  test('more questions than the limit ever allows are a 413 without Retry-After, and count as one request', async () => {
    const client = newcomer();
    for (const count of [26, 10_000]) {
      const response = await batch(client, count);
      const { detail } = (await response.json()) as { detail: string };
      expect([response.status, response.headers.get('retry-after'), detail]).toEqual([
        413,
        null,
        'Too many questions: each counts as a request, and at most 25 are allowed in any 10 seconds. Send at most 25 in a batch. Requests with an API key are not limited: see /developers.',
      ]);
    }
    expect(leftOf(await ask(client))).toBe(22);
    // No question, or a body that cannot be read, is a request too.
    expect([(await batch(client, 0)).status, leftOf(await ask(client))]).toEqual([200, 20]);
  });

  test('with a key, a batch has its 10,000 questions, and each is a use of the key', async () => {
    const { text } = await keys('create', '--label', 'batch');
    const response = await batch(newcomer(), 10_000, { 'x-api-key': text });
    expect([response.status, response.headers.get('ratelimit')]).toEqual([200, null]);
    expect(((await response.json()) as { answers: unknown[] }).answers).toHaveLength(10_000);
    expect((await batch(newcomer(), 2, { 'x-api-key': 'dk_nonsense' })).status).toBe(401);
  });

  test('a key with a limit has it for questions too', async () => {
    const { id, key } = JSON.parse((await keys('create', '--label', 'few', '--json')).text) as {
      id: number;
      key: string;
    };
    expect((await keys('limit', String(id), '100/10s')).code).toBe(0);
    const headers = { 'x-api-key': key };
    const [first, never] = [await batch(newcomer(), 60, headers), await batch(newcomer(), 101, headers)];
    expect([first.status, leftOf(first), never.status]).toEqual([200, 40, 413]);
    expect(((await never.json()) as { detail: string }).detail).toContain(
      'at most 100 are allowed in any 10 seconds with this API key',
    );
    const second = await batch(newcomer(), 40, headers);
    expect([second.status, (await batch(newcomer(), 39, headers)).status]).toEqual([429, 429]);
    expect((await batch(newcomer(), 37, headers)).status).toBe(200);
  });

  test('requests that are spread out pass, and after the time that a refusal names one fits again', async () => {
    const client = newcomer();
    const seen: string[] = [];
    await burst(24, () => ask(client));
    for (let turn = 0; turn < 3; turn++) {
      const response = await ask(client);
      seen.push(`${response.status} ${response.headers.get('ratelimit')} retry ${response.headers.get('retry-after')}`);
      if (response.status === 429) await Bun.sleep(1000 * Number(response.headers.get('retry-after')));
    }
    console.log(`spread out: ${seen.join(' | ')}`);
    expect(seen.map((one) => one.split(' ')[0])).toEqual(['200', '429', '200']);
  });

  test('a preflight is not counted, and tells which headers may be sent and read', async () => {
    const client = newcomer();
    for (let turn = 0; turn < 40; turn++) {
      const response = await fetch(served.url + V2, { method: 'OPTIONS', headers: { 'x-forwarded-for': client } });
      expect(response.status).toBe(204);
      expect(response.headers.has('ratelimit')).toBe(false);
    }
    expect((await ask(client)).headers.get('ratelimit')).toMatch(/r=24/);
  });

  test('/health and /ready are answered whatever else is asked', async () => {
    const client = newcomer();
    await burst(400, () => ask(client, '/icon.svg'));
    expect([(await ask(client, '/icon.svg')).status, (await ask(client, '/health')).status]).toEqual([429, 200]);
    expect((await ask(client, '/ready')).status).toBe(200);
  });

  test('pages, /health and /networks have a limit of their own, a generous one', async () => {
    const client = newcomer();
    expect(await burst(60, (turn) => ask(client, ['/health', '/networks', '/docs', '/nothing'][turn % 4]))).toEqual({
      200: 45,
      404: 15,
    });
    expect((await ask(client)).headers.get('ratelimit')).toMatch(/^"anon";r=24/);
  });

  test('the explorer and the API count as one', async () => {
    const client = newcomer();
    const page = `/?from=${COLD}&to=${HOT}&type=all&chainId=1`;
    expect(await burst(60, (turn) => ask(client, turn % 2 === 0 ? page : V2))).toEqual({ 200: 25, 429: 35 });
    expect((await ask(client, '/docs')).status).toBe(200);
    const first = await ask(newcomer(), page);
    expect(first.headers.get('ratelimit')).toBe('"anon";r=24;t=10');
  });

  test('what an untrusted peer says of itself changes nothing', async () => {
    const direct = await startServe(url, { ANONYMOUS_LIMIT: '25/10s', MAX_LAG_1: '86400' });
    try {
      const forged = await burst(60, () => fetch(direct.url + V2, { headers: { 'x-forwarded-for': newcomer() } }));
      expect(forged).toEqual({ 200: 25, 429: 35 });
    } finally {
      await direct.stop();
    }
  });
});

describe('authentication', () => {
  test('with a key supplied in X-API-KEY a v2 request is not rate limited', async () => {
    const { text } = await keys('create', '--label', 'burst');
    const client = newcomer();
    const statuses = await burst(2000, () => ask(client, V2, { 'x-api-key': text }));
    console.log('2,000 with a key:', JSON.stringify(statuses));
    expect(statuses).toEqual({ 200: 2000 });
    const response = await ask(client, V2, { 'x-api-key': text });
    expect([response.headers.has('ratelimit'), response.headers.has('ratelimit-policy')]).toEqual([false, false]);
  });

  test('on v1 the header is ignored', async () => {
    const { text } = await keys('create', '--label', 'v1');
    const client = newcomer();
    expect(await burst(30, () => ask(client, V1, { 'x-api-key': text }))).toEqual({ 200: 25, 429: 5 });
    expect((await ask(newcomer(), V1, { 'x-api-key': 'nonsense' })).status).toBe(200);
  });

  test('an unknown, malformed, expired or revoked key is 401, counts as a request without one, and says how to give a good one', async () => {
    const { text: good } = await keys('create', '--label', 'soon over', '--json');
    const { key, id } = JSON.parse(good) as { key: string; id: number };
    expect((await ask(newcomer(), V2, { 'x-api-key': key })).status).toBe(200);
    expect((await keys('revoke', String(id))).text).toBe(`Key ${id} revoked.`);
    const { text: expiring } = await keys('create', '--label', 'expires', '--expires', '1', '--json');
    const expired = JSON.parse(expiring) as { key: string; id: number };
    const database = new Database(path);
    database.run('PRAGMA busy_timeout = 5000');
    database.run('UPDATE api_key SET expires_at = 1 WHERE id = ?', [expired.id]);
    database.close();
    // It is known for a second more.
    await eventually('refused', async () => (await ask(newcomer(), V2, { 'x-api-key': key })).status === 401);
    const client = newcomer();
    const { createKey } = await import('../../accounts/key.ts');
    const bad = [createKey().text, 'dk_nonsense', 'x', expired.key, key, `${key}, ${key}`];
    for (const [turn, one] of bad.entries()) {
      const response = await ask(client, V2, { 'x-api-key': one });
      expect([one, response.status]).toEqual([one, 401]);
      expect(response.headers.get('www-authenticate')).toContain('X-API-KEY');
      expect(response.headers.get('ratelimit')).toMatch(new RegExp(`r=${24 - turn};`));
      expect(((await response.json()) as { type: string }).type).toEndWith('bad-key');
    }
    await burst(19, () => ask(client));
    expect((await ask(client, V2, { 'x-api-key': 'dk_nonsense' })).status).toBe(429);
  });

  test('made-up keys cost the database little, and do not drive out good ones', async () => {
    const { text } = await keys('create', '--label', 'good');
    const client = newcomer();
    const { createKey } = await import('../../accounts/key.ts');
    const statuses = await burst(200, () => ask(client, V2, { 'x-api-key': createKey().text }));
    expect(statuses).toEqual({ 401: 25, 429: 175 });
    expect((await ask(newcomer(), V2, { 'x-api-key': text })).status).toBe(200);
  });

  test('two keys in one request are 401', async () => {
    const { text } = await keys('create', '--label', 'twice');
    let received = '';
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(new URL(served.url).port),
      socket: {
        data(_, data) {
          received += data.toString();
        },
      },
    });
    socket.write(
      `GET ${V2} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${text}\r\nX-API-KEY: ${text}\r\nX-Forwarded-For: ${newcomer()}\r\nConnection: close\r\n\r\n`,
    );
    await eventually('answered', async () => received.includes('bad-key'));
    socket.end();
    expect(received).toStartWith('HTTP/1.1 401');
  });

  test('no key is in the database or in the log, and its use is counted', async () => {
    const { text } = await keys('create', '--label', 'grep me', '--json');
    const { key, id } = JSON.parse(text) as { key: string; id: number };
    await ask(newcomer(), V2, { 'x-api-key': key });
    await ask(newcomer(), V2, { 'x-api-key': `${key}x` });
    await served.stop();
    const lines: LogLine[] = [];
    for await (const line of served.lines) lines.push(line);
    expect(lines.length).toBeGreaterThan(100);
    expect(JSON.stringify(lines)).not.toContain(key.slice(8));
    for (const file of [path, `${path}-wal`]) {
      const bytes = await Bun.file(file)
        .bytes()
        .catch(() => new Uint8Array());
      expect(Buffer.from(bytes).includes(key.slice(8))).toBe(false);
    }
    const listed = JSON.parse((await keys('list', '--json')).text) as { id: number; lastUsedAt: number | null }[];
    expect(listed.find((one) => one.id === id)?.lastUsedAt).toBeGreaterThan(0);
    served = await startServe(url, { ANONYMOUS_LIMIT: '25/10s', TRUSTED_PROXIES: '127.0.0.1', MAX_LAG_1: '86400' });
  });
});

describe('KEY_LIMIT', () => {
  const LIMIT = { ANONYMOUS_LIMIT: '25/10s', KEY_LIMIT: '30/3600s', MAX_LAG_1: '86400' };
  const burstWith = (key: string, to: ServeProcess, count = 40) =>
    burst(count, () => fetch(to.url + V2, { headers: { 'x-api-key': key } }));

  test('limits each key of the operator, with its own headers; a limit can be set on one key', async () => {
    const limited = await startServe(url, LIMIT);
    const created = JSON.parse((await keys('create', '--label', 'limited', '--json')).text) as {
      key: string;
      id: number;
    };
    const other = (await keys('create', '--label', 'other')).text;
    const askWith = (key: string) => fetch(limited.url + V2, { headers: { 'x-api-key': key } });
    try {
      const first = await askWith(created.key);
      expect(first.headers.get('ratelimit-policy')).toBe('"key";q=30;w=3600');
      expect(first.headers.get('ratelimit')).toBe('"key";r=29;t=3600');
      expect(await burstWith(created.key, limited)).toEqual({ 200: 29, 429: 11 });
      const refused = await askWith(created.key);
      expect([refused.status, refused.headers.get('ratelimit')]).toEqual([
        429,
        expect.stringMatching(/^"key";r=0;t=\d+$/),
      ]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
      expect(((await refused.json()) as { detail: string }).detail).toContain('with this API key');
      // A key that took its place shares its window. Another key, and callers without a key, are not concerned.
      const rotated = (await keys('rotate', String(created.id))).text;
      expect((await askWith(rotated)).status).toBe(429);
      expect(await burstWith(other, limited)).toEqual({ 200: 30, 429: 10 });
      expect((await fetch(limited.url + V2)).headers.get('ratelimit')).toMatch(/^"anon";r=24/);

      expect((await keys('limit', String(created.id), '50/3600s')).text).toBe(
        `Key ${created.id}: at most 50 requests in any 3600 seconds.`,
      );
      const policy = async (key: string) => (await askWith(key)).headers.get('ratelimit-policy');
      await eventually('limit learnt', async () => (await policy(created.key)) === '"key";q=50;w=3600');
      expect((await keys('list')).text).toMatch(new RegExp(`^${created.id} .* 50/3600s `, 'm'));
      expect((await keys('limit', String(created.id), 'off')).text).toBe(`Key ${created.id}: no limit.`);
      await eventually('limit lifted', async () => (await policy(created.key)) === null);
      expect(await burstWith(created.key, limited, 100)).toEqual({ 200: 100 });
      expect((await keys('limit', String(created.id), 'default')).text).toBe(`Key ${created.id}: the default limit.`);
      await eventually('default', async () => (await policy(created.key)) === '"key";q=30;w=3600');
      for (const [args, why] of [
        [['limit', String(created.id)], 'Missing limit'],
        [['limit', String(created.id), '5'], 'Invalid limit: 5'],
        [['limit', '99999', 'off'], 'No key with id 99999'],
        [['revoke', String(created.id), 'off'], 'Unexpected argument: off'],
      ] as const) {
        const { code, stderr } = await keys(...args);
        expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
      }
    } finally {
      await limited.stop();
    }
  });

  for (const [where, more] of [
    ['two workers', {}],
    ['two workers and Redis', { REDIS_URL: true }],
  ] as const)
    test(`the keys of one wallet share a window: ${where}`, async () => {
      const redis = 'REDIS_URL' in more ? await startRedis() : null;
      const accounts = await openAccounts(url);
      const now = Math.floor(Date.now() / 1000);
      const owner = `0x${where.replaceAll(' ', '')}`;
      const made = await Promise.all([1, 2, 3].map(() => accounts.create({ label: 'x', owner, now })));
      const [one = '', two = '', special = ''] = made.map((key) => key?.text);
      await accounts.setLimit(made[2]?.record.id as number, '35/3600s');
      await accounts.close();
      const environment = { ...LIMIT, ...(redis === null ? {} : { REDIS_URL: redis.url }) };
      const limited = await startServe(url, environment, 'serve', '--workers', '2');
      const askWith = (key: string) =>
        fetch(limited.url + V2, { headers: { 'x-api-key': key, connection: 'close' }, keepalive: false });
      try {
        const statuses = await burst(100, (turn) => askWith(turn % 2 === 0 ? one : two));
        expect(statuses).toEqual({ 200: 30, 429: 70 });
        const refused = await askWith(one);
        expect(refused.headers.get('ratelimit-policy')).toBe('"owner";q=30;w=3600');
        expect(((await refused.json()) as { detail: string }).detail).toContain('all API keys of this wallet');
        // A key with a limit of its own has a window of its own.
        expect(await burst(60, () => askWith(special))).toEqual({ 200: 35, 429: 25 });
      } finally {
        await limited.stop();
        await redis?.kill();
      }
    });
});

describe('delegations keys', () => {
  test('creates, lists, rotates and revokes; the key alone is on standard output', async () => {
    const created = await keys('create', '--label', 'mint site', '--expires', '365');
    expect(created.text).toMatch(/^dk_[0-9A-Za-z]{36}$/);
    expect(created.stderr).toContain('it will not be shown again');
    const id = Number(/Key (\d+)/.exec(created.stderr)?.[1]);
    const listed = await keys('list');
    expect(listed.text).toMatch(
      new RegExp(`\\n?${id} +${created.text.slice(0, 8)}… +mint site +operator +.* active until `),
    );
    const rotated = await keys('rotate', String(id), '--overlap', '1');
    expect(rotated.text).toMatch(/^dk_/);
    for (const key of [created.text, rotated.text]) {
      expect((await ask(newcomer(), V2, { 'x-api-key': key })).status).toBe(200);
    }
    expect((await keys('revoke', String(id))).code).toBe(0);
    for (const [args, why] of [
      [['revoke', String(id)], 'No active key'],
      [['revoke'], 'Missing key id'],
      [['create'], '--label is missing'],
      [['create', '--label', 'x', '--expires', '0'], 'at least 1 day'],
      [['destroy'], 'Unknown action: destroy'],
      [['list', '3'], 'Unexpected argument: 3'],
    ] as const) {
      const { code, text, stderr } = await keys(...args);
      expect([code, text]).toEqual([2, '']);
      expect(stderr).toContain(why);
    }
  });

  test('lists 2,500 keys in pages: one JSON array, every key in the table', async () => {
    const many = `sqlite:${temporaryPath('many-keys.db')}`;
    await (await openStore(many)).close();
    await (await openAccounts(many)).close();
    await insertKeys(many, '0xmany', 2500, { createdAt: 1, revokedAt: null });
    const list = async (...args: string[]) =>
      (await runCommand(['keys', 'list', ...args], { DATABASE_URL: many })).stdout;
    const ids = (JSON.parse(await list('--json')) as { id: number }[]).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 2500 }, (_, turn) => 2500 - turn));
    expect((await list()).match(/^\d+ +dk_/gm)).toHaveLength(2500);
  });
});
