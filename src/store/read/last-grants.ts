// Finds the last grant of some sort that an owner made and that counts as of a block. It is looked for from the end of the owner's
// list, by an index of that sort, so an owner with very many grants costs no more than others, unless the last ones of the sort do not
// count: those are read in steps.

import type { Dialect, Engine, Param, Row } from '../engine.ts';
import { decodeNumber, decodeNumberOrNull } from '../rows/cells.ts';
import { type ColumnTypes, columns, namesOf, ofTable } from '../rows/columns.ts';
import { RIGHTS_ID, spansBy } from '../rows/span-index.ts';
import { arrayParams, limited, once } from '../rows/sql.ts';
import { DETAILED } from './held-columns.ts';
import { isSpan } from './key-spans.ts';

const OWNER = { cold: 'bigint', from_addr: 'bytea' } as const;
const SUBJECT = { kind: 'smallint', contract: 'bytea', token_id: 'bytea' } as const;
/** What the columns of a span are compared with, by index. `id` is the identifier of its rights. */
const SORTS = {
  exclusive_from: { ...OWNER, ...SUBJECT, id: 'bytea' },
  last: { ...OWNER, key: 'bigint', version: 'smallint', ...SUBJECT, rights: 'bytea' },
} as const satisfies Readonly<Record<string, ColumnTypes>>;
export type Sort = keyof typeof SORTS;

const POSITION = ['first_block', 'first_log', 'since_block', 'since_log'] as const;
/** The position before which a grant is. */
const BEFORE = Object.fromEntries(POSITION.map((name) => [`before_${name}`, 'bigint'])) as ColumnTypes;
const END = Array(POSITION.length).fill(Number.MAX_SAFE_INTEGER);
const OWN = ['first_block', 'first_log', 'until_block', 'to_addr', 'rights'] as const;
export const LAST_ROW = columns('position', ...OWN, ...namesOf(DETAILED.expressions));

/** Nearly always the last grant of a sort decides. */
const FIRST_ROWS = 4;
const MORE_ROWS = 500;
/** How many grants are read at once. */
const CHUNK = 1000;

/**
 * Returns the last grants of a sort that an owner made before a position, the last first, with those that did not hold: a read has a
 * bounded number of rows. $1 is the chain, $2 the block, $3 how many; what is looked up follows. In PostgreSQL, many are.
 */
export const lastGrantsStatement = once((dialect: Dialect['name'], isHead: boolean, sort: Sort): string => {
  const types: ColumnTypes = { ...SORTS[sort], ...BEFORE };
  const names = Object.keys(types);
  const cellOf = (name: string) => (dialect === 'sqlite' ? `$${4 + names.indexOf(name)}` : `q.${name}`);
  const { id, ...compared } = Object.fromEntries(Object.keys(SORTS[sort]).map((name) => [name, cellOf(name)]));
  const where = [
    isSpan('s', compared),
    ...(id === undefined ? [] : [`${RIGHTS_ID.replace('rights', 's.rights')} = ${id}`]),
    's.chain + 0 = $1 AND s.first_block <= $2',
    `(${POSITION.map((name) => `s.${name}`).join(', ')}) < (${Object.keys(BEFORE).map(cellOf).join(', ')})`,
  ].join(' AND ');
  const expressions = { ...ofTable('s', OWN), ...DETAILED.expressions };
  const order = POSITION.map((name) => `${name} DESC`).join(', ');
  const scan = (half: 'open' | 'closed') =>
    `SELECT ${columns(...namesOf(expressions)).select(expressions)} FROM ${spansBy(dialect, `${half}_${sort}`, 's', where)}`;
  const halves = isHead
    ? scan('open')
    : (['open', 'closed'] as const).map((half) => limited(dialect, scan(half), order, '$3')).join(' UNION ALL ');
  const spans = `${halves} ORDER BY ${order} LIMIT $3`;
  const selected = LAST_ROW.select({
    ...ofTable('s', namesOf(expressions)),
    position: dialect === 'sqlite' ? '0' : 'q.position - 1',
  });
  if (dialect === 'sqlite') return `SELECT ${selected} FROM (${spans}) AS s`;
  return `SELECT ${selected} FROM unnest(${arrayParams(Object.values(types), 4)}) WITH ORDINALITY AS q (${names.join(', ')}, position)
    CROSS JOIN LATERAL (${spans}) AS s`;
});

function lastFirst(one: Row, other: Row): number {
  for (const name of POSITION) {
    const distance = decodeNumber(other[LAST_ROW.col[name]]) - decodeNumber(one[LAST_ROW.col[name]]);
    if (distance !== 0) return distance;
  }
  return 0;
}

/** Grants of one sort of an owner. */
interface Lookup<T> {
  readonly cells: Readonly<Record<string, Param>>;
  /** What a grant that held at the block means; null if it does not count. */
  decode(row: Row): T | null;
}

export function createLastGrants(engine: Engine, sort: Sort) {
  const { readMany } = engine;
  const names = Object.keys(SORTS[sort]);

  /** The rows of each lookup, the last grant first. */
  async function readRows(shared: readonly Param[], isHead: boolean, lookups: readonly Param[][]) {
    const sql = lastGrantsStatement(engine.dialect.name, isHead, sort);
    if (readMany === null)
      return Promise.all(lookups.map(async (lookup) => await engine.rows(sql, [...shared, ...lookup])));
    const found: Row[][] = lookups.map(() => []);
    for (const row of await readMany(sql, shared, [...lookups]))
      found[decodeNumber(row[LAST_ROW.col.position])]?.push(row);
    // SQL promises no order of what is joined.
    for (const rows of found) rows.sort(lastFirst);
    return found;
  }

  /** The last grant of each lookup that counts, or null, and how many grants were read. */
  return async <T>(chainId: number, block: number, isHead: boolean, lookups: readonly Lookup<T>[]) => {
    const lasts: (T | null)[] = lookups.map(() => null);
    let read = 0;
    const decode = (lookup: Lookup<T>, row: Row): T | null => {
      const since = decodeNumber(row[LAST_ROW.col.since_block]);
      const until = decodeNumberOrNull(row[LAST_ROW.col.until_block]);
      return since > block || (until !== null && until <= block) ? null : lookup.decode(row);
    };
    let left = lookups.map((lookup, position) => ({ lookup, position, before: END as readonly number[] }));
    for (let limit = FIRST_ROWS; left.length > 0; limit = MORE_ROWS) {
      const rest: typeof left = [];
      const size = CHUNK / limit;
      for (let first = 0; first < left.length; first += size) {
        // Other requests come between two steps.
        if (first > 0 || limit > FIRST_ROWS) await new Promise(setImmediate);
        const chunk = left.slice(first, first + size);
        const asked = chunk.map(({ lookup, before }) => [
          ...names.map((name) => lookup.cells[name] ?? null),
          ...before,
        ]);
        const found = await readRows([chainId, block, limit], isHead, asked);
        for (const [turn, one] of chunk.entries()) {
          const rows = found[turn] as Row[];
          read += rows.length;
          let counting: T | null = null;
          for (const row of rows) {
            counting = decode(one.lookup, row);
            if (counting !== null) break;
          }
          const last = rows.at(-1);
          if (counting !== null) lasts[one.position] = counting;
          else if (last !== undefined && rows.length === limit)
            rest.push({ ...one, before: POSITION.map((name) => decodeNumber(last[LAST_ROW.col[name]])) });
        }
      }
      left = rest;
    }
    return { lasts, read };
  };
}
