// What the store needs of a database: statements in a transaction, and reads that each see one snapshot.

import type { Awaitable } from './awaitable.ts';
import type { Notices } from './notices.ts';

export type Cell = number | bigint | string | Uint8Array | null | undefined;
export type Row = readonly Cell[];
export type Param = number | string | Uint8Array | null;

/**
 * A statement to be run for many rows. SQLite runs it once a row, with the row's cells as ?1, ?2, …;
 * PostgreSQL runs it once, with each column of the rows as an array $1, $2, ….
 */
export interface BulkStatement {
  readonly sqlite: string;
  readonly postgres: string;
}

export interface Chunk {
  readonly size: number;
  readonly filler: readonly Param[];
}

/** How long a statement of a transaction may take: as long as a read, a minute, or hours. */
export type StatementTimeout = 'short' | 'long' | 'none';

export interface WriteTransaction {
  rows(sql: string, params: readonly Param[]): Awaitable<Row[]>;
  run(sql: string, params: readonly Param[]): Awaitable<void>;
  /** Runs the statement for every row and gives back what all of them returned. */
  each(statement: BulkStatement, rows: readonly Param[][]): Awaitable<Row[]>;
}

export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly integer: string;
  readonly small: string;
  readonly bytes: string;
  /** A number that the database gives each row. */
  readonly serial: string;
  /** Behind a table's last bracket: keep the rows in the order of the primary key. */
  readonly clustered: string;
  /** The database's own clock, in milliseconds: the same for all who use it. */
  readonly clock: string;
  /** The statement that gives the bytes on disk. */
  readonly size: string;
}

export interface EngineOptions {
  /** Neither sets up nor changes anything. */
  readonly readOnly?: boolean;
  /** The most connections to a server. */
  readonly connections?: number;
}

/** Statements name their parameters $1, $2, … in both engines. */
export interface Engine {
  readonly dialect: Dialect;
  /** Null where the database carries no messages. */
  readonly notices: Notices | null;
  rows(sql: string, params: readonly Param[]): Awaitable<Row[]>;
  /**
   * Reads for many rows. SQLite is given `size` of them a statement, all their cells behind the shared parameters, the last
   * time with `filler` for what is missing; PostgreSQL all of them, a column as an array.
   */
  many(statement: BulkStatement, shared: readonly Param[], rows: readonly Param[][], chunk: Chunk): Awaitable<Row[]>;
  /** Commits what the work did, or nothing of it. One transaction at a time. */
  transaction<T>(work: (tx: WriteTransaction) => Promise<T>, timeout?: StatementTimeout): Promise<T>;
  close(): Promise<void>;
}
