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
  { chain: 'bigint', number: 'bigint', hash: 'bytea', timestamp: 'bigint' },
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

export const INSERT_READ = insertInto(
  'v1_read',
  { chain: 'bigint', vault: 'bytea', cold: 'bigint', block: 'bigint', read_block: 'bigint' },
  'ON CONFLICT (chain, vault, block) DO UPDATE SET read_block = excluded.read_block',
);

export const INSERT_ENDED = insertInto('v1_ended', {
  chain: 'bigint',
  block: 'bigint',
  kind: 'smallint',
  from_addr: 'bytea',
  to_addr: 'bytea',
  contract: 'bytea',
  token_id: 'bytea',
  read_block: 'bigint',
});

/** chain, since_block, since_log, until_block */
export const CLOSE_SPAN: BulkStatement = {
  sqlite: 'UPDATE span SET until_block = $4 WHERE chain = $1 AND since_block = $2 AND since_log = $3',
  postgres: `UPDATE span SET until_block = k.until_block
    FROM unnest(${arrays(['bigint', 'bigint', 'bigint', 'bigint'])}) AS k (chain, since_block, since_log, until_block)
    WHERE span.chain = k.chain AND span.since_block = k.since_block AND span.since_log = k.since_log`,
};

/** chain, since_block, since_log */
export const DELETE_SPAN: BulkStatement = {
  sqlite: 'DELETE FROM span WHERE chain = $1 AND since_block = $2 AND since_log = $3',
  postgres: `DELETE FROM span USING unnest(${arrays(['bigint', 'bigint', 'bigint'])}) AS k (chain, since_block, since_log)
    WHERE span.chain = k.chain AND span.since_block = k.since_block AND span.since_log = k.since_log`,
};

const SPAN = Object.keys(SPAN_COLUMNS).join(', ');

/** Loads open spans by the given columns, at most `limit` for each row: the LIMIT keeps PostgreSQL on the index. */
function loadOpen(index: string, columns: Columns, limit: number): BulkStatement {
  const names = Object.keys(columns);
  return {
    sqlite: `SELECT ${SPAN} FROM span INDEXED BY ${index} WHERE until_block IS NULL
      AND ${names.map((name, position) => `${name} = $${position + 1}`).join(' AND ')}`,
    postgres: `SELECT s.* FROM unnest(${arrays(Object.values(columns))}) AS k (${names.join(', ')})
      CROSS JOIN LATERAL (SELECT ${SPAN} FROM span WHERE until_block IS NULL
        AND ${names.map((name) => `span.${name} = k.${name}`).join(' AND ')} LIMIT ${limit}) AS s`,
  };
}

/** As many as there are. */
const ALL = 2 ** 31;
const SHORT: Columns = { cold: 'bigint', hot: 'bigint', key: 'bigint' };
/** chain, cold, hot, key, version and the columns of a key */
export const LOAD_OPEN_KEY = loadOpen('span_open_pair', { chain: 'bigint', ...SHORT, ...KEY }, 1);
/** chain, cold, hot, version, from, to */
export const LOAD_OPEN_PAIR = loadOpen(
  'span_open_pair',
  { chain: 'bigint', cold: 'bigint', hot: 'bigint', version: 'smallint', from_addr: 'bytea', to_addr: 'bytea' },
  ALL,
);
/** chain, cold, version, from */
export const LOAD_OPEN_WALLET = loadOpen(
  'span_open_from',
  { chain: 'bigint', cold: 'bigint', version: 'smallint', from_addr: 'bytea' },
  ALL,
);
