// The store's tables, and their migrations.

import type { Dialect, Engine } from './engine.ts';
import { StoreError } from './errors.ts';
import { fillIdentity } from './identity.ts';
import { createIndexHash } from './index-hash.ts';
import { type Migration, migrateTables, type OnMigration, rejectNewer, type Schema, schemaVersion } from './migrate.ts';
import { decodeHex, decodeNumber, decodeUint } from './rows/cells.ts';
import { DELEGATE_REVOKED } from './rows/log-row.ts';
import { drawStamp } from './stamp.ts';
import { deriveChain } from './write/derive.ts';

/**
 * - chain: the state of each chain's index, and its newest writer
 * - block: hashes and times of blocks with logs, of the newest blocks, and of the first
 * - log: every registry log; everything else about delegations is derived from these
 * - span: a range of blocks in which a delegation held, from the log that began it to the block that ended it
 * - v1_read: revocations that named no delegate, and the block whose state settled them
 * - v1_pair: whether such a revocation ended everything from the wallet to one delegate, and by which log
 * - lease: which process follows a chain, and until when
 * - identity: the store's unique id, and the secret of its index hashes
 * - rewrite: the revisions at which stored history changed, and from which block on
 */
const first = ({ integer, small, bytes, clustered }: Dialect) => [
  `CREATE TABLE chain (
    chain ${integer} PRIMARY KEY, epoch ${integer} NOT NULL, first_block ${integer} NOT NULL,
    head_number ${integer}, head_hash ${bytes}, head_timestamp ${integer}, verified ${integer},
    confirmed_at ${integer}, tip ${integer}, shut TEXT, partial ${small} NOT NULL DEFAULT 0,
    revision ${integer} NOT NULL, commits ${integer} NOT NULL)`,
  `CREATE TABLE block (
    chain ${integer} NOT NULL, number ${integer} NOT NULL, hash ${bytes} NOT NULL, timestamp ${integer} NOT NULL,
    PRIMARY KEY (chain, number))${clustered}`,
  'CREATE INDEX block_time ON block (chain, timestamp, number)',
  `CREATE TABLE log (
    chain ${integer} NOT NULL, block ${integer} NOT NULL, log_index ${integer} NOT NULL,
    version ${small} NOT NULL, kind ${small} NOT NULL, from_addr ${bytes} NOT NULL, to_addr ${bytes} NOT NULL,
    contract ${bytes} NOT NULL, token_id ${bytes} NOT NULL, rights ${bytes} NOT NULL, amount ${bytes} NOT NULL,
    transaction_hash ${bytes} NOT NULL, revoked ${bytes},
    PRIMARY KEY (chain, block, log_index))${clustered}`,
  // cold, hot and key are the hashes of index-hash.ts, which lead the indexes.
  `CREATE TABLE span (
    chain ${integer} NOT NULL, since_block ${integer} NOT NULL, since_log ${integer} NOT NULL,
    cold ${integer} NOT NULL, hot ${integer} NOT NULL, key ${integer} NOT NULL,
    version ${small} NOT NULL, kind ${small} NOT NULL, from_addr ${bytes} NOT NULL, to_addr ${bytes} NOT NULL,
    contract ${bytes} NOT NULL, token_id ${bytes} NOT NULL, rights ${bytes} NOT NULL, amount ${bytes},
    until_block ${integer},
    PRIMARY KEY (chain, since_block, since_log))`,
  // Every index has an open and a closed half. A span is in one of them, so the open half is as small as the live set.
  'CREATE INDEX span_open_pair ON span (cold, hot, key) WHERE until_block IS NULL',
  'CREATE INDEX span_closed_pair ON span (cold, hot, key, until_block) WHERE until_block IS NOT NULL',
  ...[
    ['from', 'cold'],
    ['to', 'hot'],
  ].flatMap(([side, hash]) => [
    `CREATE INDEX span_open_${side} ON span (${hash}, chain, version, since_block, since_log)
      WHERE until_block IS NULL`,
    `CREATE INDEX span_closed_${side} ON span (${hash}, chain, version, since_block, since_log)
      WHERE until_block IS NOT NULL`,
  ]),
  'CREATE INDEX span_until ON span (chain, until_block) WHERE until_block IS NOT NULL',
  `CREATE TABLE v1_read (
    chain ${integer} NOT NULL, vault ${bytes} NOT NULL, block ${integer} NOT NULL, cold ${integer} NOT NULL,
    read_block ${integer},
    PRIMARY KEY (chain, vault, block))${clustered}`,
  'CREATE INDEX v1_unread ON v1_read (chain, vault) WHERE read_block IS NULL OR read_block > block',
  `CREATE TABLE v1_ended (
    chain ${integer} NOT NULL, block ${integer} NOT NULL, kind ${small} NOT NULL,
    from_addr ${bytes} NOT NULL, to_addr ${bytes} NOT NULL, contract ${bytes} NOT NULL, token_id ${bytes} NOT NULL,
    read_block ${integer} NOT NULL,
    PRIMARY KEY (chain, block, from_addr, to_addr, kind, contract, token_id))${clustered}`,
  `CREATE TABLE lease (
    chain ${integer} PRIMARY KEY, holder TEXT NOT NULL, expires_at ${integer} NOT NULL)`,
  `CREATE TABLE identity (id ${bytes} NOT NULL, secret ${bytes} NOT NULL)`,
  `CREATE TABLE rewrite (
    chain ${integer} NOT NULL, revision ${integer} NOT NULL, from_block ${integer} NOT NULL,
    PRIMARY KEY (chain, revision))${clustered}`,
];

/** Deletes spans that began and ended in one block, because they could hide the span before them. */
const withoutEmptySpans = (): Migration => [
  'DELETE FROM span WHERE until_block IS NOT NULL AND since_block = until_block',
];

/**
 * Stamps distinguish a commit or revision from one with the same number in a lost history: see stamp.ts.
 * - revision: every revision of this history, with its stamp
 */
const stamps = ({ integer, clustered }: Dialect): Migration => [
  `ALTER TABLE chain ADD COLUMN stamp ${integer} NOT NULL DEFAULT 0`,
  `CREATE TABLE revision (
    chain ${integer} NOT NULL, revision ${integer} NOT NULL, stamp ${integer} NOT NULL,
    PRIMARY KEY (chain, revision))${clustered}`,
  `INSERT INTO revision (chain, revision, stamp) SELECT chain, revision, ${drawStamp()} FROM chain`,
];

/**
 * PostgreSQL picks an index by its statistics. With few of them it may pick the wrong one and read a whole wallet for one
 * delegation. It cannot pick a partial index unless the statement repeats its condition, so each index gets its own condition
 * that is always true: `key >= 0`, `cold >= 0`, `hot >= 0`. SQLite is told its index by name.
 */
const ownConditions = ({ name }: Dialect): Migration =>
  name === 'sqlite'
    ? []
    : [
        ['open', 'IS NULL'],
        ['closed', 'IS NOT NULL'],
      ].flatMap(([half, until]) =>
        [
          ['pair', half === 'open' ? 'cold, hot, key' : 'cold, hot, key, until_block', 'key'],
          ['from', 'cold, chain, version, since_block, since_log', 'cold'],
          ['to', 'hot, chain, version, since_block, since_log', 'hot'],
        ].flatMap(([index, columns, hash]) => [
          `DROP INDEX span_${half}_${index}`,
          `CREATE INDEX span_${half}_${index} ON span (${columns}) WHERE until_block ${until} AND ${hash} >= 0`,
        ]),
      );

/** Halts become data. A second provider has confirmed history up to the block `confirmed`. */
const halts = ({ integer }: Dialect): Migration => [
  'ALTER TABLE chain ADD COLUMN halt TEXT',
  `ALTER TABLE chain ADD COLUMN confirmed ${integer}`,
  'ALTER TABLE chain DROP COLUMN shut',
];

/**
 * Revocations are settled by pair: by the last log of the block before which nothing was granted that held at its end. Times
 * that a log reported are marked until a header confirms them.
 */
const pairs = ({ integer, small, bytes, clustered }: Dialect): Migration => [
  `CREATE TABLE v1_pair (
    chain ${integer} NOT NULL, vault ${bytes} NOT NULL, block ${integer} NOT NULL, delegate ${bytes} NOT NULL,
    ended_by ${integer}, read_block ${integer} NOT NULL,
    PRIMARY KEY (chain, vault, block, delegate))${clustered}`,
  `INSERT INTO v1_pair (chain, vault, block, delegate, ended_by, read_block)
    SELECT e.chain, e.from_addr, e.block, e.to_addr,
      (SELECT max(l.log_index) FROM log l WHERE l.chain = e.chain AND l.block = e.block AND l.version = 1
        AND l.kind = ${DELEGATE_REVOKED} AND l.from_addr = e.from_addr AND l.to_addr = e.from_addr AND l.revoked IS NULL
        AND NOT EXISTS (SELECT 1 FROM span s WHERE s.chain = e.chain AND s.since_block = e.block
          AND s.since_log < l.log_index AND s.version = 1 AND s.from_addr = e.from_addr AND s.to_addr = e.to_addr
          AND (s.until_block IS NULL OR s.until_block > e.block))),
      max(e.read_block)
    FROM v1_ended e GROUP BY e.chain, e.from_addr, e.block, e.to_addr`,
  'DROP TABLE v1_ended',
  'CREATE INDEX v1_read_block ON v1_read (chain, block)',
  `ALTER TABLE block ADD COLUMN log_time ${small} NOT NULL DEFAULT 0`,
  'UPDATE block SET log_time = 1',
  'CREATE INDEX block_log_time ON block (chain, number) WHERE log_time = 1',
];

/** The index hashes of wallets differ by chain. The last migration derives the spans, whose columns have changed since. */
const hashesByChain = (): Migration => [
  async (tx) => {
    const [identity] = await tx.rows('SELECT secret FROM identity', []);
    // A new store has no identity yet, and no rows to change.
    if (identity === undefined) return;
    const hash = createIndexHash(decodeUint(identity[0]));
    for (const [chain, vault, block] of await tx.rows('SELECT chain, vault, block FROM v1_read', [])) {
      const [chainId, number] = [decodeNumber(chain), decodeNumber(block)];
      await tx.run('UPDATE v1_read SET cold = $4 WHERE chain = $1 AND vault = $2 AND block = $3', [
        chainId,
        vault as Uint8Array,
        number,
        hash.cold(chainId, decodeHex(vault)),
      ]);
    }
  },
];

const LIST_ORDER = 'chain, version, first_block, first_log, since_block, since_log';

/**
 * Every index on spans, by half. A span is in one half of each, so the open half is as small as the live set.
 * - vault, delegate: one delegation, and the other wallets of a wallet by address
 * - pair: everything from one v1 wallet to another, which v1 can end with one log
 * - from, to: the list of a wallet, in its order
 * - until: what ended above a block, and the changes of a chain in their order
 *
 * PostgreSQL gets a condition for each that is always true and that no other index has: see `ownConditions`.
 */
const spanIndexes = ({ name }: Dialect): string[] => {
  const create = (index: string, columns: string, ...conditions: readonly string[]) =>
    `CREATE INDEX span_${index} ON span (${columns}) WHERE ${conditions.join(' AND ')}`;
  const own = (condition: string) => (name === 'postgres' ? [condition] : []);
  return [
    { half: 'open', is: 'until_block IS NULL', end: '' },
    { half: 'closed', is: 'until_block IS NOT NULL', end: ', until_block' },
  ]
    .flatMap(({ half, is, end }) => [
      create(`${half}_vault`, `hot, key, from_addr${end}`, is, ...own('kind >= 0')),
      create(`${half}_delegate`, `cold, key, to_addr${end}`, is, ...own('first_log >= 0')),
      create(`${half}_pair`, `cold, hot${end}`, is, 'version = 1', ...own('key >= 0')),
      create(`${half}_from`, `cold, ${LIST_ORDER}`, is, ...own('cold >= 0')),
      create(`${half}_to`, `hot, ${LIST_ORDER}`, is, ...own('hot >= 0')),
    ])
    .concat(create('until', 'chain, until_block', 'until_block IS NOT NULL', ...own('chain >= 0')));
};

/** A span has its place in lists: the first grant of its delegation, or its own grant where the version does not keep places. */
const places = (dialect: Dialect): Migration => [
  // The table stays, because a reader's privileges are on it.
  dialect.name === 'postgres' ? 'TRUNCATE span' : 'DELETE FROM span',
  ...['open_pair', 'closed_pair', 'open_from', 'closed_from', 'open_to', 'closed_to', 'until'].map(
    (index) => `DROP INDEX span_${index}`,
  ),
  ...['first_block', 'first_log'].map(
    (column) => `ALTER TABLE span ADD COLUMN ${column} ${dialect.integer} NOT NULL DEFAULT 0`,
  ),
  ...spanIndexes(dialect),
];

/** A span has the letter case of its addresses, so that lists do not compute it. The last migration fills it. */
const casings = ({ bytes, name }: Dialect): Migration => [
  `ALTER TABLE span ADD COLUMN casing ${bytes} NOT NULL DEFAULT ${name === 'postgres' ? "''" : "x''"}`,
];

/**
 * A span has the log that ended it. New indexes:
 * - until: the changes of a chain in their order
 * - granted, received: the history of a wallet in its order
 *
 * The spans are derived again, which fills what this migration and those before have added. A new revision makes the ETags of lists in
 * an older order outdated.
 */
const changes = ({ integer, name }: Dialect): Migration => {
  const own = (condition: string) => (name === 'postgres' ? ` WHERE ${condition}` : '');
  const chainOnly = name === 'postgres' ? ' AND chain >= 0' : '';
  return [
    `ALTER TABLE span ADD COLUMN until_log ${integer}`,
    'DROP INDEX span_until',
    `CREATE INDEX span_until ON span (chain, until_block, until_log, since_block, since_log) WHERE until_block IS NOT NULL${chainOnly}`,
    `CREATE INDEX span_granted ON span (cold, chain, since_block, since_log)${own('since_block >= 0')}`,
    `CREATE INDEX span_received ON span (hot, chain, since_block, since_log)${own('since_log >= 0')}`,
    async (tx) => {
      const [identity] = await tx.rows('SELECT secret FROM identity', []);
      if (identity === undefined) return;
      const hash = createIndexHash(decodeUint(identity[0]));
      for (const [chain, revision] of await tx.rows('SELECT chain, revision FROM chain', [])) {
        const [chainId, next] = [decodeNumber(chain), decodeNumber(revision) + 1];
        await deriveChain({ tx, chainId, hash });
        await tx.run('UPDATE chain SET revision = $2, commits = commits + 1, stamp = $3 WHERE chain = $1', [
          chainId,
          next,
          drawStamp(),
        ]);
        const stamped = 'INSERT INTO revision (chain, revision, stamp) VALUES ($1, $2, $3)';
        await tx.run(stamped, [chainId, next, drawStamp()]);
      }
    },
  ];
};

/** The lag of each chain in every ten minutes of the last day: see lag.ts. */
const lags = ({ integer, clustered }: Dialect): Migration => [
  `CREATE TABLE lag (
    chain ${integer} NOT NULL, at ${integer} NOT NULL, seconds ${integer} NOT NULL,
    PRIMARY KEY (chain, at))${clustered}`,
];

/**
 * A block with logs is unproven until its hash is known to commit to them. A chain has the wallets that are disputed, and whether it
 * waits for proofs.
 */
const proofs = ({ small }: Dialect): Migration => [
  `ALTER TABLE block ADD COLUMN unproven ${small} NOT NULL DEFAULT 0`,
  'UPDATE block SET unproven = 1 WHERE EXISTS (SELECT 1 FROM log l WHERE l.chain = block.chain AND l.block = block.number)',
  'CREATE INDEX block_unproven ON block (chain, number) WHERE unproven = 1',
  'ALTER TABLE chain ADD COLUMN disputes TEXT',
  `ALTER TABLE chain ADD COLUMN proving ${small} NOT NULL DEFAULT 0`,
  `ALTER TABLE chain ADD COLUMN provable ${small}`,
];

/**
 * The changes of a wallet or a contract in their order, beside `granted` and `received`:
 * - until_from, until_to: what ended of a wallet, whose hash differs by chain
 * - since_contract, until_contract: what began and ended of a contract
 *
 * PostgreSQL gets a condition for each that no other index has: see `ownConditions`.
 */
const filteredChanges = ({ name }: Dialect): Migration => {
  const own = (condition: string) => (name === 'postgres' ? [condition] : []);
  const create = (index: string, columns: string, ...conditions: readonly string[]) =>
    `CREATE INDEX span_${index} ON span (${columns}) WHERE ${conditions.join(' AND ')}`;
  const [hasEnded, hasContract] = ['until_block IS NOT NULL', 'length(contract) > 0'];
  const ends = 'until_block, until_log, since_block, since_log';
  return [
    create('until_from', `cold, ${ends}`, hasEnded, ...own('until_log >= 0')),
    create('until_to', `hot, ${ends}`, hasEnded, ...own('until_block >= 0')),
    create('since_contract', 'contract, chain, since_block, since_log', hasContract, ...own('first_block >= 0')),
    create('until_contract', `contract, chain, ${ends}`, hasEnded, hasContract),
  ];
};

/** The head at each revision, for readers of changes that have seen lost history. For older revisions it is not known. */
const heads = ({ integer }: Dialect): Migration => [
  `ALTER TABLE revision ADD COLUMN head ${integer} NOT NULL DEFAULT 0`,
];

/** In order. A migration that has shipped is never changed. */
const MIGRATIONS: readonly ((dialect: Dialect) => Migration)[] = [
  first,
  withoutEmptySpans,
  stamps,
  ownConditions,
  halts,
  pairs,
  hashesByChain,
  places,
  casings,
  changes,
  lags,
  proofs,
  filteredChanges,
  heads,
];
export const STORE_SCHEMA: Schema = {
  table: 'schema_version',
  what: 'store',
  migrations: MIGRATIONS,
  fill: fillIdentity,
};
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Migrates the store to the newest schema, or, in tests, to an older one. */
export const migrate = (engine: Engine, onMigration?: OnMigration, version = SCHEMA_VERSION): Promise<void> =>
  migrateTables(engine, { ...STORE_SCHEMA, migrations: MIGRATIONS.slice(0, version) }, onMigration);

/** Fails unless the store has the newest schema. Readers never migrate. */
export async function requireSchema(engine: Engine): Promise<void> {
  const found = await requireTables(engine);
  rejectNewer(found, STORE_SCHEMA);
  if (found < SCHEMA_VERSION) {
    throw new StoreError(
      'older-schema',
      `The store has schema ${found}, but this version needs ${SCHEMA_VERSION}. Migrate it: delegations migrate.`,
    );
  }
}

/** Throws if the database has no store. Returns the version of its schema. */
export async function requireTables(engine: Engine): Promise<number> {
  const found = await schemaVersion(engine, STORE_SCHEMA);
  if (found > 0) return found;
  throw new StoreError('older-schema', 'The store has no tables yet. Start the follower once to create them.');
}
