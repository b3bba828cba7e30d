// Migrates tables from any older schema to the newest, and keeps programs of an older version from the tables of a newer one.

import type { Awaitable, Dialect, Engine, WriteTransaction } from './engine.ts';
import { StoreError } from './errors.ts';

/** A list of statements, or functions where a step needs more than one statement. */
export type Migration = (string | ((tx: WriteTransaction) => Promise<void>))[];

/** The tables of one part of the database. */
export interface Schema {
  /** The table that has the schema version. */
  readonly table: string;
  /** The name of these tables in messages. */
  readonly what: string;
  /** In order. A migration that has shipped is never changed. */
  readonly migrations: readonly ((dialect: Dialect) => Migration)[];
  /** Fills new tables. */
  readonly fill?: (tx: WriteTransaction) => Promise<void>;
}

/** Before each step of the migration of tables that exist already. */
export interface MigrationStep {
  readonly what: string;
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly steps: number;
}
export type OnMigration = (step: MigrationStep) => Awaitable<void>;

export async function migrateTables(
  engine: Engine,
  { table, what, migrations, fill }: Schema,
  onMigration: OnMigration = () => {},
): Promise<void> {
  const to = migrations.length;
  const migrate = async (tx: WriteTransaction) => {
    if (engine.dialect.name === 'postgres') {
      // Two processes that start at once migrate one after the other.
      await tx.run("SELECT pg_advisory_xact_lock(hashtext('delegations schema'))", []);
    }
    await tx.run(`CREATE TABLE IF NOT EXISTS ${table} (version INTEGER NOT NULL)`, []);
    const [row] = await tx.rows(`SELECT version FROM ${table}`, []);
    const from = Number(row?.[0] ?? 0);
    rejectNewer(from, { what, migrations });
    // First: a transaction of an older program that begins meanwhile waits for this one, and is then refused.
    if (row !== undefined && from < to) await tx.run(`UPDATE ${table} SET version = $1`, [to]);
    const steps = migrations.slice(from).flatMap((migration) => migration(engine.dialect));
    for (const [done, step] of steps.entries()) {
      if (from > 0) await onMigration({ what, from, to, step: done + 1, steps: steps.length });
      await (typeof step === 'string' ? tx.run(step, []) : step(tx));
    }
    if (row !== undefined) return;
    await tx.run(`INSERT INTO ${table} VALUES ($1)`, [to]);
    await fill?.(tx);
  };
  await engine.transaction(migrate, 'none');
}

export function rejectNewer(found: number, { what, migrations }: Pick<Schema, 'what' | 'migrations'>): void {
  const known = migrations.length;
  if (found <= known) return;
  throw new StoreError(
    'newer-schema',
    `The ${what} has schema ${found}, but this version supports up to ${known}. Upgrade the program. Nothing was changed.`,
  );
}

/** The version of the tables; 0 if there are none. */
export async function schemaVersion(engine: Pick<Engine, 'rows'>, { table }: Pick<Schema, 'table'>): Promise<number> {
  try {
    const [row] = await engine.rows(`SELECT version FROM ${table}`, []);
    return Number(row?.[0] ?? 0);
  } catch (error) {
    // SQLite's message, then PostgreSQL's.
    if (/no such table|relation \S+ does not exist/.test((error as Error).message)) return 0;
    throw error;
  }
}

/**
 * The engine for a program that knows these tables. Every transaction is refused once a newer program has migrated them, and a read
 * that fails then says why. On PostgreSQL the lock keeps a migration from beginning between the look and the commit.
 */
export function fenced(engine: Engine, schema: Schema): Engine {
  const version = `SELECT version FROM ${schema.table}${engine.dialect.name === 'postgres' ? ' FOR SHARE' : ''}`;
  const explained = async (error: unknown): Promise<never> => {
    if (error instanceof StoreError && error.code === 'failed')
      rejectNewer(await schemaVersion(engine, schema), schema);
    throw error;
  };
  const read = <T>(run: () => Awaitable<T>): Awaitable<T> => {
    try {
      const result = run();
      return result instanceof Promise ? result.catch(explained) : result;
    } catch (error) {
      return explained(error);
    }
  };
  const { readMany } = engine;
  return {
    ...engine,
    rows: (sql, params) => read(() => engine.rows(sql, params)),
    readMany: readMany === null ? null : async (...args) => read(() => readMany(...args)),
    transaction: (work, timeout) =>
      engine.transaction(async (tx) => {
        const [row] = await tx.rows(version, []);
        if (row !== undefined) rejectNewer(Number(row[0]), schema);
        return work(tx);
      }, timeout),
  };
}
