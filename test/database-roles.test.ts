// Followers and APIs as guests of PostgreSQL: few connections, each with a name, and a quiet log while the server is away.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { eventually } from './support/eventually.ts';
import { type LiveChain, liveChain, settingsOf } from './support/live-chain.ts';
import { type PostgresServer, startPostgres } from './support/postgres.ts';
import { PROGRAM } from './support/serve-process.ts';

let server: PostgresServer;
let live: LiveChain;
beforeAll(async () => {
  server = await startPostgres();
  live = liveChain(60);
});
afterAll(async () => {
  await live.stop();
  await server.stop();
});

interface Role {
  /** Its output and its errors. */
  readonly logged: () => string[];
  stop(): Promise<void>;
}

const running = new Set<Role>();
afterEach(async () => {
  for (const role of running) await role.stop();
});

function start(command: 'follow' | 'api', databaseUrl: string, more: Record<string, string> = {}): Role {
  const environment = { DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: '0', ANONYMOUS_LIMIT: 'off' };
  const child = Bun.spawn([...PROGRAM, command], {
    env: { ...process.env, ...environment, ...settingsOf(live.url), ...more },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let text = '';
  const reading = [child.stdout, child.stderr].map(async (stream) => {
    for await (const chunk of stream) text += new TextDecoder().decode(chunk);
  });
  const role: Role = {
    logged: () => text.split('\n').filter((line) => line !== ''),
    async stop() {
      running.delete(role);
      child.kill('SIGTERM');
      await Promise.all([...reading, child.exited]);
    },
  };
  running.add(role);
  return role;
}

const says = (role: Role, message: string) => role.logged().filter((line) => line.includes(`"message":"${message}`));

describe('two followers and two APIs', () => {
  test('hold few connections while idle, each named after its role', async () => {
    const database = await server.createDatabase();
    const follower = start('follow', database);
    await eventually('followed', async () => says(follower, 'lease acquired').length > 0);
    start('follow', database);
    const apis = [start('api', database), start('api', database)];
    const urls = await eventually('listening', async () => {
      const found = apis.flatMap((api) => says(api, 'listening')).map((line) => String(JSON.parse(line).url));
      return found.length === 2 && found;
    });
    // Busy first: without an idle timeout, the pools would stay as large as they were here.
    await Promise.all(urls.flatMap((url) => Array.from({ length: 40 }, () => fetch(`${url}/networks`))));
    const admin = new SQL(database, { max: 1, connection: { application_name: 'test' } });
    const held = async () => {
      const rows = await admin`SELECT application_name AS name, count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND application_name <> 'test' GROUP BY 1 ORDER BY 1`;
      return Object.fromEntries(rows.map(({ name, count }: { name: string; count: number }) => [name, count]));
    };
    const names = Object.keys(await held());
    expect(names.filter((name) => !/^delegations-(api|follower|accounts)$/.test(name))).toEqual([]);
    // One that polls and one that listens, for each of the four.
    const idle = await eventually('idle', async () => {
      const found = await held();
      const all = Object.values(found).reduce((sum, count) => sum + count, 0);
      return all <= 10 && found;
    });
    expect(Object.keys(idle)).toContain('delegations-api');
    expect(Object.keys(idle)).toContain('delegations-follower');
    await admin.close();
  });

  test('open no more connections than DATABASE_POOL', async () => {
    const database = await server.createDatabase();
    const api = start('api', database, { DATABASE_POOL: '2' });
    const { url, metrics } = await eventually('listening', async () => {
      const [line] = says(api, 'listening');
      return line !== undefined && (JSON.parse(line) as { url: string; metrics: string });
    });
    const admin = new SQL(database, { max: 1, connection: { application_name: 'test' } });
    const counts: number[] = [];
    const load = Promise.all(Array.from({ length: 200 }, () => fetch(`${url}/networks`).then((one) => one.text())));
    for (let turn = 0; turn < 10; turn++) {
      const [row] = await admin`SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'delegations-api'`;
      counts.push(row.count);
    }
    await load;
    // Two, and one that listens.
    expect(Math.max(...counts)).toBeGreaterThan(0);
    expect(Math.max(...counts)).toBeLessThanOrEqual(3);
    const text = await (await fetch(metrics)).text();
    expect(text).toContain('delegations_database_pool_size{process="api"} 2\n');
    expect(text).toMatch(/^delegations_database_pool_in_use\{process="api"\} [0-2]$/m);
    expect(text).toMatch(/^delegations_database_pool_waiting\{process="api"\} \d+$/m);
    await admin.close();
  });
});

test('while the database is away, every line is JSON, and no follower says that another one has the lease', async () => {
  const own = await startPostgres();
  const database = await own.createDatabase();
  const [follower, api] = [start('follow', database), start('api', database)];
  await eventually('followed', async () => says(follower, 'lease acquired').length > 0);
  await eventually('listening', async () => says(api, 'listening').length > 0);
  for (let turn = 0; turn < 2; turn++) await own.restart();
  await own.stop();
  // The 1st, 2nd and 4th failure in a row are logged: the driver and the follower have tried again and again by then.
  const timesOf = (line: string) => (JSON.parse(line) as { times: number }).times;
  await eventually('noticed', async () => says(api, 'internal error').length > 0);
  await eventually('tried again', async () => says(follower, 'follower error').map(timesOf).includes(4));
  const roles = [follower, api];
  for (const role of roles) await role.stop();
  const lines = roles.flatMap((role) => role.logged());
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  expect(lines.filter((line) => line.includes('standing by'))).toEqual([]);
});
