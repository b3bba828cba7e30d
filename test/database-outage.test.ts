// Stops, hangs and restarts PostgreSQL: open queries must end, and later ones must succeed.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openEngine } from '../src/store/open.ts';
import { type PostgresServer, startPostgres } from './support/postgres.ts';

let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
});
afterAll(() => server.stop());

const backends = async (pid: number) =>
  (await Bun.file(`/proc/${pid}/task/${pid}/children`).text()).trim().split(' ').map(Number);

/** Milliseconds until the read succeeds again. */
async function untilAnswered(read: () => unknown): Promise<number> {
  const began = performance.now();
  for (;;) {
    try {
      await read();
      return performance.now() - began;
    } catch (error) {
      expect(error).toMatchObject({ code: 'unavailable' });
      if (performance.now() - began > 120_000) throw error;
    }
    await Bun.sleep(50);
  }
}

describe('PostgreSQL', () => {
  test('a query that hangs on a frozen server times out, and the next one uses a new connection', async () => {
    const engine = await openEngine(url, {});
    const read = () => engine.rows('SELECT 1', []);
    await Promise.all(Array.from({ length: 50 }, read));
    const frozen = await backends(server.pid);
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    await expect(read()).rejects.toMatchObject({ code: 'unavailable' });
    await untilAnswered(read);
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
    await engine.close();
  });

  test('the server cancels a slow statement, and the error says so', async () => {
    const engine = await openEngine(url, {});
    await expect(Promise.resolve(engine.rows('SELECT pg_sleep(60)', []))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('timeout'),
    });
    await engine.close();
  });

  test('a client that stalls in a transaction loses it, and others continue', async () => {
    const [engine, other] = [await openEngine(url, {}), await openEngine(url, {})];
    await engine.transaction(async (tx) => void (await tx.run('CREATE TABLE held (n INTEGER)', [])));
    const [locked, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stuck = engine.transaction(async (tx) => {
      await tx.run('LOCK TABLE held', []);
      locked.resolve();
      await written.promise;
      await tx.run('INSERT INTO held VALUES (1)', []);
    });
    stuck.catch(() => {});
    await locked.promise;
    await other.transaction(async (tx) => void (await tx.run('INSERT INTO held VALUES (2)', [])));
    written.resolve();
    await expect(stuck).rejects.toThrow();
    expect(await engine.rows('SELECT n FROM held', [])).toHaveLength(1);
    await Promise.all([engine.close(), other.close()]);
  });

  test('during a restart queries fail only as unavailable; afterwards queries and notifications work again', async () => {
    const [engine, other] = [await openEngine(url, {}), await openEngine(url, {})];
    const heard: string[] = [];
    engine.notices?.subscribe('news', (text) => void heard.push(text));
    const say = async (text: string) => {
      for (let left = 100; left > 0 && !heard.includes(text); left--) {
        await Promise.resolve(other.notices?.publish('news', text)).catch(() => {});
        await Bun.sleep(100);
      }
    };
    await say('one');
    const restarted = server.restart();
    await expect(untilAnswered(() => engine.rows('SELECT 1', []))).resolves.toBeNumber();
    await restarted;
    await untilAnswered(() => engine.rows('SELECT 1', []));
    await say('two');
    expect([...new Set(heard)]).toEqual(['one', 'two']);
    await Promise.all([engine.close(), other.close()]);
  });
});
