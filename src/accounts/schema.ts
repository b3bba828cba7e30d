// The tables of accounts: apart from the index, which can be dropped and read again. Keys cannot.

import type { Dialect, Engine } from '../store/engine.ts';
import { migrateTables } from '../store/migrate.ts';

/**
 * - api_key: the hash of each key, and what its owner and the operator know of it
 * - key_use: how often a key was used on a day
 */
const first = ({ integer, bytes, serial }: Dialect) => [
  `CREATE TABLE api_key (
    id ${serial}, hash ${bytes} NOT NULL UNIQUE, shown TEXT NOT NULL, label TEXT NOT NULL, owner TEXT,
    created_at ${integer} NOT NULL, expires_at ${integer}, revoked_at ${integer}, last_used_at ${integer})`,
  'CREATE INDEX api_key_owner ON api_key (owner)',
  `CREATE TABLE key_use (
    key_id ${integer} NOT NULL, day ${integer} NOT NULL, uses ${integer} NOT NULL, PRIMARY KEY (key_id, day))`,
];

const MIGRATIONS = [first];

export const migrateAccounts = (engine: Engine): Promise<void> =>
  migrateTables(engine, { table: 'account_schema_version', what: 'accounts', migrations: MIGRATIONS });
