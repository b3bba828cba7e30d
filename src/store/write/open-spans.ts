// Statements on open spans that take many rows of columns at once.

import type { BulkStatement } from '../engine.ts';
import { arrayParams, params } from '../rows/bulk.ts';
import type { ColumnTypes } from '../rows/columns.ts';

type OpenIndex = 'span_open_pair' | 'span_open_from';

/** The condition that a span is open and equals the given columns, which PostgreSQL has as `k`. It keeps both on the index. */
function isOpen(index: OpenIndex, types: ColumnTypes): BulkStatement {
  const names = Object.keys(types);
  const places = params(1, names.length);
  return {
    sqlite: `until_block IS NULL AND ${names.map((name, position) => `${name} = ${places[position]}`).join(' AND ')}`,
    postgres: `span.until_block IS NULL AND ${index === 'span_open_pair' ? 'span.key' : 'span.cold'} >= 0
      AND ${names.map((name) => `span.${name}${name === 'chain' ? ' + 0' : ''} = k.${name}`).join(' AND ')}`,
  };
}

/** Selects one open span for each row. The LIMIT keeps PostgreSQL on the index. */
export function selectOpen(index: OpenIndex, types: ColumnTypes, select: string): BulkStatement {
  const { sqlite, postgres } = isOpen(index, types);
  return {
    sqlite: `SELECT ${select} FROM span INDEXED BY ${index} WHERE ${sqlite} LIMIT 1`,
    postgres: `SELECT s.* FROM unnest(${arrayParams(Object.values(types))}) AS k (${Object.keys(types).join(', ')})
      CROSS JOIN LATERAL (SELECT ${select} FROM span WHERE ${postgres} LIMIT 1) AS s`,
  };
}

/** The most spans that one statement ends, because PostgreSQL's statements have a timeout. */
const MAX_ENDED = 50_000;

/** Ends open spans. The last cell of a row is the block at which they end. */
export function endOpen(index: OpenIndex, types: ColumnTypes): BulkStatement {
  const { sqlite, postgres } = isOpen(index, types);
  const names = Object.keys(types);
  const arrays = arrayParams([...Object.values(types), 'bigint']);
  return {
    sqlite: `UPDATE span SET until_block = $${names.length + 1} WHERE rowid IN (SELECT rowid FROM span INDEXED BY ${index}
      WHERE ${sqlite} LIMIT ${MAX_ENDED})`,
    postgres: `UPDATE span SET until_block = p.until_block FROM (SELECT s.ctid AS place, k.until_block
        FROM unnest(${arrays}) AS k (${names.join(', ')}, until_block) CROSS JOIN LATERAL (SELECT ctid FROM span
          WHERE ${postgres} LIMIT ${MAX_ENDED}) AS s) AS p WHERE span.ctid = p.place`,
  };
}
