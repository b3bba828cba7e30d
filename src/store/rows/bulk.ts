// Statements that run for many rows at once.

import type { BulkStatement } from '../engine.ts';
import type { ColumnTypes } from './columns.ts';

/** PostgreSQL's parameters, one array per column. */
export const arrayParams = (types: readonly string[], first = 1): string =>
  types.map((type, position) => `$${first + position}::${type}[]`).join(', ');

/** `count` parameters from a number on: `['$4', '$5']`. */
export const params = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, position) => `$${first + position}`);

export function insertInto(table: string, types: ColumnTypes, onConflict = ''): BulkStatement {
  const names = Object.keys(types);
  const into = `INSERT INTO ${table} (${names.join(', ')})`;
  return {
    sqlite: `${into} VALUES (${params(1, names.length).join(', ')}) ${onConflict}`,
    postgres: `${into} SELECT * FROM unnest(${arrayParams(Object.values(types))}) ${onConflict}`,
  };
}
