// The snapshot that the reads of one turn of the event loop share.

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { temporaryPath } from '../../test/support/engines.ts';
import type { Engine } from './engine.ts';
import { openSqlite } from './sqlite.ts';

/** Pages that may be in the file beside the database. */
const WAL_LIMIT = 16_000 * 4096;

describe('the snapshot of a turn of the event loop', () => {
  const path = temporaryPath('numbers.db');
  let engine: Engine;
  const largest = async (one: Engine) => (await one.rows('SELECT max(value) FROM numbers', []))[0]?.[0];
  const add = (value: number) =>
    engine.transaction(async (tx) => tx.run('INSERT INTO numbers (value) VALUES ($1)', [value]));

  beforeAll(async () => {
    engine = openSqlite(path);
    await engine.transaction(async (tx) => tx.run('CREATE TABLE numbers (value INTEGER, filler BLOB)', []));
  });
  afterAll(() => engine.close());

  test('ends with a commit of this process, whoever reads', async () => {
    const other = openSqlite(path, { readOnly: true });
    for (let value = 1; value <= 3; value++) {
      await add(value);
      expect([await largest(engine), await largest(other)]).toEqual([value, value]);
    }
    await other.close();
  });

  test('ends with the turn: the next one sees what another process committed', async () => {
    const other = new Database(path);
    const before = await largest(engine);
    other.run('INSERT INTO numbers (value) VALUES (1000)');
    expect(await largest(engine)).toBeOneOf([before, 1000]);
    await new Promise(setImmediate);
    expect(await largest(engine)).toBe(1000);
    other.close();
  });

  test('is taken again after a millisecond, even if the turn does not end', async () => {
    const other = new Database(path);
    await largest(engine);
    other.run('INSERT INTO numbers (value) VALUES (2000)');
    other.close();
    const began = performance.now();
    while ((await largest(engine)) !== 2000 && performance.now() - began < 1000);
    expect(await largest(engine)).toBe(2000);
  });

  test('of a busy reader does not keep the log of changes from being emptied', async () => {
    const filler = new Uint8Array(1 << 20);
    for (let turn = 0; turn < 200; turn++) {
      await largest(engine);
      await engine.transaction(async (tx) => {
        tx.run('DELETE FROM numbers WHERE filler IS NOT NULL', []);
        tx.run('INSERT INTO numbers (value, filler) VALUES (0, $1)', [filler]);
        await largest(engine);
      });
    }
    expect(statSync(`${path}-wal`).size).toBeLessThan(1.2 * WAL_LIMIT);
  });
});
