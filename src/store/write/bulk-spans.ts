// Statements on spans that take many rows of columns at once.

import type { BulkStatement } from '../engine.ts';
import { arrayParams, params } from '../rows/bulk.ts';
import type { ColumnTypes } from '../rows/columns.ts';

/** What a statement must say to use an index: its conditions, and for PostgreSQL the one that only this index has. */
const INDEXES = {
  span_open_vault: { is: 'until_block IS NULL', own: 'kind >= 0' },
  span_closed_vault: { is: 'until_block IS NOT NULL', own: 'kind >= 0' },
  span_open_pair: { is: 'until_block IS NULL AND version = 1', own: 'key >= 0' },
  span_open_from: { is: 'until_block IS NULL', own: 'cold >= 0' },
} as const;
type SpanIndex = keyof typeof INDEXES;
type OpenIndex = Exclude<SpanIndex, 'span_closed_vault'>;

/** The condition that a span is in the index and equals the given columns, which PostgreSQL has as `k`. */
function isIn(index: SpanIndex, types: ColumnTypes): BulkStatement {
  const names = Object.keys(types);
  const places = params(1, names.length);
  const { is, own } = INDEXES[index];
  return {
    sqlite: `${is} AND ${names.map((name, position) => `${name} = ${places[position]}`).join(' AND ')}`,
    postgres: `span.${is} AND span.${own}
      AND ${names.map((name) => `span.${name}${name === 'chain' ? ' + 0' : ''} = k.${name}`).join(' AND ')}`,
  };
}

/** Selects one span for each row. The LIMIT keeps PostgreSQL on the index. */
export function selectSpan(index: SpanIndex, types: ColumnTypes, select: string): BulkStatement {
  const { sqlite, postgres } = isIn(index, types);
  return {
    sqlite: `SELECT ${select} FROM span INDEXED BY ${index} WHERE ${sqlite} LIMIT 1`,
    postgres: `SELECT s.* FROM unnest(${arrayParams(Object.values(types))}) AS k (${Object.keys(types).join(', ')})
      CROSS JOIN LATERAL (SELECT ${select} FROM span WHERE ${postgres} LIMIT 1) AS s`,
  };
}

/** The most spans that one statement ends, because PostgreSQL's statements have a timeout. */
const MAX_ENDED = 50_000;

/** Ends open spans. The last two cells of a row are the block and the log that end them. */
export function endOpen(index: OpenIndex, types: ColumnTypes): BulkStatement {
  const { sqlite, postgres } = isIn(index, types);
  const names = Object.keys(types);
  const arrays = arrayParams([...Object.values(types), 'bigint', 'bigint']);
  const [block, log] = params(names.length + 1, 2);
  return {
    sqlite: `UPDATE span SET until_block = ${block}, until_log = ${log} WHERE rowid IN (SELECT rowid FROM span INDEXED BY ${index}
      WHERE ${sqlite} LIMIT ${MAX_ENDED})`,
    postgres: `UPDATE span SET until_block = p.until_block, until_log = p.until_log
      FROM (SELECT s.ctid AS place, k.until_block, k.until_log
        FROM unnest(${arrays}) AS k (${names.join(', ')}, until_block, until_log) CROSS JOIN LATERAL (SELECT ctid FROM span
          WHERE ${postgres} LIMIT ${MAX_ENDED}) AS s) AS p WHERE span.ctid = p.place`,
  };
}
