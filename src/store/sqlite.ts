// The SQLite engine: one file, one writer, any number of readers in this process and others.

import { Database, SQLiteError, type Statement } from 'bun:sqlite';
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
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

/** How long a transaction waits for other writers before it fails. */
const BUSY_TIMEOUT_MS = 10_000;

const PRAGMAS = [
  `busy_timeout = ${BUSY_TIMEOUT_MS}`,
  // A crash of the machine can lose the newest commits but never damages the file. They are read from the chain again.
  'synchronous = NORMAL',
  'mmap_size = 2147418112',
  // 64 MiB of changes, so that a page that changes often is rarely copied into the file.
  'wal_autocheckpoint = 16000',
  'temp_store = MEMORY',
];

/** In KiB. Enough for the pages that reads of a large store need. */
const READER_CACHE = 262_144;
/** Enough for the index pages that a transaction of the follower changes. Other pages are mapped. */
const WRITER_CACHE = 32_768;

export function openSqlite(
  path: string,
  { readOnly = false, mustExist = false, writerCache = WRITER_CACHE }: EngineOptions = {},
): Engine {
  if (mustExist) requireFile(`sqlite:${path}`);
  const reader = readInTurns(connect(path, readOnly, READER_CACHE));
  // Reads must not see a transaction before it commits, so transactions have their own connection.
  const writer = readOnly ? null : connect(path, false, writerCache);
  let queue: Promise<unknown> = Promise.resolve();
  let closed = false;

  return {
    dialect: DIALECT,
    notices: null,
    pool: () => null,
    rows: reader.rows,
    readMany: null,
    async transaction(work) {
      if (writer === null) throw new StoreError('bad-store', 'The store is open for reading only.');
      if (closed) throw new StoreError('bad-store', 'The store is closed.');
      const result = queue.then(() => inTransaction(writer, work));
      queue = result.catch(() => {});
      return result;
    },
    async close() {
      closed = true;
      await queue;
      writer?.close();
      reader.close();
    },
  };
}

/**
 * SQLite plans by the value of a parameter that is a LIMIT, and so compiles the statement again for each run, which costs more than
 * most runs. It does not look into a sum.
 */
const sqliteSql = (sql: string): string => sql.replaceAll(/LIMIT \$(\d+)/g, 'LIMIT $$$1 + 0').replaceAll('$', '?');

interface Connection extends WriteTransaction {
  close(): void;
}

/** Other processes may commit meanwhile, and a turn may be long, so no read gets an older snapshot. */
const MAX_SNAPSHOT_MS = 1;
/** Ends the turns of this process that have a snapshot. */
const turns = new Set<() => void>();

/**
 * Reads of one turn of the event loop share a snapshot: taking one costs more than most reads. A commit of this process ends the
 * turn, so that the next read sees it, and so that the file beside the database can be emptied.
 */
function readInTurns(connection: Connection): Pick<Connection, 'rows' | 'close'> {
  let takenAt = Number.NEGATIVE_INFINITY;
  const endTurn = () => {
    if (!turns.delete(endTurn)) return;
    takenAt = Number.NEGATIVE_INFINITY;
    try {
      connection.run('COMMIT', []);
    } catch {
      // An error of a read has already ended the transaction.
    }
  };
  return {
    rows(sql, params) {
      const now = performance.now();
      if (now - takenAt > MAX_SNAPSHOT_MS) {
        endTurn();
        connection.rows('BEGIN', []);
        takenAt = now;
        turns.add(endTurn);
        setImmediate(endTurn);
      }
      return connection.rows(sql, params);
    },
    close() {
      endTurn();
      connection.close();
    },
  };
}

function connect(path: string, readOnly: boolean, cacheKb: number): Connection {
  const database = openFile(path, readOnly);
  database.run(`PRAGMA cache_size = -${cacheKb}`);
  const statements = new Map<string, Statement<unknown, Param[]>>();
  const prepare = (sql: string) => database.prepare<unknown, Param[]>(sqliteSql(sql));
  const prepared = (sql: string) => statements.getOrInsertComputed(sql, prepare);
  return {
    dialect: 'sqlite',
    rows(sql, params) {
      try {
        return prepared(sql).values(...params) as Row[];
      } catch (error) {
        throw toStoreError(error);
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
    if (!readOnly && !existsSync(path)) createFile(path);
    const database = readOnly ? new Database(path, { readonly: true }) : new Database(path, { create: true });
    for (const pragma of PRAGMAS) database.run(`PRAGMA ${pragma}`);
    // The first access to the file: fails if it is not a database.
    if (readOnly) database.run('SELECT count(*) FROM sqlite_schema');
    else database.run('PRAGMA journal_mode = WAL');
    return database;
  } catch (cause) {
    // WAL readers share a file beside the database.
    const hint = readOnly && existsSync(path) ? ' (its folder must be writable, even for reading)' : '';
    const why = `Cannot open the SQLite store ${resolve(path)}: ${(cause as Error).message}${hint}`;
    throw new StoreError('bad-store', why, { cause });
  }
}

/** The file of a SQLite store; null for the URL of another database. */
export const sqlitePath = (url: string): string | null => /^sqlite:(.+)$/.exec(url)?.[1] ?? null;

/** Throws if this is the URL of a SQLite store that does not exist. */
export function requireFile(url: string): void {
  const path = sqlitePath(url);
  if (path === null || existsSync(path)) return;
  throw new StoreError(
    'bad-store',
    `There is no store at ${resolve(path)}. Start the service first, or set DATABASE_URL to its database.`,
  );
}

/** The store has the secret of all sessions: only its owner can read it. SQLite gives its other files the same mode. */
export function createFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Another process has just created it.
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
}

/** The files of a store that others than its owner can read or write. */
export function exposedPaths(url: string): { readonly path: string; readonly mode: string }[] {
  const file = sqlitePath(url);
  if (file === null) return [];
  return [file, `${file}-wal`, `${file}-shm`]
    .map((path) => ({ path: resolve(path), mode: (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ path, mode }) => ({ path, mode: mode.toString(8) }));
}

/** The file is locked, full, read-only, or unreadable: this may pass, or the operator can fix it. */
const UNAVAILABLE = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|PERM|NOMEM|PROTOCOL|INTERRUPT)/;

/** Wraps SQLite's errors; any other error comes from the work and stays as it is. */
function toStoreError(cause: unknown): unknown {
  if (!(cause instanceof SQLiteError)) return cause;
  const why = `${cause.message} (${cause.code ?? cause.errno})`;
  return UNAVAILABLE.test(cause.code ?? '')
    ? new StoreError('unavailable', `SQLite is unavailable: ${why}`, { cause })
    : new StoreError('failed', `SQLite error: ${why}`, { cause });
}

async function inTransaction<T>(writer: Connection, work: (tx: WriteTransaction) => Promise<T>): Promise<T> {
  await begin(writer);
  try {
    const result = await work(writer);
    for (const endTurn of turns) endTurn();
    writer.run('COMMIT', []);
    return result;
  } catch (error) {
    try {
      writer.run('ROLLBACK', []);
    } catch {
      // SQLite has already rolled back, as it does on a full disk. The first error is the one to report.
    }
    throw toStoreError(error);
  }
}

/** Waits without blocking the thread, because the other writer may be in this thread. */
async function begin(writer: Connection): Promise<void> {
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  writer.run('PRAGMA busy_timeout = 0', []);
  for (;;) {
    try {
      return writer.run('BEGIN IMMEDIATE', []);
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY');
      if (!isBusy || performance.now() > deadline) throw toStoreError(error);
    }
    await Bun.sleep(2);
  }
}
