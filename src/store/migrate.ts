// Migrates tables from any older schema to the newest.

import type { Dialect, Engine, WriteTransaction } from './engine.ts';
import { StoreError } from './errors.ts';

/** A list of statements, or functions where a step needs more than one statement. */
export type Migration = (string | ((tx: WriteTransaction) => Promise<void>))[];

export interface Migrations {
  /** The table that has the schema version. */
  readonly table: string;
  /** The name of these tables in messages. */
  readonly what: string;
  /** In order. A migration that has shipped is never changed. */
  readonly migrations: readonly ((dialect: Dialect) => Migration)[];
  /** Fills new tables. */
  readonly fill?: (tx: WriteTransaction) => Promise<void>;
}

export async function migrateTables(engine: Engine, { table, what, migrations, fill }: Migrations): Promise<void> {
  const migrate = async (tx: WriteTransaction) => {
    if (engine.dialect.name === 'postgres') {
      // Two processes that start at once migrate one after the other.
      await tx.run("SELECT pg_advisory_xact_lock(hashtext('delegations schema'))", []);
    }
    await tx.run(`CREATE TABLE IF NOT EXISTS ${table} (version INTEGER NOT NULL)`, []);
    const [row] = await tx.rows(`SELECT version FROM ${table}`, []);
    const found = Number(row?.[0] ?? 0);
    rejectNewer(found, migrations.length, what);
    for (const migration of migrations.slice(found)) {
      for (const step of migration(engine.dialect)) await (typeof step === 'string' ? tx.run(step, []) : step(tx));
    }
    if (row === undefined) {
      await tx.run(`INSERT INTO ${table} VALUES ($1)`, [migrations.length]);
      await fill?.(tx);
    } else if (found < migrations.length) await tx.run(`UPDATE ${table} SET version = $1`, [migrations.length]);
  };
  await engine.transaction(migrate, 'none');
}

export function rejectNewer(found: number, known: number, what: string): void {
  if (found <= known) return;
  throw new StoreError(
    'newer-schema',
    `The ${what} has schema ${found}, but this version supports up to ${known}. Upgrade the program. Nothing was changed.`,
  );
}
