// The tables, and the way from any older schema to this one.

import { uintOf } from './encoding.ts';
import type { Dialect, Engine } from './engine.ts';
import { StoreError } from './errors.ts';
import { migrateTables, refuseNewer } from './migrate.ts';
import { drawStamp } from './stamp.ts';

/**
 * - chain: where each chain's index stands, and who may write it
 * - block: hashes and times of blocks with logs, of the newest blocks, and of the first
 * - log: every registry log; all else about delegations is derived from these
 * - span: a stretch of blocks in which a delegation held, from the log that began it to the block that ended it
 * - v1_read: revocations that named no delegate, and the block at which the wallet's state was read for them
 * - v1_ended: the delegations that such a read found gone
 * - lease: who follows a chain, and until when nobody else may
 * - identity: what tells this store from any other, and the secret of its short forms
 * - rewrite: the revisions at which history changed, and from which block on
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
  // cold, hot and key are the short forms of short.ts, which lead the indexes.
  `CREATE TABLE span (
    chain ${integer} NOT NULL, since_block ${integer} NOT NULL, since_log ${integer} NOT NULL,
    cold ${integer} NOT NULL, hot ${integer} NOT NULL, key ${integer} NOT NULL,
    version ${small} NOT NULL, kind ${small} NOT NULL, from_addr ${bytes} NOT NULL, to_addr ${bytes} NOT NULL,
    contract ${bytes} NOT NULL, token_id ${bytes} NOT NULL, rights ${bytes} NOT NULL, amount ${bytes},
    until_block ${integer},
    PRIMARY KEY (chain, since_block, since_log))`,
  // Every index has an open and a closed half: a span stands in one of them, and the open half is as small as the live set.
  'CREATE INDEX span_open_pair ON span (cold, hot, key) WHERE until_block IS NULL',
  'CREATE INDEX span_closed_pair ON span (cold, hot, key, until_block) WHERE until_block IS NOT NULL',
  ...[
    ['from', 'cold'],
    ['to', 'hot'],
  ].flatMap(([side, short]) => [
    `CREATE INDEX span_open_${side} ON span (${short}, chain, version, since_block, since_log)
      WHERE until_block IS NULL`,
    `CREATE INDEX span_closed_${side} ON span (${short}, chain, version, since_block, since_log)
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

/** Spans that began and ended in one block, which could hide the one before them. */
const withoutEmptySpans = () => ['DELETE FROM span WHERE until_block IS NOT NULL AND since_block = until_block'];

/**
 * What tells a commit and a revision from those that had the same number in a history that was lost: see stamp.ts.
 * - revision: every revision of this history, with its stamp
 */
const stamps = ({ integer, clustered }: Dialect) => [
  `ALTER TABLE chain ADD COLUMN stamp ${integer} NOT NULL DEFAULT 0`,
  `CREATE TABLE revision (
    chain ${integer} NOT NULL, revision ${integer} NOT NULL, stamp ${integer} NOT NULL,
    PRIMARY KEY (chain, revision))${clustered}`,
  `INSERT INTO revision (chain, revision, stamp) SELECT chain, revision, ${drawStamp()} FROM chain`,
];

/** In order; a migration that has shipped is never changed. */
const MIGRATIONS: readonly ((dialect: Dialect) => string[])[] = [first, withoutEmptySpans, stamps];
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings a writer's store to this schema, or to an older one. */
export const migrate = (engine: Engine, version = SCHEMA_VERSION): Promise<void> =>
  migrateTables(engine, {
    table: 'schema_version',
    what: 'store',
    migrations: MIGRATIONS.slice(0, version),
    fill: async (tx) => {
      await tx.run('INSERT INTO identity (id, secret) VALUES ($1, $2)', [randomBytes(), randomBytes()]);
    },
  });

/** A reader changes nothing: it says what is missing. */
export async function requireSchema(engine: Engine): Promise<void> {
  let found = 0;
  try {
    const [row] = await engine.rows('SELECT version FROM schema_version', []);
    found = Number(row?.[0] ?? 0);
  } catch (cause) {
    // SQLite's words, then PostgreSQL's. Anything else is another trouble.
    if (!/no such table|does not exist/.test((cause as Error).message)) throw cause;
    throw new StoreError('older-schema', 'This store is not set up yet: start its writer once.', { cause });
  }
  refuseNewer(found, SCHEMA_VERSION, 'store');
  if (found < SCHEMA_VERSION) {
    throw new StoreError(
      'older-schema',
      `This store has schema ${found}, and ${SCHEMA_VERSION} is needed: start its writer once.`,
    );
  }
}

const randomBytes = () => crypto.getRandomValues(new Uint8Array(8));

export interface Identity {
  /** No other store has it. */
  readonly id: string;
  readonly secret: bigint;
}

export async function readIdentity(engine: Engine): Promise<Identity> {
  const [row] = await engine.rows('SELECT id, secret FROM identity', []);
  return { id: uintOf(row?.[0]).toString(36), secret: uintOf(row?.[1]) };
}
