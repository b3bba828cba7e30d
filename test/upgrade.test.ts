// A newer version of the program meets the database of an older one, and processes of the older version meet what it made of it.

import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { SQL } from 'bun';
import { openAccounts } from '../src/accounts/accounts.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { StoreError } from '../src/store/errors.ts';
import { fenced, type MigrationStep, migrateTables, type Schema, schemaVersion } from '../src/store/migrate.ts';
import { openEngine, openStore } from '../src/store/open.ts';
import { STORE_SCHEMA } from '../src/store/schema.ts';
import { sqlitePath } from '../src/store/sqlite.ts';
import { ENGINES } from './support/engines.ts';
import { block, COLD, granted, HOT } from './support/fixtures.ts';
import { runSql } from './support/run-sql.ts';
import { LOCAL, runCommand, SOURCE, startListening, startServe } from './support/serve-process.ts';

/** Of the store, at present. */
const VERSION = STORE_SCHEMA.migrations.length;

const codeOf = (error: unknown) => (error instanceof StoreError ? error.code : error);
const FIRST: Schema = { table: 'part_version', what: 'part', migrations: [() => ['CREATE TABLE part (a INTEGER)']] };

for (const engine of ENGINES) {
  describe(`an upgrade on ${engine.name}`, () => {
    test('a database that cannot be read is not taken for an empty one', async () => {
      const opened = await openEngine(await engine.fresh(), {});
      expect(await schemaVersion(opened, FIRST)).toBe(0);
      await migrateTables(opened, FIRST);
      await expect(schemaVersion(opened, { table: 'part' })).rejects.toThrow('version');
      await opened.close();
    });

    test('every step is reported, and all of them are done or none', async () => {
      const url = await engine.fresh();
      const opened = await openEngine(url, {});
      const steps: MigrationStep[] = [];
      await migrateTables(opened, FIRST, (step) => void steps.push(step));
      expect(steps).toEqual([]);
      const second = (last: string): Schema => ({
        ...FIRST,
        migrations: [...FIRST.migrations, () => ['ALTER TABLE part ADD COLUMN b INTEGER', last]],
      });
      await expect(migrateTables(opened, second('INSERT INTO nowhere VALUES (1)'))).rejects.toThrow('nowhere');
      await migrateTables(opened, second('INSERT INTO part VALUES (1, 2)'), (step) => void steps.push(step));
      expect(steps).toEqual([1, 2].map((step) => ({ what: 'part', from: 1, to: 2, step, steps: 2 })));
      await migrateTables(opened, second('not run again'));
      expect(await opened.rows('SELECT a, b FROM part', [])).toHaveLength(1);
      await opened.close();
    });

    test('a transaction of the older program that begins during the migration waits for it, and is refused', async () => {
      const url = await engine.fresh();
      const [older, newer] = [await openEngine(url, {}), await openEngine(url, {})];
      await migrateTables(older, FIRST);
      const program = fenced(older, FIRST);
      const insert = () => program.transaction(async (tx) => tx.run('INSERT INTO part (a) VALUES (7)', []));
      await insert();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const second: Schema = {
        ...FIRST,
        migrations: [
          ...FIRST.migrations,
          () => [
            async () => {
              begin();
              await ended;
            },
            // Nothing that would lock the table.
            'SELECT 1',
          ],
        ],
      };
      const migrating = migrateTables(newer, second);
      await begun;
      const late = insert().then(() => 'written', codeOf);
      await Bun.sleep(50);
      end();
      await migrating;
      expect(await late).toBe('newer-schema');
      expect(await older.rows('SELECT a FROM part', [])).toHaveLength(1);
      for (const one of [older, newer]) await one.close();
    });

    test('a process of the older version writes nothing, answers 503 and is not ready', async () => {
      const url = await engine.fresh();
      const store = await openStore(url);
      const { epoch } = await store.claim(1, 100);
      const head = { ...block(101, [granted('ALL')]), timestamp: Math.floor(Date.now() / 1000) };
      await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
      const served = await startServe(url, { MAX_LAG_1: '86400' });
      const ask = async (path: string) => {
        const response = await fetch(served.url + path);
        return [response.status, await response.text()] as const;
      };
      const check = `/registry/v2/check/all?to=${HOT}&from=${COLD}`;
      expect(await ask(check)).toEqual([200, 'true']);
      await runSql(url, 'UPDATE schema_version SET version = version + 1');
      expect(await store.claim(1, 100).catch(codeOf)).toBe('newer-schema');
      expect(await Promise.resolve(store.chains()).catch(codeOf)).toBe('newer-schema');
      const [status, text] = await ask('/ready');
      expect([status, text]).toEqual([503, expect.stringContaining('Upgrade this process')]);
      // What cannot be read any more, before the process has looked.
      await runSql(url, 'ALTER TABLE span RENAME COLUMN amount TO amount_of_tokens');
      expect((await ask(check))[0]).toBe(503);
      // Soon also what it could still read.
      await runSql(url, 'ALTER TABLE span RENAME COLUMN amount_of_tokens TO amount');
      for (let left = 100; left > 0 && (await ask(check))[0] === 200; left--) await Bun.sleep(100);
      expect((await ask(check))[1]).toContain('A newer version of the service has migrated the database.');
      expect((await ask('/health'))[0]).toBe(200);
      expect(await served.stop()).toBe(0);
      const accounts = await openAccounts(url);
      await runSql(url, 'UPDATE account_schema_version SET version = version + 1');
      expect(await accounts.create({ label: 'late', now: 1 }).catch(codeOf)).toBe('newer-schema');
      await accounts.close();
      await store.close();
    });

    test('a service that migrates is alive, not ready, and says so', async () => {
      const url = await engine.fresh();
      await (await openStore(url)).close();
      const release = await holdMigrations(url);
      const [PORT, METRICS_PORT] = [String(freePort()), String(freePort())];
      const environment = {
        ...{ ...process.env, ...LOCAL, DATABASE_URL: url, PORT, METRICS_PORT },
        ...{ NEXT_SCHEMA: '1', BUN_OPTIONS: `--preload=${join(import.meta.dir, 'support/next-schema.ts')}` },
      };
      const serving = startListening([process.execPath, SOURCE, 'serve'], { environment });
      const ask = (port: string, path: string) =>
        fetch(`http://127.0.0.1:${port}${path}`).then(
          async (response) => [response.status, await response.text()] as const,
          () => [0, ''] as const,
        );
      for (let left = 200; left > 0 && (await ask(PORT, '/health'))[0] === 0; left--) await Bun.sleep(50);
      expect(await ask(PORT, '/health')).toEqual([200, '{"status":"ok"}']);
      for (const path of ['/ready', `/registry/v2/check/all?to=${HOT}&from=${COLD}`])
        expect(await ask(PORT, path)).toEqual([503, expect.stringContaining('is being migrated')]);
      expect((await ask(METRICS_PORT, '/metrics'))[1]).toContain('delegations_migrating 1');
      await release();
      const served = await serving;
      expect(await ask(PORT, '/health')).toEqual([200, '{"status":"ok"}']);
      expect((await ask(METRICS_PORT, '/metrics'))[1]).toContain('delegations_store_bytes');
      expect(await served.stop()).toBe(0);
      const messages: unknown[] = [];
      for await (const { message } of served.lines) messages.push(message);
      expect(messages).toContain('migrating the database');
      expect(messages.filter((one) => one === `migrating the store ${VERSION} → ${VERSION + 1}`)).toHaveLength(2);
      expect(messages).toContain('migrated');
      await runSql(url, `UPDATE schema_version SET version = ${VERSION}`);
      const again = await runCommand(['migrate'], { DATABASE_URL: url });
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('nothing to migrate')]);
    });
  });
}

/** Lets no migration begin until the returned function is called. */
async function holdMigrations(url: string): Promise<() => Promise<void>> {
  const path = sqlitePath(url);
  if (path !== null) {
    const database = new Database(path);
    database.run('BEGIN IMMEDIATE');
    return async () => {
      database.run('ROLLBACK');
      database.close();
    };
  }
  const client = new SQL(url, { max: 1 });
  const held = await client.reserve();
  await held`SELECT pg_advisory_lock(hashtext('delegations schema'))`;
  return async () => {
    await held`SELECT pg_advisory_unlock(hashtext('delegations schema'))`;
    held.release();
    await client.close();
  };
}
