// Runs several workers on one port with one rate limit, and restarts those that die.

import { describe, expect, test } from 'bun:test';
import { openAccounts } from '../src/accounts/accounts.ts';
import { openStore } from '../src/store/open.ts';
import { ENGINES, temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { block, COLD, granted, HOT } from './support/fixtures.ts';
import { childrenOf, isAlive } from './support/processes.ts';
import { startRedis } from './support/redis.ts';
import { fatalIn, metric, runCommand, type ServeProcess, startServe } from './support/serve-process.ts';

const LIMITED = { ANONYMOUS_LIMIT: '25/10s', MAX_LAG_1: '600' };
const UNLIMITED = { ...LIMITED, ANONYMOUS_LIMIT: 'off' };
const PATH = `/registry/v2/check/all?to=${HOT}&from=${COLD}`;

/** Creates a store with data and returns its URL. */
async function filled(database: string): Promise<string> {
  const store = await openStore(database);
  const { epoch } = await store.claim(1, 100);
  const head = { ...block(101, [granted('ALL')]), timestamp: Math.floor(Date.now() / 1000) };
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  await store.close();
  return database;
}

/** Uses a new connection, so that the kernel spreads requests over the workers. */
const ask = (url: string, headers: Record<string, string> = {}) =>
  fetch(url + PATH, { headers: { ...headers, connection: 'close' }, keepalive: false });

async function burst(
  urls: readonly string[],
  count: number,
  { atOnce = count, client = '192.0.2.1' } = {},
): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  let turn = 0;
  const lane = async () => {
    while (turn < count) {
      const { status } = await ask(urls[turn++ % urls.length] as string, { 'x-forwarded-for': client });
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return statuses;
}

describe('serve --workers', () => {
  test('two workers on one port share one limit: 25 of a burst of 200 are accepted', async () => {
    const database = await filled(`sqlite:${temporaryPath('workers.db')}`);
    const served = await startServe(database, LIMITED, 'serve', '--workers', '2');
    expect(served.listening['workers']).toBe(2);
    const statuses = await burst([served.url], 200);
    console.log('two workers, a burst of 200:', JSON.stringify(statuses));
    // Both workers answered, and the metrics have the sum.
    await eventually('counted', async () => {
      const text = await (await fetch(served.metricsUrl)).text();
      return text.includes(`route="/registry/v2/check/all",status="429"} ${statuses[429]}`);
    });
    // A worker that waits too long for the parent, on a busy machine, decides alone and counts it.
    const alone = await metric(served, 'delegations_limiter_fallback_total');
    expect(Object.keys(statuses)).toEqual(['200', '429']);
    expect(statuses[200]).toBeWithin(25, 25 + alone + 1);
    expect(await metric(served, 'delegations_workers')).toBe(2);
    const metrics = await (await fetch(served.metricsUrl)).text();
    for (const name of ['parent', 'worker-1', 'worker-2'])
      expect(metrics).toMatch(new RegExp(`^process_resident_memory_bytes\\{process="${name}"\\} [1-9]`, 'm'));
    expect(await served.stop()).toBe(0);
  });

  test('each question of a batch counts as a request, whole batches or none, on every worker', async () => {
    const database = await filled(`sqlite:${temporaryPath('batches.db')}`);
    const served = await startServe(database, LIMITED, 'serve', '--workers', '2');
    const question = { check: 'all', from: COLD, to: HOT };
    const send = (count: number) =>
      fetch(`${served.url}/registry/any/check`, {
        method: 'POST',
        body: JSON.stringify({ questions: Array.from({ length: count }, () => question) }),
        headers: { 'content-type': 'application/json', connection: 'close' },
        keepalive: false,
      });
    const never = await send(26);
    expect([never.status, ((await never.json()) as { detail: string }).detail]).toEqual([
      413,
      'Too many questions: each counts as a request, and at most 25 are allowed in any 10 seconds. Send at most 25 in a batch. Requests with an API key are not limited: see /developers.',
    ]);
    // That counted as one request, and so does each batch that does not fit: 1 + 3 × 7 + 3.
    const statuses: number[] = [];
    for (let turn = 0; turn < 8; turn++) statuses.push((await send(7)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    expect((await ask(served.url)).status).toBe(429);
    await served.stop();
  });

  for (const { name, fresh } of ENGINES) {
    test(`on ${name}: a revoked key soon stops working on every worker`, async () => {
      const database = await filled(await fresh());
      const accounts = await openAccounts(database);
      const now = Math.floor(Date.now() / 1000);
      const key = await accounts.create({ label: 'one', now });
      const served = await startServe(database, UNLIMITED, 'serve', '--workers', '2');
      const headers = { 'x-api-key': key?.text ?? '' };
      const many = async () => {
        const all = await Promise.all(Array.from({ length: 60 }, () => ask(served.url, headers)));
        return [...new Set(all.map(({ status }) => status))].sort();
      };
      expect(await many()).toEqual([200]);
      await accounts.revoke(key?.record.id ?? 0, now);
      const seen = new Set<number>();
      await eventually('refused', async () => {
        const statuses = await many();
        for (const status of statuses) seen.add(status);
        return !statuses.includes(200);
      });
      expect([await many(), [...seen].sort()]).toEqual([[401], [200, 401]]);
      await accounts.close();
      await served.stop();
    });
  }

  test('a killed worker and a frozen worker are replaced, and no worker outlives the parent', async () => {
    const database = await filled(`sqlite:${temporaryPath('replaced.db')}`);
    const served = await startServe(database, UNLIMITED, 'serve', '--workers', '2');
    const [first = 0, second = 0] = await childrenOf(served.pid);
    process.kill(first, 'SIGKILL');
    const answered = async () => {
      const all = await Promise.all(Array.from({ length: 20 }, () => ask(served.url)));
      return all.every(({ status }) => status === 200);
    };
    // The other worker answers in the meantime.
    await eventually('answered', answered);
    const isReplaced = (gone: number) => async () => {
      const now = await childrenOf(served.pid);
      return now.length === 2 && !now.includes(gone) && (await metric(served, 'delegations_workers')) === 2;
    };
    await eventually('a killed worker is replaced', isReplaced(first));
    process.kill(second, 'SIGSTOP');
    await eventually('a frozen worker is replaced', isReplaced(second));
    await eventually('answered', answered);
    expect(await metric(served, 'delegations_worker_restarts_total')).toBe(2);
    const workers = await childrenOf(served.pid);
    process.kill(served.pid, 'SIGKILL');
    await eventually('ended', async () => workers.every((pid) => !isAlive(pid)));
  });

  test('a worker that keeps dying keeps being restarted', async () => {
    const database = await filled(`sqlite:${temporaryPath('over.db')}`);
    const served = await startServe(database, UNLIMITED, 'serve', '--workers', '2');
    const [, steady = 0] = await childrenOf(served.pid);
    for (let death = 0; death < 4; death++) {
      const [victim = 0] = (await childrenOf(served.pid)).filter((pid) => pid !== steady);
      process.kill(victim, 'SIGKILL');
      await eventually('started again', async () => {
        const now = await childrenOf(served.pid);
        // A killed process is listed until its parent has noticed.
        return now.length === 2 && !now.includes(victim);
      });
    }
    // The backoff is now longer than the unresponsive timeout: a restarting worker must not count as frozen.
    const last = await childrenOf(served.pid);
    await Bun.sleep(3000);
    expect(await childrenOf(served.pid)).toEqual(last);
    await served.stop();
  });

  for (const [what, freeze] of [
    ['Ctrl-C, which signals all processes at once', false],
    ['a stop while a worker is frozen', true],
  ] as const) {
    test(`${what}: all processes exit, and none is restarted`, async () => {
      const database = await filled(`sqlite:${temporaryPath('stopped.db')}`);
      // It drains for longer than the test waits.
      const environment = { ...LIMITED, DRAIN_TIMEOUT: '600' };
      const served = await startServe(database, environment, 'serve', '--workers', '2');
      const workers = await childrenOf(served.pid);
      if (freeze) process.kill(workers[0] as number, 'SIGSTOP');
      else for (const pid of workers) process.kill(pid, 'SIGINT');
      process.kill(served.pid, freeze ? 'SIGTERM' : 'SIGINT');
      await eventually('ended', async () => [served.pid, ...workers].every((pid) => !isAlive(pid)));
      for await (const line of served.lines) expect(line['message']).not.toContain('restarting');
      expect(await served.stop()).toBe(0);
    });
  }

  test('a worker that is started directly exits with an error', async () => {
    const { code, stderr } = await runCommand(['worker'], { DATABASE_URL: `sqlite:${temporaryPath('alone.db')}` });
    expect([code, stderr]).toEqual([2, expect.stringContaining('serve --workers')]);
  });

  test('HOST can be an IPv6 address', async () => {
    const database = await filled(`sqlite:${temporaryPath('six.db')}`);
    for (const workers of ['1', '2']) {
      const served = await startServe(database, { ...LIMITED, HOST: '::1' }, 'serve', '--workers', workers);
      expect(served.url).toStartWith('http://[::1]:');
      expect((await ask(served.url)).status).toBe(200);
      await served.stop();
    }
  });

  test('a port in use and an invalid --workers are errors', async () => {
    const database = await filled(`sqlite:${temporaryPath('taken.db')}`);
    const served = await startServe(database, LIMITED, 'serve', '--workers', '2');
    const environment = {
      DATABASE_URL: database,
      HOST: '127.0.0.1',
      PORT: new URL(served.url).port,
      METRICS_PORT: '0',
    };
    for (const args of [['serve'], ['serve', '--workers', '2']]) {
      const { code, stdout } = await runCommand(args, environment);
      expect([code, fatalIn(stdout)]).toEqual([
        2,
        expect.stringContaining(`PORT=${environment.PORT}: the port is already in use`),
      ]);
    }
    const refused = await runCommand(['serve', '--workers', '0'], environment);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--workers')]);
    await served.stop();
  });
});

describe('REDIS_URL', () => {
  test('two replicas of two workers share one limit: 25 of a burst of 200 are accepted', async () => {
    const redis = await startRedis();
    const database = await filled(await (ENGINES[1] as (typeof ENGINES)[1]).fresh());
    const environment = { ...LIMITED, REDIS_URL: redis.url, TRUSTED_PROXIES: '127.0.0.1' };
    const replicas = await Promise.all([
      startServe(database, environment, 'api', '--workers', '2'),
      startServe(database, environment, 'api', '--workers', '2'),
    ]);
    const urls = replicas.map(({ url }) => url);
    // Redis gets half a second per request: in a burst on a busy machine, some requests would be answered without it.
    const statuses = await burst(urls, 200, { atOnce: 20 });
    console.log('two replicas of two workers, a burst of 200:', JSON.stringify(statuses));
    expect(statuses).toEqual({ 200: 25, 429: 175 });
    const [one] = replicas as [ServeProcess, ServeProcess];
    await eventually('reported', async () => (await metric(one, 'delegations_limiter_shared')) === 1);

    // Without Redis each replica has one limit for its own workers, and reports it.
    await redis.kill();
    const alone = await burst(urls, 200, { atOnce: 20, client: '192.0.2.2' });
    console.log('and while Redis is unreachable:', JSON.stringify(alone));
    expect(alone).toEqual({ 200: 50, 429: 150 });
    await eventually('reported', async () => (await metric(one, 'delegations_limiter_shared')) === 0);
    await eventually('counted', async () => (await metric(one, 'delegations_limiter_fallback_total')) > 0);
    for (const replica of replicas) await replica.stop();
  });
});
