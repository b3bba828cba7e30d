// The store's tables, and their migrations.

import type { Dialect, Engine } from './engine.ts';
import { StoreError } from './errors.ts';
import { fillIdentity } from './index-hash.ts';
import { migrateTables, type OnMigration, rejectNewer, type Schema, schemaVersion } from './migrate.ts';
import { createSpanIndexes } from './rows/span-index.ts';
import { VIEWS } from './views.ts';

/**
 * - chain: the state of each chain's index, and its newest writer; `network` is its text if it is not in the table (custom-network.ts)
 * - revision: every revision of this history, with its stamp (see chain-writer.ts) and its head
 * - rewrite: the revisions at which stored history changed, and from which block on
 * - block: hashes and times of blocks with logs, of the newest blocks, and of the first. `log_time` marks times that a log reported,
 *   until a header confirms them; `unproven` marks blocks with logs, until their hash is known to commit to them
 * - log: every registry log; everything else about delegations is derived from these
 * - span: a range of blocks in which a delegation held, from the log that began it to the log that ended it. `first` is its place in
 *   lists; cold, hot and key are the hashes of index-hash.ts, which lead the indexes; `casing` is the letter case of its addresses
 * - v1_read: revocations that named no delegate, and the block whose state settled them
 * - v1_pair: whether such a revocation ended everything from the wallet to one delegate, and by which log: the last log of the block
 *   before which nothing was granted that held at its end
 * - lag: the lag of each chain in every ten minutes of the last day
 * - lease: which process follows a chain, and until when
 * - identity: the store's unique id, and the secret of its index hashes
 */
const first = ({ name, integer, small, bytes, clustered }: Dialect) => [
  `CREATE TABLE chain (
    chain ${integer} PRIMARY KEY, epoch ${integer} NOT NULL, first_block ${integer} NOT NULL,
    head_number ${integer}, head_hash ${bytes}, head_timestamp ${integer}, verified ${integer},
    confirmed_at ${integer}, agreed_block ${integer}, tip ${integer}, halt TEXT, disputes TEXT,
    partial ${small} NOT NULL DEFAULT 0, proving ${small} NOT NULL DEFAULT 0, provable ${small},
    revision ${integer} NOT NULL, commits ${integer} NOT NULL, stamp ${integer} NOT NULL, network TEXT, imported TEXT)`,
  `CREATE TABLE revision (
    chain ${integer} NOT NULL, revision ${integer} NOT NULL, stamp ${integer} NOT NULL, head ${integer} NOT NULL,
    PRIMARY KEY (chain, revision))${clustered}`,
  `CREATE TABLE rewrite (
    chain ${integer} NOT NULL, revision ${integer} NOT NULL, from_block ${integer} NOT NULL,
    PRIMARY KEY (chain, revision))${clustered}`,
  `CREATE TABLE block (
    chain ${integer} NOT NULL, number ${integer} NOT NULL, hash ${bytes} NOT NULL, timestamp ${integer} NOT NULL,
    log_time ${small} NOT NULL, unproven ${small} NOT NULL,
    PRIMARY KEY (chain, number))${clustered}`,
  'CREATE INDEX block_time ON block (chain, timestamp, number)',
  'CREATE INDEX block_log_time ON block (chain, number) WHERE log_time = 1',
  'CREATE INDEX block_unproven ON block (chain, number) WHERE unproven = 1',
  `CREATE TABLE log (
    chain ${integer} NOT NULL, block ${integer} NOT NULL, log_index ${integer} NOT NULL,
    version ${small} NOT NULL, kind ${small} NOT NULL, from_addr ${bytes} NOT NULL, to_addr ${bytes} NOT NULL,
    contract ${bytes} NOT NULL, token_id ${bytes} NOT NULL, rights ${bytes} NOT NULL, amount ${bytes} NOT NULL,
    transaction_hash ${bytes} NOT NULL, revoked ${bytes},
    PRIMARY KEY (chain, block, log_index))${clustered}`,
  `CREATE TABLE span (
    chain ${integer} NOT NULL, since_block ${integer} NOT NULL, since_log ${integer} NOT NULL,
    cold ${integer} NOT NULL, hot ${integer} NOT NULL, key ${integer} NOT NULL,
    version ${small} NOT NULL, kind ${small} NOT NULL, from_addr ${bytes} NOT NULL, to_addr ${bytes} NOT NULL,
    contract ${bytes} NOT NULL, token_id ${bytes} NOT NULL, rights ${bytes} NOT NULL, amount ${bytes},
    until_block ${integer}, first_block ${integer} NOT NULL, first_log ${integer} NOT NULL, casing ${bytes} NOT NULL,
    until_log ${integer}, PRIMARY KEY (chain, since_block, since_log))`,
  ...createSpanIndexes(name),
  `CREATE TABLE v1_read (
    chain ${integer} NOT NULL, vault ${bytes} NOT NULL, block ${integer} NOT NULL, cold ${integer} NOT NULL,
    read_block ${integer},
    PRIMARY KEY (chain, vault, block))${clustered}`,
  'CREATE INDEX v1_unsettled ON v1_read (chain, vault) WHERE read_block IS NULL OR read_block > block',
  'CREATE INDEX v1_read_block ON v1_read (chain, block)',
  `CREATE TABLE v1_pair (
    chain ${integer} NOT NULL, vault ${bytes} NOT NULL, block ${integer} NOT NULL, delegate ${bytes} NOT NULL,
    ended_by ${integer}, read_block ${integer} NOT NULL,
    PRIMARY KEY (chain, vault, block, delegate))${clustered}`,
  `CREATE TABLE lag (
    chain ${integer} NOT NULL, at ${integer} NOT NULL, seconds ${integer} NOT NULL,
    PRIMARY KEY (chain, at))${clustered}`,
  `CREATE TABLE lease (
    chain ${integer} PRIMARY KEY, holder TEXT NOT NULL, expires_at ${integer} NOT NULL)`,
  `CREATE TABLE identity (id ${bytes} NOT NULL, secret ${bytes} NOT NULL)`,
  ...(name === 'postgres' ? VIEWS : []),
];

/** In order. A migration that has shipped is never changed. */
const MIGRATIONS: Schema['migrations'][number][] = [first];
export const STORE_SCHEMA = {
  table: 'schema_version',
  what: 'store',
  migrations: MIGRATIONS,
  fill: fillIdentity,
} satisfies Schema;

export const migrate = (engine: Engine, onMigration?: OnMigration): Promise<void> =>
  migrateTables(engine, STORE_SCHEMA, onMigration);

/** Fails unless the store has the newest schema. Readers never migrate. */
export async function requireSchema(engine: Engine): Promise<void> {
  const [found, needed] = [await requireTables(engine), MIGRATIONS.length];
  rejectNewer(found, STORE_SCHEMA);
  if (found < needed)
    throw new StoreError(
      'older-schema',
      `The store has schema ${found}, but this version needs ${needed}. Migrate it: delegations migrate.`,
    );
}

/** Throws if the database has no store. Returns the version of its schema. */
export async function requireTables(engine: Engine): Promise<number> {
  const found = await schemaVersion(engine, STORE_SCHEMA);
  if (found > 0) return found;
  throw new StoreError('older-schema', 'The store has no tables yet. Start the follower once to create them.');
}
