import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { ENGINES, temporaryPath } from '../../test/support/engines.ts';
import { NEXT_MIGRATION } from '../../test/support/next-schema.ts';
import { runSql } from '../../test/support/run-sql.ts';
import { StoreError } from './errors.ts';
import { type MigrationStep, migrateTables } from './migrate.ts';
import { openEngine, openStore } from './open.ts';
import { STORE_SCHEMA } from './schema.ts';

const SCHEMA_VERSION = STORE_SCHEMA.migrations.length;

const codeOf = async (opening: Promise<unknown>): Promise<[string, string]> => {
  const error = await opening.then(
    () => null,
    (cause) => cause,
  );
  expect(error).toBeInstanceOf(StoreError);
  return [error.code, error.message];
};

for (const engine of ENGINES) {
  describe(`the schema on ${engine.name}`, () => {
    test('a store of a newer program is refused by writers and readers, and left alone', async () => {
      const url = await engine.fresh();
      await (await openStore(url)).close();
      await runSql(url, `UPDATE schema_version SET version = ${SCHEMA_VERSION + 1}`);
      for (const readOnly of [false, true]) {
        const [code, message] = await codeOf(openStore(url, { readOnly }));
        expect(code).toBe('newer-schema');
        expect(message).toContain(`schema ${SCHEMA_VERSION + 1}`);
        expect(message).toContain('Upgrade the program');
      }
      await runSql(url, `UPDATE schema_version SET version = ${SCHEMA_VERSION}`);
      await (await openStore(url)).close();
    });

    test('a migration that fails leaves nothing behind, and says what stood in its way', async () => {
      const url = await engine.fresh();
      await runSql(url, 'CREATE TABLE span (something INTEGER)');
      const error = await openStore(url).then(
        () => null,
        (cause) => cause,
      );
      expect(error).toBeInstanceOf(StoreError);
      expect(error.code).toBe('bad-store');
      expect(error.message).toContain('span');
      await runSql(url, 'DROP TABLE span');
      await (await openStore(url)).close();
    });

    test('what was opened for reading cannot be written', async () => {
      const url = await engine.fresh();
      await (await openStore(url)).close();
      const reader = await openStore(url, { readOnly: true });
      expect((await codeOf(reader.claim(1, 1)))[0]).toBe('bad-store');
      expect(await reader.chain(1)).toBeNull();
      await reader.close();
      const opened = await openEngine(url, { readOnly: true });
      const writing = async () => opened.rows('UPDATE schema_version SET version = 0', []);
      expect((await codeOf(writing()))[0]).toBe('unavailable');
      await opened.close();
    });

    test('a store that several processes open at once is migrated once', async () => {
      const url = await engine.fresh();
      await (await openStore(url)).close();
      const later = { ...STORE_SCHEMA, migrations: [...STORE_SCHEMA.migrations, NEXT_MIGRATION] };
      const told: MigrationStep[] = [];
      const migrating = async () => {
        const opened = await openEngine(url, {});
        await migrateTables(opened, later, (step) => void told.push(step));
        await opened.close();
      };
      await Promise.all([1, 2, 3].map(migrating));
      expect(told.map(({ from, to, step, steps }) => [from, to, step, steps])).toEqual([
        [SCHEMA_VERSION, SCHEMA_VERSION + 1, 1, 2],
        [SCHEMA_VERSION, SCHEMA_VERSION + 1, 2, 2],
      ]);
      expect(await runSql(url, 'SELECT version FROM schema_version')).toEqual([{ version: SCHEMA_VERSION + 1 }]);
      expect((await codeOf(openStore(url)))[0]).toBe('newer-schema');
    });

    test('new tables are made by several processes at once', async () => {
      const url = await engine.fresh();
      const stores = await Promise.all([1, 2, 3].map(() => openStore(url)));
      expect(new Set(stores.map(({ id }) => id)).size).toBe(1);
      for (const store of stores) await store.close();
    });
  });
}

describe('a store that cannot be opened', () => {
  test('a reader of a store without tables fails and says what to do', async () => {
    const path = temporaryPath('empty.db');
    new Database(path).run('PRAGMA journal_mode = WAL');
    expect(await codeOf(openStore(`sqlite:${path}`, { readOnly: true }))).toEqual([
      'older-schema',
      'The store has no tables yet. Start the follower once to create them.',
    ]);
  });

  test('a file that is no database is named', async () => {
    const path = temporaryPath('text.db');
    writeFileSync(path, 'this is a text, and long enough to be read as the header of something else entirely');
    const [code, message] = await codeOf(openStore(`sqlite:${path}`));
    expect(code).toBe('bad-store');
    expect(message).toContain(path);
    expect((await codeOf(openStore(`sqlite:${temporaryPath('absent.db')}`, { readOnly: true })))[0]).toBe('bad-store');
  });

  test('an unknown kind of URL is refused without repeating it', async () => {
    const [code, message] = await codeOf(openStore('mysql://user:secret@host/db'));
    expect(code).toBe('bad-store');
    expect(message).not.toContain('secret');
    expect(message).toContain('sqlite:./data/delegations.db');
  });

  test('a store in memory, which no other connection could see, is refused', async () => {
    expect((await codeOf(openStore('sqlite::memory:')))[0]).toBe('bad-store');
  });

  test('what is asked of a closed store is an error that says so', async () => {
    const store = await openStore(`sqlite:${temporaryPath('closed.db')}`);
    await store.close();
    expect((await codeOf(store.claim(1, 1)))[1]).toContain('closed');
  });

  test('a PostgreSQL that does not answer is an error without its password', async () => {
    const [code, message] = await codeOf(openStore('postgres://user:secret@127.0.0.1:1/db'));
    expect(code).toBe('bad-store');
    expect(message).not.toContain('secret');
  });
});
