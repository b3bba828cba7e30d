// Stores API keys and counts their use.

import type { Engine, Row, WriteTransaction } from '../store/engine.ts';
import { openEngine } from '../store/open.ts';
import { decodeNumber, decodeNumberOrNull, decodeTextOrNull } from '../store/rows/cells.ts';
import { columns, ofTable } from '../store/rows/columns.ts';
import { createKey, hashKey } from './key.ts';
import { migrateAccounts } from './schema.ts';
import { createSessions, type Sessions } from './sessions.ts';

export interface KeyRecord {
  readonly id: number;
  /** The first characters of the key. */
  readonly shown: string;
  readonly label: string;
  /** The owner's wallet in lower case; null for an operator's key. */
  readonly owner: string | null;
  /** Unix seconds, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

export interface KeyRequest {
  readonly label: string;
  readonly owner?: string | null;
  readonly expiresAt?: number | null;
  readonly now: number;
  /** The maximum number of active keys of the owner. */
  readonly quota?: number;
}

export interface CreatedKey {
  readonly record: KeyRecord;
  /** The key itself. It is not stored and cannot be read again. */
  readonly text: string;
}

/** The number of uses of a key on a day. Days are counted from 1970-01-01. */
export interface KeyUse {
  readonly id: number;
  readonly day: number;
  readonly uses: number;
}

export interface Accounts {
  /** Null if the owner's quota is used up. */
  create(request: KeyRequest): Promise<CreatedKey | null>;
  /** All keys, or those of one owner, newest first. */
  list(owner?: string): Promise<KeyRecord[]>;
  /** The key with this text, even if it is revoked or expired. */
  find(text: string): Promise<KeyRecord | null>;
  byId(id: number): Promise<KeyRecord | null>;
  /** False if there is no such key, or it is already revoked. */
  revoke(id: number, now: number): Promise<boolean>;
  /** Replaces a key, which stays active for the overlap. Null if that key is not active, or was rotated before. */
  rotate(id: number, now: number, overlapSeconds: number): Promise<CreatedKey | null>;
  /** Adds to the stored counts. */
  addUses(uses: readonly KeyUse[], usedAt: number): Promise<void>;
  /** The uses of an owner's keys since a day. */
  uses(owner: string, sinceDay: number): Promise<KeyUse[]>;
  readonly sessions: Sessions;
  close(): Promise<void>;
}

/** Not active any more at the time $2. */
const ENDED = '((revoked_at IS NOT NULL AND revoked_at <= $2) OR (expires_at IS NOT NULL AND expires_at <= $2))';
/** How many ended keys of a wallet are kept, so that nobody can fill the table. */
const KEPT_PER_WALLET = 50;
/** Few connections are enough, because a key is looked up at most once per second. */
const CONNECTIONS = 2;
const USE = columns('key_id', 'day', 'uses');
const RECORD = columns('id', 'shown', 'label', 'owner', 'created_at', 'expires_at', 'revoked_at', 'last_used_at');

/** Neither revoked nor expired. */
export const isActive = ({ revokedAt, expiresAt }: KeyRecord, now: number): boolean =>
  (revokedAt === null || revokedAt > now) && (expiresAt === null || expiresAt > now);

export async function openAccounts(url: string): Promise<Accounts> {
  const engine = await openEngine(url, { connections: CONNECTIONS, role: 'accounts' });
  try {
    await migrateAccounts(engine);
    const [[secret] = []] = await engine.rows('SELECT secret FROM account_secret', []);
    return createAccounts(engine, secret as Uint8Array);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function createAccounts(engine: Engine, secret: Uint8Array): Accounts {
  const one = async (where: string, value: number | Uint8Array) => {
    const [row] = await engine.rows(`SELECT ${RECORD.sql} FROM api_key WHERE ${where} = $1`, [value]);
    return row === undefined ? null : decodeRecord(row);
  };

  const add = async (
    tx: WriteTransaction,
    { label, owner = null, expiresAt = null, now }: KeyRequest,
  ): Promise<CreatedKey> => {
    const { text, hash, shown } = createKey();
    const [row] = await tx.rows(
      `INSERT INTO api_key (hash, shown, label, owner, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
        RETURNING ${RECORD.sql}`,
      [hash, shown, label, owner, now, expiresAt],
    );
    if (owner !== null) {
      const gone = await tx.rows(
        `DELETE FROM api_key WHERE owner = $1 AND ${ENDED} AND id NOT IN
          (SELECT id FROM api_key WHERE owner = $1 ORDER BY id DESC LIMIT ${KEPT_PER_WALLET}) RETURNING id`,
        [owner, now],
      );
      for (const [id] of gone) await tx.run('DELETE FROM key_use WHERE key_id = $1', [decodeNumber(id)]);
    }
    return { record: decodeRecord(row ?? []), text };
  };

  const insert = (request: KeyRequest) =>
    engine.transaction(async (tx): Promise<CreatedKey | null> => {
      const { owner = null, now, quota } = request;
      if (quota !== undefined) {
        // Serializes the requests of one owner. SQLite has one writer anyway.
        if (engine.dialect.name === 'postgres') await tx.run('SELECT pg_advisory_xact_lock(hashtext($1))', [owner]);
        const sql = `SELECT count(*) FROM api_key WHERE owner = $1 AND NOT ${ENDED}`;
        const [[active] = []] = await tx.rows(sql, [owner, now]);
        if (decodeNumber(active) >= quota) return null;
      }
      return add(tx, request);
    });

  return {
    create: insert,
    async list(owner) {
      const rows =
        owner === undefined
          ? await engine.rows(`SELECT ${RECORD.sql} FROM api_key ORDER BY id DESC`, [])
          : await engine.rows(`SELECT ${RECORD.sql} FROM api_key WHERE owner = $1 ORDER BY id DESC`, [owner]);
      return rows.map(decodeRecord);
    },
    find: (text) => one('hash', hashKey(text)),
    byId: (id) => one('id', id),
    revoke: (id, now) =>
      engine.transaction(async (tx) => {
        const rows = await tx.rows(
          `UPDATE api_key SET revoked_at = $2 WHERE id = $1 AND (revoked_at IS NULL OR revoked_at > $2) RETURNING id`,
          [id, now],
        );
        return rows.length > 0;
      }),
    rotate: (id, now, overlapSeconds) =>
      engine.transaction(async (tx) => {
        // A key with `revoked_at` was revoked or rotated before: a key is replaced only once.
        const [row] = await tx.rows(
          `UPDATE api_key SET revoked_at = $3 WHERE id = $1 AND revoked_at IS NULL
            AND (expires_at IS NULL OR expires_at > $2) RETURNING ${RECORD.sql}`,
          [id, now, now + overlapSeconds],
        );
        if (row === undefined) return null;
        const { label, owner, expiresAt } = decodeRecord(row);
        return add(tx, { label, owner, expiresAt, now });
      }),
    async addUses(uses, usedAt) {
      if (uses.length === 0) return;
      await engine.transaction(async (tx) => {
        // The same order everywhere, so that two processes cannot deadlock.
        for (const { id, day, uses: count } of [...uses].sort(
          (one, other) => one.id - other.id || one.day - other.day,
        )) {
          await tx.run(
            `INSERT INTO key_use (key_id, day, uses) VALUES ($1, $2, $3)
              ON CONFLICT (key_id, day) DO UPDATE SET uses = key_use.uses + excluded.uses`,
            [id, day, count],
          );
          await tx.run(
            'UPDATE api_key SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)',
            [id, usedAt],
          );
        }
      });
    },
    async uses(owner, sinceDay) {
      const rows = await engine.rows(
        `SELECT ${USE.select(ofTable('u', USE.names))} FROM key_use u JOIN api_key k ON k.id = u.key_id
          WHERE k.owner = $1 AND u.day >= $2 ORDER BY u.day, u.key_id`,
        [owner, sinceDay],
      );
      return rows.map(([id, day, uses]) => ({
        id: decodeNumber(id),
        day: decodeNumber(day),
        uses: decodeNumber(uses),
      }));
    },
    sessions: createSessions(engine, secret),
    close: () => engine.close(),
  };
}

function decodeRecord(row: Row): KeyRecord {
  const { at } = RECORD;
  return {
    id: decodeNumber(row[at.id]),
    shown: String(row[at.shown]),
    label: String(row[at.label]),
    owner: decodeTextOrNull(row[at.owner]),
    createdAt: decodeNumber(row[at.created_at]),
    expiresAt: decodeNumberOrNull(row[at.expires_at]),
    revokedAt: decodeNumberOrNull(row[at.revoked_at]),
    lastUsedAt: decodeNumberOrNull(row[at.last_used_at]),
  };
}
