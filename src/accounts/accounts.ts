// API keys and their use, in tables of their own on either engine.

import type { Engine, Row, WriteTransaction } from '../store/engine.ts';
import { openEngine } from '../store/open.ts';
import { decodeNumber, decodeNumberOrNull, decodeTextOrNull } from '../store/rows/cells.ts';
import { columns } from '../store/rows/columns.ts';
import { createKey, hashOf } from './key.ts';
import { migrateAccounts } from './schema.ts';
import { createSessions, type Sessions } from './sessions.ts';

export interface KeyRecord {
  readonly id: number;
  /** How the key begins. */
  readonly shown: string;
  readonly label: string;
  /** The wallet that it belongs to, in lower case; null for an operator's. */
  readonly owner: string | null;
  /** Unix seconds, as all times here. */
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
  /** At most so many good keys for the owner. */
  readonly quota?: number;
}

export interface CreatedKey {
  readonly record: KeyRecord;
  /** The key itself, which nobody can ever read again. */
  readonly text: string;
}

/** So many uses of a key in a day; days are counted from the beginning of 1970. */
export interface KeyUse {
  readonly id: number;
  readonly day: number;
  readonly uses: number;
}

export interface Accounts {
  /** Null where the owner has as many as the quota allows. */
  create(request: KeyRequest): Promise<CreatedKey | null>;
  /** All keys, or those of one owner, newest first. */
  list(owner?: string): Promise<KeyRecord[]>;
  /** The key with this text, revoked and expired ones too. */
  find(text: string): Promise<KeyRecord | null>;
  byId(id: number): Promise<KeyRecord | null>;
  /** False where there is no such key, or it was revoked before. */
  revoke(id: number, now: number): Promise<boolean>;
  /** A new key in the place of another, which goes on for a while. Null where that one is no good any more. */
  rotate(id: number, now: number, overlapSeconds: number): Promise<CreatedKey | null>;
  /** Adds what was counted. */
  addUses(uses: readonly KeyUse[], usedAt: number): Promise<void>;
  /** The uses of an owner's keys since a day. */
  uses(owner: string, sinceDay: number): Promise<KeyUse[]>;
  readonly sessions: Sessions;
  close(): Promise<void>;
}

/** With $2 as the time. */
const ENDED = '((revoked_at IS NOT NULL AND revoked_at <= $2) OR (expires_at IS NOT NULL AND expires_at <= $2))';
const KEPT_PER_WALLET = 50;
/** Keys are looked up once a second at most, each. */
const CONNECTIONS = 2;
const RECORD = columns('id', 'shown', 'label', 'owner', 'created_at', 'expires_at', 'revoked_at', 'last_used_at');

/** Whether a key still opens anything. */
export const isActive = ({ revokedAt, expiresAt }: KeyRecord, now: number): boolean =>
  (revokedAt === null || revokedAt > now) && (expiresAt === null || expiresAt > now);

export async function openAccounts(url: string): Promise<Accounts> {
  const engine = await openEngine(url, { connections: CONNECTIONS });
  try {
    await migrateAccounts(engine);
    const [row] = await engine.rows('SELECT secret FROM account_secret', []);
    return createAccounts(engine, row?.[0] as Uint8Array);
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
    // Of what has ended, a wallet's newest are kept: nobody can fill the table.
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
        // Two requests of one owner are counted one after the other; SQLite has one writer anyway.
        if (engine.dialect.name === 'postgres') await tx.run('SELECT pg_advisory_xact_lock(hashtext($1))', [owner]);
        const [row] = await tx.rows(`SELECT count(*) FROM api_key WHERE owner = $1 AND NOT ${ENDED}`, [owner, now]);
        if (decodeNumber(row?.[0]) >= quota) return null;
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
    find: (text) => one('hash', hashOf(text)),
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
        // One that is ending already was rotated before: nobody has more than one key in the place of another.
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
        // In one order everywhere, or two replicas would wait for each other.
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
        `SELECT u.key_id, u.day, u.uses FROM key_use u JOIN api_key k ON k.id = u.key_id
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
