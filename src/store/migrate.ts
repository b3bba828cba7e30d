// The way from any older schema of some tables to the newest.

import type { Dialect, Engine, WriteTransaction } from './engine.ts';
import { StoreError } from './errors.ts';

/** Statements, and steps that need more than one. */
export type Migration = (string | ((tx: WriteTransaction) => Promise<void>))[];

export interface Migrations {
  /** Where the version is kept. */
  readonly table: string;
  /** For messages. */
  readonly what: string;
  /** In order; one that has shipped is never changed. */
  readonly migrations: readonly ((dialect: Dialect) => Migration)[];
  /** What a new schema begins with. */
  readonly fill?: (tx: WriteTransaction) => Promise<void>;
}

export async function migrateTables(engine: Engine, { table, what, migrations, fill }: Migrations): Promise<void> {
  const bringUp = async (tx: WriteTransaction) => {
    if (engine.dialect.name === 'postgres') {
      // Two programs that start at once migrate one after the other.
      await tx.run("SELECT pg_advisory_xact_lock(hashtext('delegations schema'))", []);
    }
    await tx.run(`CREATE TABLE IF NOT EXISTS ${table} (version INTEGER NOT NULL)`, []);
    const [row] = await tx.rows(`SELECT version FROM ${table}`, []);
    const found = Number(row?.[0] ?? 0);
    refuseNewer(found, migrations.length, what);
    for (const migration of migrations.slice(found)) {
      for (const step of migration(engine.dialect)) await (typeof step === 'string' ? tx.run(step, []) : step(tx));
    }
    if (row === undefined) {
      await tx.run(`INSERT INTO ${table} VALUES ($1)`, [migrations.length]);
      await fill?.(tx);
    } else if (found < migrations.length) await tx.run(`UPDATE ${table} SET version = $1`, [migrations.length]);
  };
  await engine.transaction(bringUp, 'none');
}

export function refuseNewer(found: number, known: number, what: string): void {
  if (found <= known) return;
  throw new StoreError(
    'newer-schema',
    `This ${what} has schema ${found}, and this program knows none above ${known}: run a newer program. Nothing was changed.`,
  );
}
