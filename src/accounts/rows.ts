// Names the columns of a record once, with how each of its fields is decoded, and what the tables of accounts share.

import type { Cell, Engine, Param, Row, WriteTransaction } from '../store/engine.ts';
import { decodeNumber, decodeNumberOrNull, decodeTextOrNull } from '../store/rows/cells.ts';

type Field<T> = readonly [column: string, decode: (cell: Cell) => T];

/** `T` where a column has only some texts. */
export const field = {
  number: (column: string): Field<number> => [column, decodeNumber],
  numberOrNull: (column: string): Field<number | null> => [column, decodeNumberOrNull],
  text: <T extends string = string>(column: string): Field<T> => [column, (cell) => String(cell) as T],
  textOrNull: <T extends string = string>(column: string): Field<T | null> => [
    column,
    (cell) => decodeTextOrNull(cell) as T | null,
  ],
};

type RecordOf<Fields> = { readonly [Name in keyof Fields]: Fields[Name] extends Field<infer T> ? T : never };

export function recordOf<const Fields extends Readonly<Record<string, Field<unknown>>>>(fields: Fields) {
  const all = Object.entries(fields);
  return {
    /** The select list. */
    sql: all.map(([, [column]]) => column).join(', '),
    decode: (row: Row) =>
      Object.fromEntries(all.map(([name, [, decode]], at) => [name, decode(row[at])])) as RecordOf<Fields>,
  };
}

/** Updates a table, with what follows its name in the statement. True if that changed a row. */
export const changesRow = (engine: Engine, table: string, update: string, params: readonly Param[]): Promise<boolean> =>
  engine.transaction(async (tx) => (await tx.rows(`UPDATE ${table} ${update} RETURNING id`, params)).length > 0);

/** Serializes the requests of one owner. SQLite has one writer anyway. */
export async function lockOwner(tx: WriteTransaction, owner: string): Promise<void> {
  if (tx.dialect === 'postgres') await tx.run('SELECT pg_advisory_xact_lock(hashtext($1))', [owner]);
}

/** Above every id, as the start of a list. */
export const MAX_ID = Number.MAX_SAFE_INTEGER;

/** A page of rows, newest first. */
export interface RowPage {
  /** Without an owner: the rows of all owners and of the operator. */
  readonly owner?: string;
  /** Only rows with a lower id. */
  readonly after?: number;
  readonly limit?: number;
}
