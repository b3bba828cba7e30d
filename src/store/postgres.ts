// The PostgreSQL engine: for several processes and machines.

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
import { createStallWatch, type Progress } from './stall-watch.ts';

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

/** The server cancels a read, or a statement of a transaction, after this time. */
const READ_MS = 5000;
const WRITE_MS = 60_000;
/** The server ends a transaction that is idle for this long, because others may wait for its locks. */
const IDLE_MS = 5000;
const CONNECT_SECONDS = 5;
const LISTEN_RETRY_MS = 2000;
const CONNECTIONS = 8;

export const SETTINGS = {
  // Every statement has an index. A plan made while tables are empty must not keep scanning them whole.
  enable_seqscan: 'off',
  // With a LIMIT, a bitmap of all matches would be built for a few rows.
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

  // A server that is frozen or cut off neither answers nor closes its connections, so they are replaced.
  const reconnect = () => {
    void pool.close({ timeout: 0 }).catch(() => {});
    pool = connect();
    for (const channel of subscriptions.keys()) void listen(channel);
  };
  const progress = { answers: 0 };
  const reads = createStallWatch(READ_MS, progress, reconnect);
  const writes = createStallWatch(WRITE_MS, progress, reconnect);
  /** Runs a request within its time limit. */
  const request: Readonly<Record<StatementTimeout, Request>> = {
    short: (send) => reads.during(send, toStoreError),
    long: (send) => writes.during(send, toStoreError),
    none: (send) =>
      send().catch((error) => {
        throw toStoreError(error);
      }),
  };

  async function listen(channel: string): Promise<void> {
    for (const own = pool; own === pool && !closed; await Bun.sleep(LISTEN_RETRY_MS)) {
      try {
        await own.listen(channel, (text) => subscriptions.get(channel)?.(text));
        return;
      } catch {
        // The server is unreachable: retry.
      }
    }
  }
  const notices: Notices = {
    async publish(channel, text) {
      await request.short(() => pool.unsafe('SELECT pg_notify($1, $2)', [channel, text]));
    },
    subscribe(channel, onMessage) {
      subscriptions.set(channel, onMessage);
      void listen(channel);
    },
  };

  const close = async () => {
    closed = true;
    reads.stop();
    writes.stop();
    await pool.close({ timeout: 1 });
  };
  try {
    await pool.unsafe('SELECT 1');
  } catch (cause) {
    await close();
    // Neither the driver's message nor this one contains the password.
    throw new StoreError('bad-store', `Cannot connect to PostgreSQL: ${(cause as Error).message}`, { cause });
  }
  return {
    dialect: DIALECT,
    notices,
    rows: (sql, params) => request.short(() => readRows(pool, sql, params)),
    many: ({ postgres }, shared, rows) =>
      request.short(() => pool.unsafe(postgres, [...shared, ...toColumns(rows)]).values() as Promise<Row[]>),
    async transaction(work, timeout = 'long') {
      if (readOnly) throw new StoreError('bad-store', 'The store is open for reading only.');
      return request[timeout](() =>
        pool.begin(async (connection) => {
          await connection.unsafe(LIMITS[timeout]);
          return work(createTransaction(connection, progress));
        }),
      );
    },
    close,
  };
}

/**
 * SQLSTATE classes that mean unavailable: connection, authorization, read-only, idle too long, conflict with others, no lock, no
 * resources (disk full), shutdown or cancelled statement, I/O; and permission denied.
 */
const UNAVAILABLE = /^(08|28|25006|25P03|40|55P03|53|57|58|42501)/;

/** Wraps PostgreSQL's errors; any other error comes from the work and stays as it is. */
function toStoreError(cause: unknown): unknown {
  if (!(cause instanceof SQL.PostgresError)) return cause;
  const { code, errno, message } = cause;
  if (code.startsWith('ERR_POSTGRES_CONNECTION'))
    return new StoreError('unavailable', `PostgreSQL is not responding: ${message}`, { cause });
  const why = `${message} (${errno ?? code})`;
  return UNAVAILABLE.test(String(errno))
    ? new StoreError('unavailable', `PostgreSQL is unavailable: ${why}`, { cause })
    : new StoreError('failed', `PostgreSQL error: ${why}`, { cause });
}

/** PostgreSQL's text of each common statement. */
const texts = new Map<string, string>();

/** Removes INDEXED BY, and uncovers what only PostgreSQL is shown. */
export function postgresSql(sql: string): string {
  let text = texts.get(sql);
  if (text === undefined) {
    text = sql.replaceAll(/ INDEXED BY \w+/g, '').replaceAll(/\/\*pg (.*?)\*\//g, '$1');
    texts.set(sql, text);
  }
  return text;
}

const readRows = (connection: SQL, sql: string, params: readonly Param[]) =>
  connection.unsafe(postgresSql(sql), params as Param[]).values() as Promise<Row[]>;

const toColumns = (rows: readonly Param[][]) =>
  Array.from({ length: rows[0]?.length ?? 0 }, (_, column) => rows.map((row) => row[column]));

type Request = <T>(send: () => Promise<T>) => Promise<T>;

function createTransaction(connection: SQL, progress: Progress): WriteTransaction {
  const counted = async <T>(pending: Promise<T>): Promise<T> => {
    const answer = await pending;
    progress.answers++;
    return answer;
  };
  return {
    rows: (sql, params) => counted(readRows(connection, sql, params)),
    run: async (sql, params) => void (await counted(connection.unsafe(postgresSql(sql), params as Param[]))),
    each(statement: BulkStatement, rows) {
      if (rows.length === 0) return [];
      return counted(connection.unsafe(statement.postgres, toColumns(rows)).values() as Promise<Row[]>);
    },
  };
}
