// The tables of accounts. They are separate from the index, which can be dropped and indexed again; keys cannot.

import type { Dialect, WriteTransaction } from '../store/engine.ts';
import type { Schema } from '../store/migrate.ts';

/** When a key ends. The index `api_key_end` has this expression, so statements must repeat it exactly. */
export const KEY_END = `coalesce(CASE WHEN revoked_at IS NULL OR expires_at < revoked_at THEN expires_at ELSE revoked_at END,
  9223372036854775807)`;

/** The index `webhook_candidate` has this condition, so statements must repeat it exactly. */
export const IS_CANDIDATE = '(paused_at IS NULL OR test_at IS NOT NULL)';

/**
 * - api_key: the hash of each key, its owner (see `SignIn`), its times and its limit (see `KeyRecord`). One page of an owner's keys,
 *   its active keys and its ended keys are found without reading the others.
 * - key_use: how often a key was used on a day
 * - used_nonce: sign-in nonces that were used and must not be used again
 * - session: the signed-in wallets, by the hash of the cookie
 * - account_secret: the key that signs nonces, shared by all processes
 * - webhook: `chains` is null for all served ones, `reached` the cursor after the last delivery, `pending_*` the delivery that is
 *   sent until it succeeds. `lease` is a random text of the process that delivers now, and `asked_at` when the owner last asked for
 *   something to be sent: the time of an attempt can be unknown to its owner.
 * - webhook_attempt: the last attempts of each webhook
 *
 * Times of webhooks are unix milliseconds, all others seconds.
 */
const tables = ({ integer, small, bytes, serial }: Dialect) => [
  `CREATE TABLE api_key (
    id ${serial}, hash ${bytes} NOT NULL UNIQUE, shown TEXT NOT NULL, label TEXT NOT NULL, owner TEXT,
    created_at ${integer} NOT NULL, expires_at ${integer}, revoked_at ${integer}, last_used_at ${integer},
    rate_limit TEXT, window_id ${integer})`,
  'CREATE INDEX api_key_owner ON api_key (owner, id)',
  `CREATE INDEX api_key_end ON api_key (owner, (${KEY_END}))`,
  `CREATE TABLE key_use (
    key_id ${integer} NOT NULL, day ${integer} NOT NULL, uses ${integer} NOT NULL, PRIMARY KEY (key_id, day))`,
  `CREATE TABLE used_nonce (nonce TEXT PRIMARY KEY, used_at ${integer} NOT NULL)`,
  'CREATE INDEX used_nonce_time ON used_nonce (used_at)',
  `CREATE TABLE session (hash ${bytes} PRIMARY KEY, wallet TEXT NOT NULL, expires_at ${integer} NOT NULL)`,
  'CREATE INDEX session_end ON session (expires_at)',
  'CREATE INDEX session_wallet ON session (wallet, expires_at)',
  `CREATE TABLE account_secret (secret ${bytes} NOT NULL)`,
  `CREATE TABLE webhook (
    id ${serial}, owner TEXT, label TEXT, url TEXT NOT NULL, chains TEXT, wallet TEXT, from_wallet TEXT, to_wallet TEXT,
    contract TEXT, at TEXT NOT NULL, created_at ${integer} NOT NULL, paused_at ${integer}, pause_reason TEXT,
    secret TEXT NOT NULL, previous_secret TEXT, previous_until ${integer}, reached TEXT NOT NULL,
    pending_id TEXT, pending_body TEXT, pending_cursor TEXT, pending_changes ${integer}, pending_at ${integer},
    failures ${integer} NOT NULL, failing_since ${integer}, next_at ${integer}, test_at ${integer},
    lease TEXT, lease_until ${integer}, asked_at ${integer})`,
  'CREATE INDEX webhook_owner ON webhook (owner, id)',
  'CREATE INDEX webhook_pending ON webhook (pending_at) WHERE pending_at IS NOT NULL',
  `CREATE INDEX webhook_candidate ON webhook (id) WHERE ${IS_CANDIDATE}`,
  `CREATE TABLE webhook_attempt (
    id ${serial}, webhook ${integer} NOT NULL, type TEXT NOT NULL, at ${integer} NOT NULL, delivery_id TEXT NOT NULL,
    changes ${integer} NOT NULL, failure TEXT, status ${small}, ms ${integer})`,
  'CREATE INDEX webhook_attempt_webhook ON webhook_attempt (webhook, id)',
];

export const ACCOUNT_SCHEMA: Schema = {
  table: 'account_schema_version',
  what: 'accounts',
  migrations: [tables],
  async fill(tx: WriteTransaction) {
    await tx.run('INSERT INTO account_secret (secret) VALUES ($1)', [crypto.getRandomValues(new Uint8Array(32))]);
  },
};
