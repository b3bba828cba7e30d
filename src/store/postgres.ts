// The PostgreSQL engine: for several processes and machines.

import { connect as connectSocket } from 'node:net';
import { SQL } from 'bun';
import type { Cell, Dialect, Engine, EngineOptions, Param, Row, StatementTimeout, WriteTransaction } from './engine.ts';
import { StoreError } from './errors.ts';
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
/**
 * The server ends a transaction that is idle for this long, because others may wait for its locks. The largest commit of a follower
 * that has a twentieth of a core is idle for 1.3 s between two statements: this is four times that, and less than a lease lasts.
 */
const IDLE_MS = 5000;
const CONNECT_SECONDS = 5;
const PROBE_MS = 2000;
const LISTEN_RETRY_MS = 2000;
const CONNECTIONS = 8;
/** A connection that is idle for this long is closed: a server has few, and processes share them. */
const IDLE_CONNECTION_SECONDS = 10;

export const SETTINGS = {
  // Every statement has an index. A plan made while tables are empty must not keep scanning them whole.
  enable_seqscan: 'off',
  // With a LIMIT, a bitmap of all matches would be built for a few rows.
  enable_bitmapscan: 'off',
  plan_cache_mode: 'force_generic_plan',
  // Workers would return the parts of a list in any order.
  max_parallel_workers_per_gather: '0',
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
  const { readOnly = false, connections = CONNECTIONS, role = 'cli' } = options;
  const own = { application_name: `delegations-${role}`, default_transaction_read_only: readOnly ? 'on' : 'off' };
  const connect = (max: number, more: { readonly onclose?: () => void } = {}) =>
    new SQL(url, {
      max,
      idleTimeout: IDLE_CONNECTION_SECONDS,
      connectionTimeout: CONNECT_SECONDS,
      connection: { ...SETTINGS, ...own },
      ...more,
    });
  // The driver uses the connections of a pool in turn, which would keep them all open. So one is used whenever it is free, and
  // the others become idle and close.
  const connectAll = () => ({ first: connect(1), others: connect(Math.max(1, connections - 1)) });
  let pools = connectAll();
  let isFirstBusy = false;
  let running = 0;
  const onConnection = async <T>(send: (pool: SQL) => Promise<T>): Promise<T> => {
    const isFirst = !isFirstBusy;
    if (isFirst) isFirstBusy = true;
    running++;
    try {
      return await send(isFirst ? pools.first : pools.others);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      running--;
      if (isFirst) isFirstBusy = false;
    }
  };
  const closePools = ({ first, others }: typeof pools, timeout: number) =>
    Promise.all([first.close({ timeout }), others.close({ timeout })]);
  let closed = false;
  const subscriptions = new Map<string, (text: string) => void>();
  let listener: SQL | null = null;

  // A server that is frozen or cut off neither answers nor closes its connections, so they are replaced.
  const reconnect = () => {
    void closePools(pools, 0).catch(() => {});
    pools = connectAll();
    listen();
  };
  const progress = { answers: 0 };
  const reads = createStallWatch(READ_MS, progress, reconnect);
  const writes = createStallWatch(WRITE_MS, progress, reconnect);
  /** Runs a request within its time limit. */
  const request: Readonly<Record<StatementTimeout, Request>> = {
    short: (send) => reads.during(() => onConnection(send)),
    long: (send) => writes.during(() => onConnection(send)),
    none: onConnection,
  };

  const stopListening = () => {
    const old = listener;
    listener = null;
    void old?.close({ timeout: 0 }).catch(() => {});
  };
  /**
   * Listens to all channels with a client of its own. The driver would retry a lost connection by itself and write each failure to
   * the console, so the client is closed and replaced instead.
   */
  function listen(): void {
    stopListening();
    if (closed || subscriptions.size === 0) return;
    const retry = () => {
      if (listener !== own) return;
      stopListening();
      setTimeout(() => {
        if (listener === null) listen();
      }, LISTEN_RETRY_MS).unref();
    };
    const own = connect(1, { onclose: retry });
    listener = own;
    for (const [channel, onMessage] of subscriptions) own.listen(channel, onMessage).catch(retry);
  }
  const notices: Engine['notices'] = {
    async publish(channel, text) {
      await request.short((pool) => pool.unsafe('SELECT pg_notify($1, $2)', [channel, text]));
    },
    subscribe(channel, onMessage) {
      subscriptions.set(channel, onMessage);
      listen();
    },
  };

  const close = async () => {
    closed = true;
    reads.stop();
    writes.stop();
    stopListening();
    await closePools(pools, 1);
  };
  try {
    await pools.first.unsafe('SELECT 1');
  } catch (cause) {
    await close();
    // Neither the driver's message nor this one contains the password.
    const why = `Cannot connect to PostgreSQL at ${await connectionFault(url)}. ${(cause as Error).message}.`;
    throw new StoreError('bad-store', why, { cause });
  }
  return {
    dialect: DIALECT,
    notices,
    pool: () => ({ size: connections, running }),
    rows: (sql, params) => request.short((pool) => readRows(pool, sql, params)),
    readMany: (sql, shared, rows) => request.short((pool) => readRows(pool, sql, [...shared, ...toColumns(rows)])),
    async transaction(work, timeout = 'long') {
      if (readOnly) throw new StoreError('bad-store', 'The store is open for reading only.');
      return request[timeout]((pool) =>
        pool.begin(async (connection) => {
          await connection.unsafe(LIMITS[timeout]);
          return work(createTransaction(connection, progress));
        }),
      );
    },
    close,
  };
}

/** Where a URL leads, as people write it and as a socket takes it. */
export function placeOf(url: string) {
  const { hostname, port } = new URL(url);
  const [host, at] = [hostname || 'localhost', Number(port || 5432)];
  return { where: `${host}:${at}`, host: host.replace(/^\[|\]$/g, ''), port: at };
}

/** The host and port of the URL, and the system's error if no connection is accepted there: the driver does not say why. */
function connectionFault(url: string): Promise<string> {
  const { where, ...place } = placeOf(url);
  return new Promise((resolve) => {
    const socket = connectSocket({ ...place, timeout: PROBE_MS });
    const end = (fault: string) => {
      socket.destroy();
      resolve(`${where}${fault}`);
    };
    socket.on('connect', () => end(''));
    socket.on('timeout', () => end(': ETIMEDOUT'));
    socket.on('error', (error: NodeJS.ErrnoException) => end(`: ${error.code ?? error.message}`));
  });
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

const readRows = (connection: SQL, sql: string, params: readonly Param[]) =>
  connection.unsafe(sql, params as Param[]).values() as Promise<Row[]>;

const toColumns = (rows: readonly Param[][]) =>
  Array.from({ length: rows[0]?.length ?? 0 }, (_, column) => arrayText(rows.map((row) => row[column])));

/** An array as PostgreSQL's text. The driver encodes arrays too, at twice the cost. */
function arrayText(cells: readonly Cell[]): string {
  let text = '';
  for (const cell of cells) text += `${text === '' ? '{' : ','}${cellText(cell)}`;
  return text === '' ? '{}' : `${text}}`;
}

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return 'NULL';
  if (cell instanceof Uint8Array) return `"\\\\x${cell.toHex()}"`;
  return typeof cell === 'string' ? `"${cell.replaceAll(/["\\]/g, '\\$&')}"` : String(cell);
}

type Request = <T>(send: (pool: SQL) => Promise<T>) => Promise<T>;

function createTransaction(connection: SQL, progress: Progress): WriteTransaction {
  const counted = async <T>(pending: Promise<T>): Promise<T> => {
    const answer = await pending;
    progress.answers++;
    return answer;
  };
  return {
    dialect: 'postgres',
    rows: (sql, params) => counted(readRows(connection, sql, params)),
    run: async (sql, params) => void (await counted(connection.unsafe(sql, params as Param[]))),
    each({ postgres }, rows) {
      if (rows.length === 0) return [];
      return counted(connection.unsafe(postgres, toColumns(rows)).values() as Promise<Row[]>);
    },
  };
}
