// The tables of accounts: apart from the index, which can be dropped and read again. Keys cannot.

import type { Dialect, Engine } from '../store/engine.ts';
import { migrateTables } from '../store/migrate.ts';

/**
 * - api_key: the hash of each key, and what its owner and the operator know of it
 * - key_use: how often a key was used on a day
 * - sign_in_nonce: what may still be signed once to sign in
 * - session: who is signed in, by the hash of the cookie
 */
const first = ({ integer, bytes, serial }: Dialect) => [
  `CREATE TABLE api_key (
    id ${serial}, hash ${bytes} NOT NULL UNIQUE, shown TEXT NOT NULL, label TEXT NOT NULL, owner TEXT,
    created_at ${integer} NOT NULL, expires_at ${integer}, revoked_at ${integer}, last_used_at ${integer})`,
  'CREATE INDEX api_key_owner ON api_key (owner)',
  `CREATE TABLE key_use (
    key_id ${integer} NOT NULL, day ${integer} NOT NULL, uses ${integer} NOT NULL, PRIMARY KEY (key_id, day))`,
  `CREATE TABLE sign_in_nonce (id ${serial}, nonce TEXT NOT NULL UNIQUE, created_at ${integer} NOT NULL)`,
  `CREATE TABLE session (hash ${bytes} PRIMARY KEY, wallet TEXT NOT NULL, expires_at ${integer} NOT NULL)`,
];

const MIGRATIONS = [first];

export const migrateAccounts = (engine: Engine): Promise<void> =>
  migrateTables(engine, { table: 'account_schema_version', what: 'accounts', migrations: MIGRATIONS });
