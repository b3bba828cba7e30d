// What the store needs from a database: write transactions, and reads that each see one snapshot.

/** A value, or a promise of it: SQLite answers at once, PostgreSQL later. */
export type Awaitable<T> = T | Promise<T>;

/** Short messages to every process on the same database. Delivery is not guaranteed. */
export interface Notices {
  publish(channel: string, text: string): Promise<void>;
  subscribe(channel: string, onMessage: (text: string) => void): void;
}

export type Cell = number | bigint | string | Uint8Array | null | undefined;
export type Row = readonly Cell[];
export type Param = number | string | Uint8Array | null;

/**
 * A statement for many rows. SQLite runs it once per row, with the row's cells as $1, $2, …; PostgreSQL runs it once, with each
 * column of the rows as an array $1, $2, ….
 */
export interface BulkStatement {
  readonly sqlite: string;
  readonly postgres: string;
}

/** The time limit of a transaction's statements: that of a read, a minute, or none. */
export type StatementTimeout = 'short' | 'long' | 'none';

export interface WriteTransaction {
  readonly dialect: Dialect['name'];
  rows(sql: string, params: readonly Param[]): Awaitable<Row[]>;
  run(sql: string, params: readonly Param[]): Awaitable<void>;
  /** Runs the statement for every row and returns all rows it gave. */
  each(statement: BulkStatement, rows: readonly Param[][]): Awaitable<Row[]>;
}

export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly integer: string;
  readonly small: string;
  readonly bytes: string;
  /** A primary key that the database numbers. */
  readonly serial: string;
  /** Table option: store rows in the order of the primary key. */
  readonly clustered: string;
  /** The database's clock in unix milliseconds, the same for every process. */
  readonly clock: string;
  /** The statement that returns the size on disk in bytes. */
  readonly size: string;
}

/** What a connection is used for. */
export type Role = 'api' | 'follower' | 'accounts' | 'cli';

export interface EngineOptions {
  /** Creates and migrates nothing, and rejects writes. */
  readonly readOnly?: boolean;
  /** Rejects a database that has no store yet, instead of creating one. */
  readonly mustExist?: boolean;
  /** The maximum number of connections to a server. One more listens for notifications. */
  readonly connections?: number;
  /** Names the connections in `pg_stat_activity`. */
  readonly role?: Role;
  /** Memory for the pages that transactions change, in KiB, where it is this process's own. */
  readonly writerCache?: number;
}

/** The connections of one process to a database server. */
export interface PoolStatus {
  /** The maximum number of connections. */
  readonly size: number;
  /** Requests that use a connection, or wait for one. */
  readonly running: number;
}

/** Statements have parameters $1, $2, … in both engines. */
export interface Engine {
  readonly dialect: Dialect;
  /** Null if the database has no notifications. */
  readonly notices: Notices | null;
  /** Null if the database has no connections. */
  pool(): PoolStatus | null;
  rows(sql: string, params: readonly Param[]): Awaitable<Row[]>;
  /**
   * Reads with parameters $1, $2, … that are shared, then each column of the rows as an array. Null if a statement costs no round
   * trip, so that many statements cost no more than one for all.
   */
  readonly readMany: ((sql: string, shared: readonly Param[], rows: readonly Param[][]) => Promise<Row[]>) | null;
  /** Commits everything the work did, or nothing. Transactions run one at a time. */
  transaction<T>(work: (tx: WriteTransaction) => Promise<T>, timeout?: StatementTimeout): Promise<T>;
  close(): Promise<void>;
}
