// Finds open spans and ends them with few statements. Anyone can make the open spans of a v1 wallet, or of a pair, very many, so
// they end inside the database, a part at a time, and are never loaded into memory.

import type { BulkStatement, Dialect, Param } from '../engine.ts';
import { decodeHex, encodeHex } from '../rows/cells.ts';
import type { ColumnTypes } from '../rows/columns.ts';
import { isInIndex, type SpanIndex } from '../rows/span-index.ts';
import { arrayParams, params } from '../rows/sql.ts';
import type { LogPosition } from '../store.ts';
import type { ChainWriter } from './chain-writer.ts';
import type { WideEnd } from './span-set.ts';

/** The condition that a span is in the index and equals the given columns, which PostgreSQL has as `k`. */
function isIn(dialect: Dialect['name'], index: SpanIndex, types: ColumnTypes): string {
  const equal = Object.keys(types).map((name, position) =>
    // Without the sum, PostgreSQL might read the chain by its primary key.
    dialect === 'sqlite' ? `${name} = $${position + 1}` : `span.${name}${name === 'chain' ? ' + 0' : ''} = k.${name}`,
  );
  return [isInIndex(dialect, index, 'span.'), ...equal].join(' AND ');
}

/** Selects one span for each row. The LIMIT keeps PostgreSQL on the index. */
export const selectSpan = (index: SpanIndex, types: ColumnTypes, select: string): BulkStatement => ({
  sqlite: `SELECT ${select} FROM span INDEXED BY span_${index} WHERE ${isIn('sqlite', index, types)} LIMIT 1`,
  postgres: `SELECT s.* FROM unnest(${arrayParams(Object.values(types))}) AS k (${Object.keys(types).join(', ')})
    CROSS JOIN LATERAL (SELECT ${select} FROM span WHERE ${isIn('postgres', index, types)} LIMIT 1) AS s`,
});

/** The most spans that one statement ends, because PostgreSQL's statements have a timeout. */
const MAX_ENDED = 50_000;

/** Ends open spans. The last two cells of a row are the block and the log that end them. */
function endOpen(index: SpanIndex, types: ColumnTypes): BulkStatement {
  const names = Object.keys(types);
  const arrays = arrayParams([...Object.values(types), 'bigint', 'bigint']);
  const [block, log] = params(names.length + 1, 2);
  return {
    sqlite: `UPDATE span SET until_block = ${block}, until_log = ${log} WHERE rowid IN (SELECT rowid FROM span
      INDEXED BY span_${index} WHERE ${isIn('sqlite', index, types)} LIMIT ${MAX_ENDED})`,
    postgres: `UPDATE span SET until_block = p.until_block, until_log = p.until_log
      FROM (SELECT s.ctid AS place, k.until_block, k.until_log
        FROM unnest(${arrays}) AS k (${names.join(', ')}, until_block, until_log) CROSS JOIN LATERAL (SELECT ctid FROM span
          WHERE ${isIn('postgres', index, types)} LIMIT ${MAX_ENDED}) AS s) AS p WHERE span.ctid = p.place`,
  };
}

const WALLET = { chain: 'bigint', cold: 'bigint', version: 'smallint', from_addr: 'bytea' } as const;
export const FIND_OPEN_WALLET = selectSpan('open_from', WALLET, 'from_addr');
export const END_OPEN_WALLET = endOpen('open_from', WALLET);

/** The index of pairs has v1 only. */
const PAIR = { chain: 'bigint', cold: 'bigint', hot: 'bigint', from_addr: 'bytea', to_addr: 'bytea' } as const;
export const FIND_OPEN_PAIR = selectSpan('open_pair', PAIR, 'from_addr, to_addr');
export const END_OPEN_PAIR = endOpen('open_pair', PAIR);

/** The cells of `WALLET` or `PAIR`, and the log that ends the spans. */
type End = { readonly cells: Param[]; readonly at: LogPosition };

/** The first end of a pair or wallet counts. The end of a pair counts only if it comes before that of its wallet. */
export async function endOpenSpans({ tx, chainId, hash }: ChainWriter, ends: readonly WideEnd[]): Promise<void> {
  const pairs = new Map<string, End>();
  const wallets = new Map<string, End>();
  for (const { from, to, at } of ends) {
    if (wallets.has(from)) continue;
    const [cold, bytes] = [hash.cold(chainId, from), encodeHex(from)];
    if (to === null) wallets.set(from, { cells: [chainId, cold, 1, bytes], at });
    else if (!pairs.has(from + to))
      pairs.set(from + to, { cells: [chainId, cold, hash.hot(chainId, to), bytes, encodeHex(to)], at });
  }
  const endAll = async (all: ReadonlyMap<string, End>, find: BulkStatement, end: BulkStatement) => {
    for (let open = [...all.values()]; open.length > 0; ) {
      const rows = open.map(({ cells }) => cells);
      const found = await tx.each(find, rows);
      open = found.map((addresses) => all.get(addresses.map(decodeHex).join('')) as End);
      for (const { cells, at } of open) await tx.each(end, [[...cells, at.block, at.logIndex]]);
    }
  };
  await endAll(pairs, FIND_OPEN_PAIR, END_OPEN_PAIR);
  await endAll(wallets, FIND_OPEN_WALLET, END_OPEN_WALLET);
}
