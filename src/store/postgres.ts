// The engine for more than one machine.

import { SQL } from 'bun';
import type {
  BulkStatement,
  Dialect,
  Engine,
  EngineOptions,
  Param,
  Row,
  StatementTimeout,
  WriteTransaction,
} from './engine.ts';
import { StoreError } from './errors.ts';
import type { Notices } from './notices.ts';
import { createWatch, type Progress } from './watch.ts';

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

/** The server ends a read after so long, and a statement of a transaction after so long. */
const READ_MS = 5000;
const WRITE_MS = 60_000;
/** Whoever stops in the middle of a transaction, with rows that others wait for, loses it. */
const IDLE_MS = 5000;
const CONNECT_SECONDS = 5;
const LISTEN_AGAIN_MS = 2000;
const CONNECTIONS = 8;

export const SETTINGS = {
  // Every statement here has its index. Planned over tables that are still empty, it must not settle on reading them whole.
  enable_seqscan: 'off',
  // Where there is a LIMIT, a bitmap of all that matches would be made for a few rows of it.
  enable_bitmapscan: 'off',
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: String(READ_MS),
  idle_in_transaction_session_timeout: String(IDLE_MS),
};

const limits = (statementMs: number, idleMs: number) =>
  `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`;
const LIMITS: Readonly<Record<StatementTimeout, string>> = {
  short: limits(READ_MS, IDLE_MS),
  long: limits(WRITE_MS, IDLE_MS),
  none: limits(0, 0),
};

export async function openPostgres(url: string, options: EngineOptions = {}): Promise<Engine> {
  const { readOnly = false, connections = CONNECTIONS } = options;
  const connect = () =>
    new SQL(url, {
      max: connections,
      connectionTimeout: CONNECT_SECONDS,
      connection: { ...SETTINGS, default_transaction_read_only: readOnly ? 'on' : 'off' },
    });
  let pool = connect();
  let closed = false;
  const subscriptions = new Map<string, (text: string) => void>();

  // A server that is frozen, or cut off, neither answers nor ends its connections: new ones are made in their place.
  const renew = () => {
    void pool.close({ timeout: 0 }).catch(() => {});
    pool = connect();
    for (const channel of subscriptions.keys()) void listen(channel);
  };
  const progress = { answers: 0 };
  const reads = createWatch(READ_MS, progress, renew);
  const writes = createWatch(WRITE_MS, progress, renew);
  /** Each as long as it may take. */
  const asked: Readonly<Record<StatementTimeout, Attempt>> = {
    short: (ask) => reads.during(ask, asStoreError),
    long: (ask) => writes.during(ask, asStoreError),
    none: (ask) =>
      ask().catch((error) => {
        throw asStoreError(error);
      }),
  };

  async function listen(channel: string): Promise<void> {
    for (const own = pool; own === pool && !closed; await Bun.sleep(LISTEN_AGAIN_MS)) {
      try {
        await own.listen(channel, (text) => subscriptions.get(channel)?.(text));
        return;
      } catch {
        // The server is away, and is asked again.
      }
    }
  }
  const notices: Notices = {
    async publish(channel, text) {
      await asked.short(() => pool.unsafe('SELECT pg_notify($1, $2)', [channel, text]));
    },
    subscribe(channel, onMessage) {
      subscriptions.set(channel, onMessage);
      void listen(channel);
    },
  };

  const end = async () => {
    closed = true;
    reads.stop();
    writes.stop();
    await pool.close({ timeout: 1 });
  };
  try {
    await pool.unsafe('SELECT 1');
  } catch (cause) {
    await end();
    // The driver's message names no password, and neither does ours.
    throw new StoreError('bad-store', `Cannot reach PostgreSQL: ${(cause as Error).message}`, { cause });
  }
  return {
    dialect: DIALECT,
    notices,
    rows: (sql, params) => asked.short(() => rowsOf(pool, sql, params)),
    many: ({ postgres }, shared, rows) =>
      asked.short(() => pool.unsafe(postgres, [...shared, ...columnsOf(rows)]).values() as Promise<Row[]>),
    async transaction(work, timeout = 'long') {
      if (readOnly) throw new StoreError('bad-store', 'This store was opened for reading only.');
      return asked[timeout](() =>
        pool.begin(async (connection) => {
          await connection.unsafe(LIMITS[timeout]);
          return work(transactionOn(connection, progress));
        }),
      );
    },
    close: end,
  };
}

/**
 * The classes of errors in which PostgreSQL cannot be used now: connection, authorization, read-only, idle too long, a conflict
 * with others, no lock, no resources (a full disk), a server that stops or ended a statement, I/O; and permission denied.
 */
const UNUSABLE = /^(08|28|25006|25P03|40|55P03|53|57|58|42501)/;

/** PostgreSQL's own errors; any other comes from the work and stays as it is. */
function asStoreError(cause: unknown): unknown {
  if (!(cause instanceof SQL.PostgresError)) return cause;
  const { code, errno, message } = cause;
  if (code.startsWith('ERR_POSTGRES_CONNECTION'))
    return new StoreError('unavailable', `PostgreSQL does not answer: ${message}`, { cause });
  const why = `${message} (${errno ?? code})`;
  return UNUSABLE.test(String(errno))
    ? new StoreError('unavailable', `PostgreSQL cannot be used now: ${why}`, { cause })
    : new StoreError('failed', `PostgreSQL failed: ${why}`, { cause });
}

/** Statements as PostgreSQL reads them, by their common text. */
const texts = new Map<string, string>();

export function postgresSql(sql: string): string {
  let text = texts.get(sql);
  if (text === undefined) {
    text = sql.replaceAll(/ INDEXED BY \w+/g, '').replaceAll(/\/\*pg (.*?)\*\//g, '$1');
    texts.set(sql, text);
  }
  return text;
}

const rowsOf = (connection: SQL, sql: string, params: readonly Param[]) =>
  connection.unsafe(postgresSql(sql), params as Param[]).values() as Promise<Row[]>;

const columnsOf = (rows: readonly Param[][]) =>
  Array.from({ length: rows[0]?.length ?? 0 }, (_, column) => rows.map((row) => row[column]));

type Attempt = <T>(ask: () => Promise<T>) => Promise<T>;

function transactionOn(connection: SQL, progress: Progress): WriteTransaction {
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    const given = await answer;
    progress.answers++;
    return given;
  };
  return {
    rows: (sql, params) => counted(rowsOf(connection, sql, params)),
    run: async (sql, params) => void (await counted(connection.unsafe(postgresSql(sql), params as Param[]))),
    each(statement: BulkStatement, rows) {
      if (rows.length === 0) return [];
      return counted(connection.unsafe(statement.postgres, columnsOf(rows)).values() as Promise<Row[]>);
    },
  };
}
