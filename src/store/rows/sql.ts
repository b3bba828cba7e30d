// Pieces of SQL: parameters, statements for many rows at once, and statements that are built once.

import type { BulkStatement, Dialect } from '../engine.ts';
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

/** A condition as 1 or 0 in both engines. */
export const asNumber = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`;

/** SQLite is told an index by its name. PostgreSQL finds it by the condition of the index. */
export const indexedBy = (dialect: Dialect['name'], index: string) =>
  dialect === 'sqlite' ? ` INDEXED BY ${index}` : '';

/** A part of a UNION, cut at its limit. SQLite merges parts as it reads them; PostgreSQL might sort a whole one. */
export const limited = (dialect: Dialect['name'], select: string, order: string, limit: string) =>
  dialect === 'sqlite' ? select : `(${select} ORDER BY ${order} LIMIT ${limit})`;

/** Builds each variant of a statement once, by its arguments. */
export function once<Args extends readonly (string | number | boolean | undefined)[], T>(
  build: (...args: Args) => T,
): (...args: Args) => T {
  const built = new Map<string, T>();
  return (...args) => built.getOrInsertComputed(args.join(), () => build(...args));
}
