// The embedded engine: one file, one writer, any number of readers in this process and others.

import { Database, SQLiteError, type Statement } from 'bun:sqlite';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Dialect, Engine, EngineOptions, Param, Row, WriteTransaction } from './engine.ts';
import { StoreError } from './errors.ts';

const DIALECT: Dialect = {
  name: 'sqlite',
  integer: 'INTEGER',
  small: 'INTEGER',
  bytes: 'BLOB',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  clustered: ' WITHOUT ROWID',
  clock: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
  size: 'SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()',
};

/** How long a transaction waits for those of others before it gives up. */
const PATIENCE_MS = 10_000;

const PRAGMAS = [
  `busy_timeout = ${PATIENCE_MS}`,
  // A crash of the machine may lose the newest commits, never the file: the chain has them still.
  'synchronous = NORMAL',
  'mmap_size = 2147418112',
  // Up to 256 MiB: what a large store is asked for, and the pages all over its indexes that a writer changes.
  'cache_size = -262144',
  // 64 MiB of changes: a page that changes often is then copied into the file seldom.
  'wal_autocheckpoint = 16000',
  'temp_store = MEMORY',
];

export function openSqlite(path: string, { readOnly = false }: EngineOptions = {}): Engine {
  const reader = connect(path, readOnly);
  // A transaction of ours must not show to our own reads before it commits, so it has a connection of its own.
  const writer = readOnly ? null : connect(path, false);
  let queue: Promise<unknown> = Promise.resolve();
  let closed = false;

  return {
    dialect: DIALECT,
    notices: null,
    rows: reader.rows,
    many: ({ sqlite }, shared, rows, { size, filler }) => {
      const found: Row[] = [];
      for (let from = 0; from < rows.length; from += size) {
        const params = [...shared];
        for (let at = from; at < from + size; at++) params.push(...(rows[at] ?? filler));
        for (const row of reader.rows(sqlite, params) as Row[]) found.push(row);
      }
      return found;
    },
    async transaction(work) {
      if (writer === null) throw new StoreError('bad-store', 'This store was opened for reading only.');
      if (closed) throw new StoreError('bad-store', 'This store is closed.');
      const turn = queue.then(() => inTransaction(writer, work));
      queue = turn.catch(() => {});
      return turn;
    },
    async close() {
      closed = true;
      await queue;
      writer?.close();
      reader.close();
    },
  };
}

interface Connection extends WriteTransaction {
  close(): void;
}

function connect(path: string, readOnly: boolean): Connection {
  const database = openFile(path, readOnly);
  const statements = new Map<string, Statement<unknown, Param[]>>();
  const prepared = (sql: string) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare<unknown, Param[]>(sql.replaceAll('$', '?'));
      statements.set(sql, statement);
    }
    return statement;
  };
  return {
    rows(sql, params) {
      try {
        return prepared(sql).values(...params) as Row[];
      } catch (error) {
        throw asStoreError(error);
      }
    },
    run: (sql, params) => void prepared(sql).run(...params),
    each({ sqlite }, rows) {
      const statement = prepared(sqlite);
      if (!sqlite.startsWith('SELECT')) {
        for (const row of rows) statement.run(...row);
        return [];
      }
      const found: Row[] = [];
      for (const row of rows) for (const hit of statement.values(...row) as Row[]) found.push(hit);
      return found;
    },
    close() {
      for (const statement of statements.values()) statement.finalize();
      database.close();
    },
  };
}

function openFile(path: string, readOnly: boolean): Database {
  try {
    if (!readOnly) mkdirSync(dirname(path), { recursive: true });
    const database = readOnly ? new Database(path, { readonly: true }) : new Database(path, { create: true });
    for (const pragma of PRAGMAS) database.run(`PRAGMA ${pragma}`);
    // Also the first access to the file: what is no database fails here.
    if (readOnly) database.run('SELECT count(*) FROM sqlite_schema');
    else database.run('PRAGMA journal_mode = WAL');
    return database;
  } catch (cause) {
    // Readers of a store that somebody may write share a file beside it.
    const hint = readOnly && existsSync(path) ? ' (its folder must be writable, also for reading)' : '';
    const why = `Cannot open the SQLite store ${resolve(path)}: ${(cause as Error).message}${hint}`;
    throw new StoreError('bad-store', why, { cause });
  }
}

/** The file is in use by others, full, read-only, or cannot be read: that may pass, or the operator can change it. */
const UNUSABLE = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|PERM|NOMEM|PROTOCOL|INTERRUPT)/;

const isUnusable = (error: unknown) => error instanceof SQLiteError && UNUSABLE.test(error.code ?? '');

/** SQLite's own errors; any other comes from the work and stays as it is. */
function asStoreError(cause: unknown): unknown {
  if (!(cause instanceof SQLiteError)) return cause;
  const why = `${cause.message} (${cause.code ?? cause.errno})`;
  return isUnusable(cause)
    ? new StoreError('unavailable', `SQLite cannot be used now: ${why}`, { cause })
    : new StoreError('failed', `SQLite failed: ${why}`, { cause });
}

async function inTransaction<T>(writer: Connection, work: (tx: WriteTransaction) => Promise<T>): Promise<T> {
  await begin(writer);
  try {
    const result = await work(writer);
    writer.run('COMMIT', []);
    return result;
  } catch (error) {
    try {
      writer.run('ROLLBACK', []);
    } catch {
      // A full disk and its like have rolled it back already; what counts is why.
    }
    throw asStoreError(error);
  }
}

/** Waits without blocking the thread: the transaction in the way may be one of this very thread. */
async function begin(writer: Connection): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  await writer.run('PRAGMA busy_timeout = 0', []);
  for (;;) {
    try {
      return await writer.run('BEGIN IMMEDIATE', []);
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY');
      if (!isBusy || performance.now() > deadline) throw asStoreError(error);
    }
    await Bun.sleep(2);
  }
}
