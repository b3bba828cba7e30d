// Tests that database errors become a StoreError that says whether the database is unavailable, and why.

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { troubleOf } from '../src/chain/rpc/errors.ts';
import type { Engine, WriteTransaction } from '../src/store/engine.ts';
import { openEngine } from '../src/store/open.ts';
import { placeOf } from '../src/store/postgres.ts';
import { failure } from './support/chain.ts';
import { temporaryPath } from './support/engines.ts';
import { postgresDatabase } from './support/postgres-database.ts';

const TABLE = 'CREATE TABLE notes (text TEXT)';
const INSERT = 'INSERT INTO notes VALUES ($1)';

/** Runs the work on a database with one table. */
async function inDatabase(url: string, check: (engine: Engine) => Promise<void>) {
  const engine = await openEngine(url, {});
  try {
    await engine.transaction(async (tx) => tx.run(TABLE, []));
    await check(engine);
  } finally {
    await engine.close();
  }
}

const asked = async (engine: Engine, sql: string) => engine.rows(sql, []);
const inTransaction = (engine: Engine, work: (tx: WriteTransaction) => unknown) =>
  failure(engine.transaction(async (tx) => void (await work(tx))));
const rowsIn = async (engine: Engine) => Number((await asked(engine, 'SELECT count(*) FROM notes'))[0]?.[0]);

test('SQLite: on a full disk the error is unavailable, the transaction is rolled back, and later writes succeed', async () => {
  await inDatabase(`sqlite:${temporaryPath('full.db')}`, async (engine) => {
    const error = await inTransaction(engine, async (tx) => {
      await tx.rows('PRAGMA max_page_count = 4', []);
      for (let count = 0; count < 100; count++) await tx.run(INSERT, ['x'.repeat(1000)]);
    });
    expect(error).toMatchObject({ name: 'StoreError', code: 'unavailable' });
    expect(error.message).toContain('database or disk is full');
    expect(troubleOf(error)).toBe('database-full');
    expect(await rowsIn(engine)).toBe(0);
    await engine.transaction(async (tx) => {
      await tx.rows('PRAGMA max_page_count = 1000', []);
      await tx.run(INSERT, ['fits']);
    });
    expect(await rowsIn(engine)).toBe(1);
  });
});

test('SQLite: a read-only database is unavailable', async () => {
  await inDatabase(`sqlite:${temporaryPath('read-only.db')}`, async (engine) => {
    const error = await inTransaction(engine, async (tx) => {
      await tx.run('PRAGMA query_only = ON', []);
      await tx.run(INSERT, ['x']);
    });
    expect(error).toMatchObject({ name: 'StoreError', code: 'unavailable' });
    expect(error.message).toContain('readonly database');
  });
});

test('SQLite: a timeout on the write lock of another connection is unavailable', async () => {
  const path = temporaryPath('locked.db');
  await inDatabase(`sqlite:${path}`, async (engine) => {
    const lock = new Database(path);
    lock.run('BEGIN IMMEDIATE');
    const error = await inTransaction(engine, (tx) => tx.run(INSERT, ['x']));
    expect(error).toMatchObject({ name: 'StoreError', code: 'unavailable' });
    expect(error.message).toContain('database is locked');
    lock.run('ROLLBACK');
    lock.close();
    await engine.transaction(async (tx) => tx.run(INSERT, ['x']));
  });
});

test('SQLite: a corrupt file and an invalid statement are failed', async () => {
  const path = temporaryPath('damaged.db');
  await inDatabase(`sqlite:${path}`, async (engine) => {
    await engine.transaction(async (tx) => {
      for (let count = 0; count < 100; count++) await tx.run(INSERT, ['x'.repeat(1000)]);
    });
    expect(await failure(asked(engine, 'SELECT nothing FROM notes'))).toMatchObject({
      name: 'StoreError',
      code: 'failed',
    });
  });
  const file = openSync(path, 'r+');
  // Everything except the first page.
  const rest = new Uint8Array(statSync(path).size - 4096).fill(7);
  writeSync(file, rest, 0, rest.length, 4096);
  closeSync(file);
  const engine = await openEngine(`sqlite:${path}`, {});
  const error = await failure(asked(engine, 'SELECT count(*) FROM notes'));
  expect(error).toMatchObject({ name: 'StoreError', code: 'failed' });
  expect(error.message).toContain('malformed');
  await engine.close();
});

test('PostgreSQL: a missing permission and a read-only transaction are unavailable', async () => {
  const url = await postgresDatabase();
  await inDatabase(url, async (engine) => {
    const role = `guest_${new URL(url).pathname.slice(1)}`;
    await engine.transaction(async (tx) => {
      await tx.run(`CREATE ROLE ${role} LOGIN`, []);
      await tx.run(`REVOKE ALL ON notes FROM ${role}`, []);
    });
    const guest = await openEngine(url.replace('postgres@', `${role}@`), {});
    for (const error of [
      await failure(asked(guest, 'SELECT text FROM notes')),
      await inTransaction(guest, (tx) => tx.run(INSERT, ['x'])),
    ]) {
      expect(error).toMatchObject({ name: 'StoreError', code: 'unavailable' });
      expect(error.message).toContain('permission denied for table notes');
    }
    await guest.close();
    const error = await inTransaction(engine, async (tx) => {
      await tx.run('SET TRANSACTION READ ONLY', []);
      await tx.run(INSERT, ['x']);
    });
    expect(error).toMatchObject({ name: 'StoreError', code: 'unavailable' });
    expect(error.message).toContain('read-only transaction');
  });
});

test('PostgreSQL: the SQLSTATE code decides whether it is unavailable, at any timeout', async () => {
  await inDatabase(await postgresDatabase(), async (engine) => {
    const raise = (code: string) =>
      `DO $$ BEGIN RAISE EXCEPTION 'the reason of ${code}' USING ERRCODE = '${code}'; END $$`;
    const codes = {
      // Disk full, out of memory, shutdown, deadlock, serialization failure, I/O error.
      unavailable: ['53100', '53200', '57P01', '40P01', '40001', '58030'],
      // Duplicate key, syntax error, corrupt index, internal error.
      failed: ['23505', '42601', 'XX002', 'XX000'],
    };
    for (const [code, states] of Object.entries(codes)) {
      for (const state of states) {
        const errors = [await failure(asked(engine, raise(state)))];
        for (const timeout of ['short', 'long', 'none'] as const) {
          errors.push(await failure(engine.transaction(async (tx) => tx.run(raise(state), []), timeout)));
        }
        for (const error of errors) {
          expect(error).toMatchObject({ name: 'StoreError', code });
          expect(error.message).toContain(`the reason of ${state}`);
        }
      }
    }
  });
});

test('an error thrown inside a transaction is rethrown unchanged', async () => {
  for (const url of [`sqlite:${temporaryPath('own.db')}`, await postgresDatabase()]) {
    await inDatabase(url, async (engine) => {
      const own = new RangeError('my own');
      expect(await engine.transaction(() => Promise.reject(own)).catch((error) => error)).toBe(own);
    });
  }
});

test('PostgreSQL: a URL leads to port 5432 of this machine unless it says more', () => {
  const [local, other] = [
    { where: 'localhost:5432', host: 'localhost', port: 5432 },
    { where: '[::1]:5433', host: '::1', port: 5433 },
  ];
  expect([placeOf('postgres:///delegations'), placeOf('postgres://user@[::1]:5433/delegations')]).toEqual([
    local,
    other,
  ]);
});
