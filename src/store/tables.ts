// The statements that write and load rows in bulk.

import type { BulkStatement } from './engine.ts';

export type Columns = Readonly<Record<string, 'bigint' | 'smallint' | 'bytea'>>;

const arrays = (types: readonly string[]) => types.map((type, position) => `$${position + 1}::${type}[]`).join(', ');

function insertInto(table: string, columns: Columns, conflict = ''): BulkStatement {
  const names = Object.keys(columns);
  const into = `INSERT INTO ${table} (${names.join(', ')})`;
  return {
    sqlite: `${into} VALUES (${names.map((_, position) => `$${position + 1}`).join(', ')}) ${conflict}`,
    postgres: `${into} SELECT * FROM unnest(${arrays(Object.values(columns))}) ${conflict}`,
  };
}

/** What names a delegation within its version. */
export const KEY_COLUMNS: Columns = {
  kind: 'smallint',
  from_addr: 'bytea',
  to_addr: 'bytea',
  contract: 'bytea',
  token_id: 'bytea',
  rights: 'bytea',
};

const KEY: Columns = { version: 'smallint', ...KEY_COLUMNS };

export const INSERT_BLOCK = insertInto(
  'block',
  { chain: 'bigint', number: 'bigint', hash: 'bytea', timestamp: 'bigint', log_time: 'smallint' },
  'ON CONFLICT DO NOTHING',
);

export const LOG_COLUMNS: Columns = {
  block: 'bigint',
  log_index: 'bigint',
  ...KEY,
  amount: 'bytea',
  transaction_hash: 'bytea',
  revoked: 'bytea',
};
/** As a statement names them. */
export const LOG = Object.keys(LOG_COLUMNS).join(', ');
export const INSERT_LOG = insertInto('log', { chain: 'bigint', ...LOG_COLUMNS });

export const SPAN_COLUMNS: Columns = {
  since_block: 'bigint',
  since_log: 'bigint',
  ...KEY,
  amount: 'bytea',
  until_block: 'bigint',
};
export const INSERT_SPAN = insertInto('span', {
  chain: 'bigint',
  cold: 'bigint',
  hot: 'bigint',
  key: 'bigint',
  ...SPAN_COLUMNS,
});

export const INSERT_PAIR = insertInto(
  'v1_pair',
  { chain: 'bigint', vault: 'bytea', block: 'bigint', delegate: 'bytea', ended_by: 'bigint', read_block: 'bigint' },
  'ON CONFLICT (chain, vault, block, delegate) DO UPDATE SET ended_by = excluded.ended_by, read_block = excluded.read_block',
);

/** chain, since_block, since_log, until_block */
export const CLOSE_SPAN: BulkStatement = {
  sqlite: 'UPDATE span SET until_block = $4 WHERE chain = $1 AND since_block = $2 AND since_log = $3',
  postgres: `UPDATE span SET until_block = k.until_block
    FROM unnest(${arrays(['bigint', 'bigint', 'bigint', 'bigint'])}) AS k (chain, since_block, since_log, until_block)
    WHERE span.chain = k.chain AND span.since_block = k.since_block AND span.since_log = k.since_log`,
};

const SPAN = Object.keys(SPAN_COLUMNS).join(', ');

/** The condition that a span is open and has the values of `columns`, for PostgreSQL in `k`, by that index and no primary key. */
function isOpen(index: OpenIndex, columns: Columns): BulkStatement {
  const names = Object.keys(columns);
  return {
    sqlite: `until_block IS NULL AND ${names.map((name, position) => `${name} = $${position + 1}`).join(' AND ')}`,
    postgres: `span.until_block IS NULL AND ${index === 'span_open_pair' ? 'span.key' : 'span.cold'} >= 0
      AND ${names.map((name) => `span.${name}${name === 'chain' ? ' + 0' : ''} = k.${name}`).join(' AND ')}`,
  };
}
type OpenIndex = 'span_open_pair' | 'span_open_from';

/** Gives `what` of open spans by the given columns, at most `limit` for each row: the LIMIT keeps PostgreSQL on the index. */
function loadOpen(index: OpenIndex, columns: Columns, limit: number, what = SPAN): BulkStatement {
  const { sqlite, postgres } = isOpen(index, columns);
  return {
    sqlite: `SELECT ${what} FROM span INDEXED BY ${index} WHERE ${sqlite} LIMIT ${limit}`,
    postgres: `SELECT s.* FROM unnest(${arrays(Object.values(columns))}) AS k (${Object.keys(columns).join(', ')})
      CROSS JOIN LATERAL (SELECT ${what} FROM span WHERE ${postgres} LIMIT ${limit}) AS s`,
  };
}

/** As many as one statement ends: a server's statements have a deadline. */
const MOST_ENDED = 50_000;

/** Ends open spans by the given columns, and `until_block` behind them. */
function endOpen(index: OpenIndex, columns: Columns): BulkStatement {
  const { sqlite, postgres } = isOpen(index, columns);
  const names = Object.keys(columns);
  const types = arrays([...Object.values(columns), 'bigint']);
  return {
    sqlite: `UPDATE span SET until_block = $${names.length + 1} WHERE rowid IN (SELECT rowid FROM span INDEXED BY ${index}
      WHERE ${sqlite} LIMIT ${MOST_ENDED})`,
    postgres: `UPDATE span SET until_block = p.until_block FROM (SELECT s.ctid AS place, k.until_block
        FROM unnest(${types}) AS k (${names.join(', ')}, until_block) CROSS JOIN LATERAL (SELECT ctid FROM span
          WHERE ${postgres} LIMIT ${MOST_ENDED}) AS s) AS p WHERE span.ctid = p.place`,
  };
}

const SHORT: Columns = { cold: 'bigint', hot: 'bigint', key: 'bigint' };
/** chain, cold, hot, key, version and the columns of a key */
export const LOAD_OPEN_KEY = loadOpen('span_open_pair', { chain: 'bigint', ...SHORT, ...KEY }, 1);

const WALLET: Columns = { chain: 'bigint', cold: 'bigint', version: 'smallint', from_addr: 'bytea' };
export const FIND_OPEN_WALLET = loadOpen('span_open_from', WALLET, 1, 'from_addr');
export const END_OPEN_WALLET = endOpen('span_open_from', WALLET);

const PAIR: Columns = {
  chain: 'bigint',
  cold: 'bigint',
  hot: 'bigint',
  version: 'smallint',
  from_addr: 'bytea',
  to_addr: 'bytea',
};
export const FIND_OPEN_PAIR = loadOpen('span_open_pair', PAIR, 1, 'from_addr, to_addr');
export const END_OPEN_PAIR = endOpen('span_open_pair', PAIR);
