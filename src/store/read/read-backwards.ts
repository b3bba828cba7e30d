// Reads lists of grants from their ends, in steps, until the last grant of each that counts is found.

import type { Engine, Param, Row } from '../engine.ts';
import { decodeNumber } from '../rows/cells.ts';
import type { Cols } from '../rows/columns.ts';
import { POSITION } from './list-scan.ts';

/** Nearly always the last grant counts. */
const FIRST_ROWS = 4;
const MORE_ROWS = 1000;
/** The most rows that are read without a break. */
const MOST_ROWS = 1000;

/** Reads what is looked up by a statement that gives each row the position of its lookup: the rows of each, in order. */
export function createLookups({ readMany, rows }: Engine, position: number) {
  return async (sql: string, shared: readonly Param[], lookups: readonly Param[][]): Promise<Row[][]> => {
    if (readMany === null) return Promise.all(lookups.map(async (one) => await rows(sql, [...shared, ...one])));
    const found = Map.groupBy(await readMany(sql, shared, lookups), (row) => decodeNumber(row[position]));
    return lookups.map((_, turn) => found.get(turn) ?? []);
  };
}

/** `decode` returns null for a grant that does not count. Also returns how many grants were read. */
export async function readBackwards<Lookup extends { readonly before: readonly number[] }, T>(
  lookups: readonly Lookup[],
  reading: {
    readonly col: Cols<(typeof POSITION)[number]>;
    /** The last rows of each before its position, the last first. */
    readonly rows: (lookups: readonly Lookup[], limit: number) => Promise<Row[][]>;
    readonly decode: (lookup: Lookup, row: Row) => T | null;
  },
) {
  const { col, rows: readRows, decode } = reading;
  const lasts: (T | null)[] = lookups.map(() => null);
  let read = 0;
  let left = lookups.map((lookup, turn) => ({ lookup, turn }));
  for (let limit = FIRST_ROWS; left.length > 0; limit = MORE_ROWS) {
    const rest: typeof left = [];
    for (let first = 0; first < left.length; first += MOST_ROWS / limit) {
      // Other requests come between two steps.
      if (first > 0 || limit > FIRST_ROWS) await new Promise(setImmediate);
      const some = left.slice(first, first + MOST_ROWS / limit);
      const found = await readRows(
        some.map(({ lookup }) => lookup),
        limit,
      );
      for (const [at, { lookup, turn }] of some.entries()) {
        const rows = found[at] ?? [];
        read += rows.length;
        const counting = rows
          .values()
          .map((row) => decode(lookup, row))
          .find((one) => one !== null);
        const last = rows.at(-1);
        if (counting !== undefined) lasts[turn] = counting;
        else if (last !== undefined && rows.length === limit)
          rest.push({ lookup: { ...lookup, before: POSITION.map((name) => decodeNumber(last[col[name]])) }, turn });
      }
    }
    left = rest;
  }
  return { found: lasts, read };
}
