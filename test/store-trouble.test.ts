// Tests that database errors are reported as such, are not blamed on a provider, and lose nothing.

import { expect, test } from 'bun:test';
import type { NetworkRecord } from '../src/api/responses.ts';
import { Inconsistent, isProviderFault, Lagging, troubleOf, Untrusted, WrongChain } from '../src/chain/rpc/errors.ts';
import { RpcError } from '../src/chain/rpc/rpc.ts';
import { BadLogError } from '../src/registry/event.ts';
import { followChain } from '../src/service/follow-chain.ts';
import { StoreError, type StoreErrorCode } from '../src/store/errors.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { COLD, HOT, timeOf } from './support/fixtures.ts';
import { postgresDatabase } from './support/postgres-database.ts';
import { runSql } from './support/run-sql.ts';
import { appOf } from './support/serving.ts';
import { MAINNET } from './support/vectors.ts';
import { createWorld, FIRST, type World } from './support/world.ts';

/** Follows a chain; ticks must fail with this message while the store has an error, and recover afterwards. */
async function survives(url: string, reason: string, trouble: () => Promise<() => Promise<void>>) {
  const store = await openStore(url);
  const world: World = await createWorld({ nodes: 2, sharedStore: store });
  try {
    await world.rest();
    const end = await trouble();
    world.grow(2);
    const before = await store.chain(1);
    const error = await world.one.follower.tick().catch((thrown) => thrown);
    expect(error).toMatchObject({ name: 'StoreError', code: 'unavailable' });
    expect(error.message).toContain(reason);
    expect(world.one.providers.all.map(({ penalty, failure }) => ({ penalty, failure }))).toEqual([
      { penalty: 0, failure: null },
      { penalty: 0, failure: null },
    ]);
    expect(await store.chain(1)).toEqual(before);
    await end();
    await world.rest();
    expect(await world.expectRight()).toBeNull();
  } finally {
    await world.close();
    await store.close();
  }
}

test('SQLite: recovers after another process held the write lock', async () => {
  const path = temporaryPath('locked.db');
  await survives(`sqlite:${path}`, 'database is locked', async () => {
    const script = `
      const { Database } = require('bun:sqlite');
      const lock = new Database(${JSON.stringify(path)});
      lock.run('BEGIN IMMEDIATE');
      console.log('locked');
      setInterval(() => {}, 1000);`;
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' });
    await child.stdout.getReader().read();
    return async () => {
      child.kill();
      await child.exited;
    };
  });
});

test('PostgreSQL: recovers after its role could not write', async () => {
  const url = await postgresDatabase();
  const role = `follower_${new URL(url).pathname.slice(1)}`;
  const all = (what: string) => `ALL ON ALL ${what} IN SCHEMA public`;
  await runSql(url, `CREATE ROLE ${role} LOGIN`);
  await runSql(url, `GRANT ALL ON SCHEMA public TO ${role}`);
  await (await openStore(url)).close();
  await runSql(url, `GRANT ${all('TABLES')} TO ${role}`);
  await runSql(url, `GRANT ${all('SEQUENCES')} TO ${role}`);
  await survives(url.replace('postgres@', `${role}@`), 'permission denied for table', async () => {
    await runSql(url, `REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public FROM ${role}`);
    return async () => void (await runSql(url, `GRANT ${all('TABLES')} TO ${role}`));
  });
});

test('PostgreSQL: an unavailable database is a 503 with Retry-After, a broken one a 500, and the log has the cause', async () => {
  const url = await postgresDatabase();
  const role = `api_${new URL(url).pathname.slice(1)}`;
  await (await openStore(url)).close();
  await runSql(url, `CREATE ROLE ${role} LOGIN`);
  const grant = `SELECT ON ALL TABLES IN SCHEMA public`;
  await runSql(url, `GRANT ${grant} TO ${role}`);
  const reader = await openStore(url.replace('postgres@', `${role}@`), { readOnly: true });
  const errors: unknown[] = [];
  const api = appOf(reader, timeOf(106), { onError: (error) => errors.push(error) });
  const asked = async () => {
    const answer = await api.fetch(new Request(`http://localhost/registry/v2/check/all?to=${HOT}&from=${COLD}`));
    const { type, detail } = (await answer.json()) as { type: string; detail: string };
    // The database's message belongs in the log only: it may contain internal names.
    expect(detail).not.toContain('permission');
    return [answer.status, type, answer.headers.get('retry-after')];
  };
  await runSql(url, `REVOKE ${grant} FROM ${role}`);
  expect(await asked()).toEqual([503, '/docs#problem-not-ready', '5']);
  await runSql(url, `GRANT ${grant} TO ${role}`);
  expect(await asked()).toEqual([503, '/docs#problem-chain-not-ready', '5']);
  await runSql(url, 'DROP TABLE chain CASCADE');
  expect(await asked()).toEqual([500, '/docs#problem-internal', null]);
  expect(errors).toMatchObject([
    { code: 'unavailable', message: expect.stringContaining('permission denied for table') },
    { code: 'failed', message: expect.stringContaining('does not exist') },
  ]);
  await reader.close();
});

test('a provider is blamed only for its own errors and for a batch that the store rejects as invalid', () => {
  const faults = [
    new RpcError('refused', ''),
    new Inconsistent(),
    new Lagging(),
    new Untrusted(''),
    new WrongChain(5),
    new BadLogError(''),
    new StoreError('bad-commit', ''),
  ];
  expect(faults.filter((error) => !isProviderFault(error))).toEqual([]);
  const codes: StoreErrorCode[] = ['unavailable', 'failed', 'bad-store', 'overtaken', 'rewritten', 'revocation-unread'];
  const others = [...codes.map((code) => new StoreError(code, '')), new Error(), new TypeError(), 'text'];
  expect(others.filter(isProviderFault)).toEqual([]);
});

test('while nothing can be written, /networks, /status and the metrics say why and since when', async () => {
  const store = await openStore(`sqlite:${temporaryPath('full.db')}`);
  const world = await createWorld({ blocks: 5 });
  let fault: StoreError | null = null;
  const stopping = new AbortController();
  const failing: Store = {
    ...store,
    apply: async (batch) => {
      if (fault !== null) throw fault;
      return store.apply(batch);
    },
  };
  const chain = { rpcUrls: world.nodes.map(({ url }) => url), startBlock: FIRST, pollMs: 10 };
  const followed = followChain(MAINNET, chain, failing, () => {}, stopping.signal);
  try {
    await eventually('follows', () => followed.status().block !== null);
    expect(followed.status().failing).toBeNull();
    fault = new StoreError('unavailable', 'database or disk is full');
    world.grow(1);
    await eventually('fails', () => (followed.status().failing?.ticks ?? 0) >= 3);
    const app = appOf(store, timeOf(105), { followerStatus: () => [followed.status()] });
    const [network] = (await (await app.fetch(new Request('http://x/networks'))).json()) as [NetworkRecord];
    expect(network.progress?.failing?.cause).toBe('database-full');
    const page = await (await app.fetch(new Request('http://x/status'))).text();
    expect(page).toContain('New blocks cannot be written to the database.');
    expect(page).toMatch(/<dt>Follower fails<\/dt><dd>database-full: \d+ steps since /);
    fault = null;
    await eventually('goes on', () => followed.status().failing === null);
    expect(followed.status().block).toBe(world.chain.at(-1)?.number ?? null);
  } finally {
    stopping.abort();
    await followed.stopped;
    await world.close();
    await store.close();
  }
});

test('a cause that is safe to publish for every error of a follower', () => {
  for (const [error, cause] of [
    [new StoreError('unavailable', 'could not extend file "base/1": No space left on device'), 'database-full'],
    [new StoreError('unavailable', 'connection refused'), 'database-unavailable'],
    [new StoreError('failed', 'no such column'), 'database-failed'],
    [new StoreError('bad-commit', ''), 'providers'],
    [new Lagging(''), 'providers'],
    [new TypeError(''), 'internal'],
  ] as const)
    expect([error.message, troubleOf(error)]).toEqual([error.message, cause]);
});
