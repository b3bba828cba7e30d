// The engine for more than one machine.

import { SQL } from 'bun';
import type { BulkStatement, Dialect, Engine, Param, Row, Transaction } from './engine.ts';
import { StoreError } from './errors.ts';

const DIALECT: Dialect = {
  name: 'postgres',
  integer: 'BIGINT',
  small: 'SMALLINT',
  bytes: 'BYTEA',
  serial: 'BIGSERIAL PRIMARY KEY',
  clustered: '',
  clock: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  size: 'SELECT pg_database_size(current_database())',
};

/** Every statement here has its index. Planned over tables that are still empty, it must not settle on reading them whole. */
const SETTINGS = { enable_seqscan: 'off', plan_cache_mode: 'force_generic_plan' };

export async function openPostgres(url: string, { readOnly = false } = {}): Promise<Engine> {
  const connection = { ...SETTINGS, default_transaction_read_only: readOnly ? 'on' : 'off' };
  const pool = new SQL(url, { max: 8, connection });
  try {
    await pool.unsafe('SELECT 1');
  } catch (cause) {
    await pool.close();
    // The driver's message names no password, and neither does ours.
    throw new StoreError('bad-store', `Cannot reach PostgreSQL: ${(cause as Error).message}`, { cause });
  }
  return {
    dialect: DIALECT,
    rows: (sql, params) => rowsOf(pool, sql, params),
    many: ({ postgres }, shared, rows) =>
      pool.unsafe(postgres, [...shared, ...columnsOf(rows)]).values() as Promise<Row[]>,
    async transaction(work) {
      if (readOnly) throw new StoreError('bad-store', 'This store was opened for reading only.');
      return pool.begin((connection) => work(transactionOn(connection)));
    },
    close: () => pool.close(),
  };
}

/** Statements as PostgreSQL reads them, by their common text. */
const texts = new Map<string, string>();

function textOf(sql: string): string {
  let text = texts.get(sql);
  if (text === undefined) {
    text = sql.replaceAll(/ INDEXED BY \w+/g, '');
    texts.set(sql, text);
  }
  return text;
}

const rowsOf = (connection: SQL, sql: string, params: readonly Param[]) =>
  connection.unsafe(textOf(sql), params as Param[]).values() as Promise<Row[]>;

const columnsOf = (rows: readonly Param[][]) =>
  Array.from({ length: rows[0]?.length ?? 0 }, (_, column) => rows.map((row) => row[column]));

function transactionOn(connection: SQL): Transaction {
  return {
    rows: (sql, params) => rowsOf(connection, sql, params),
    run: async (sql, params) => void (await connection.unsafe(textOf(sql), params as Param[])),
    each(statement: BulkStatement, rows) {
      if (rows.length === 0) return [];
      return connection.unsafe(statement.postgres, columnsOf(rows)).values() as Promise<Row[]>;
    },
  };
}
