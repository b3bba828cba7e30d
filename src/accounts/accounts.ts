// Stores API keys and counts their use. Sessions and webhooks are in the same database.

import type { Engine, WriteTransaction } from '../store/engine.ts';
import { fenced, migrateTables, type OnMigration } from '../store/migrate.ts';
import { openEngine } from '../store/open.ts';
import { decodeNumber, decodeTextOrNull } from '../store/rows/cells.ts';
import { requireTables } from '../store/schema.ts';
import { createKey, hashKey } from './key.ts';
import { changesRow, field, lockOwner, MAX_ID, type RowPage, recordOf } from './rows.ts';
import { ACCOUNT_SCHEMA, KEY_END } from './schema.ts';
import { createSessions } from './sessions.ts';

const RECORD = recordOf({
  id: field.number('id'),
  /** The first characters of the key. */
  shown: field.text('shown'),
  label: field.text('label'),
  /** The owner's wallet in lower case; null for an operator's key. */
  owner: field.textOrNull('owner'),
  /** Unix seconds, like all times here. */
  createdAt: field.number('created_at'),
  expiresAt: field.numberOrNull('expires_at'),
  revokedAt: field.numberOrNull('revoked_at'),
  lastUsedAt: field.numberOrNull('last_used_at'),
  /** The limit of this key: `<requests>/<seconds>s`, `off` for none, null for the default of the service. */
  rateLimit: field.textOrNull('rate_limit'),
  /** The key whose rate limit window this one uses, because it replaced that key; null for its own. */
  windowId: field.numberOrNull('window_id'),
});
export type KeyRecord = ReturnType<typeof RECORD.decode>;

export interface KeyRequest {
  readonly label: string;
  readonly owner?: string | null;
  readonly expiresAt?: number | null;
  readonly now: number;
  /** The maximum number of active keys of the owner. */
  readonly quota?: number;
}

export interface KeyRotation {
  readonly id: number;
  readonly now: number;
  /** How long the old key stays active. */
  readonly overlapSeconds: number;
  /** The maximum number of active keys of the owner, old keys in their overlap included. */
  readonly quota?: number;
}

/** `inactive`: the key is not active, or was rotated before. `over-quota`: there is no room for the overlap. */
export type RotationFault = 'inactive' | 'over-quota';

export interface CreatedKey {
  readonly record: KeyRecord;
  /** The key itself. It is not stored and cannot be read again. */
  readonly text: string;
}

/** The number of uses of a key on a day. Days are counted from 1970-01-01. */
const USE = recordOf({ id: field.number('u.key_id'), day: field.number('u.day'), uses: field.number('u.uses') });
export type KeyUse = ReturnType<typeof USE.decode>;

/** How many ended keys of a wallet are kept, so that nobody can fill the table. */
const KEPT_PER_WALLET = 50;
/** A new key deletes at most this many ended ones, so that a wallet with many does not hold up the process. */
const DELETED_AT_ONCE = 20;
export const KEYS_PER_PAGE = 100;
const DEFAULT_LIMIT = { rateLimit: null, windowId: null };
/** Few connections are enough, because a key is looked up at most once per second. */
const CONNECTIONS = 2;
/** The statements whose cost must not grow with the number of an owner's keys. */
export const OWNER_STATEMENTS = {
  list: `SELECT ${RECORD.sql} FROM api_key WHERE owner = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
  uses: `SELECT ${USE.sql} FROM api_key k JOIN key_use u ON u.key_id = k.id
    WHERE k.owner = $1 AND k.id BETWEEN $2 AND $3 AND u.day >= $4 ORDER BY k.id, u.day`,
  countActive: `SELECT count(*) FROM (SELECT 1 FROM api_key WHERE owner = $1 AND ${KEY_END} > $2 LIMIT $3) active`,
  findOldest: `SELECT id FROM api_key WHERE owner = $1 AND ${KEY_END} <= $2
    ORDER BY ${KEY_END} DESC LIMIT ${DELETED_AT_ONCE} OFFSET ${KEPT_PER_WALLET}`,
} as const;

/** Neither revoked nor expired. */
export const isActive = ({ revokedAt, expiresAt }: KeyRecord, now: number): boolean =>
  (revokedAt === null || revokedAt > now) && (expiresAt === null || expiresAt > now);

/** With `mustExist`, the database must be that of a service: a key in any other is one that no service knows. */
export async function openAccounts(
  url: string,
  { mustExist = false, onMigration }: { readonly mustExist?: boolean; readonly onMigration?: OnMigration } = {},
): Promise<Accounts> {
  const opened = await openEngine(url, { connections: CONNECTIONS, mustExist, role: 'accounts' });
  const engine = fenced(opened, ACCOUNT_SCHEMA);
  try {
    if (mustExist) await requireTables(opened);
    await migrateTables(opened, ACCOUNT_SCHEMA, onMigration);
    const [[secret] = []] = await engine.rows('SELECT secret FROM account_secret', []);
    return createAccounts(engine, secret as Uint8Array);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

export type Accounts = ReturnType<typeof createAccounts>;

function createAccounts(engine: Engine, secret: Uint8Array) {
  const changes = changesRow.bind(null, engine, 'api_key');
  const one = async (where: string, value: number | Uint8Array) => {
    const [row] = await engine.rows(`SELECT ${RECORD.sql} FROM api_key WHERE ${where} = $1`, [value]);
    return row === undefined ? null : RECORD.decode(row);
  };

  const add = async (
    tx: WriteTransaction,
    { label, owner = null, expiresAt = null, now }: KeyRequest,
    { rateLimit, windowId }: Pick<KeyRecord, 'rateLimit' | 'windowId'> = DEFAULT_LIMIT,
  ): Promise<CreatedKey> => {
    const { text: key, hash, shown } = createKey();
    const [row] = await tx.rows(
      `INSERT INTO api_key (hash, shown, label, owner, created_at, expires_at, rate_limit, window_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${RECORD.sql}`,
      [hash, shown, label, owner, now, expiresAt, rateLimit, windowId],
    );
    for (const [id] of owner === null ? [] : await tx.rows(OWNER_STATEMENTS.findOldest, [owner, now])) {
      await tx.run('DELETE FROM key_use WHERE key_id = $1', [decodeNumber(id)]);
      await tx.run('DELETE FROM api_key WHERE id = $1', [decodeNumber(id)]);
    }
    return { record: RECORD.decode(row ?? []), text: key };
  };

  const hasRoom = async (tx: WriteTransaction, owner: string, now: number, quota: number) => {
    const [[active] = []] = await tx.rows(OWNER_STATEMENTS.countActive, [owner, now, quota]);
    return decodeNumber(active) < quota;
  };

  return {
    /** Null if the owner's quota is used up. */
    create: (request: KeyRequest): Promise<CreatedKey | null> =>
      engine.transaction(async (tx) => {
        const { owner = null, now, quota } = request;
        if (owner !== null && quota !== undefined) {
          await lockOwner(tx, owner);
          if (!(await hasRoom(tx, owner, now, quota))) return null;
        }
        return add(tx, request);
      }),
    /** One page of keys, newest first. */
    async list({ owner, after = MAX_ID, limit = KEYS_PER_PAGE }: RowPage = {}): Promise<KeyRecord[]> {
      const ofAll = `SELECT ${RECORD.sql} FROM api_key WHERE id < $1 ORDER BY id DESC LIMIT $2`;
      const rows = await (owner === undefined
        ? engine.rows(ofAll, [after, limit])
        : engine.rows(OWNER_STATEMENTS.list, [owner, after, limit]));
      return rows.map(RECORD.decode);
    },
    /** The key with this text, even if it is revoked or expired. */
    find: (key: string) => one('hash', hashKey(key)),
    byId: (id: number) => one('id', id),
    /** False if there is no such key, or it is already revoked. */
    revoke: (id: number, now: number) =>
      changes('SET revoked_at = $2 WHERE id = $1 AND (revoked_at IS NULL OR revoked_at > $2)', [id, now]),
    /** Sets a key's `rateLimit`. False if there is no such key. */
    setLimit: (id: number, rateLimit: string | null) => changes('SET rate_limit = $2 WHERE id = $1', [id, rateLimit]),
    /** Replaces a key, which stays active for the overlap. */
    rotate: ({ id, now, overlapSeconds, quota }: KeyRotation): Promise<CreatedKey | RotationFault> =>
      engine.transaction(async (tx) => {
        // The owner's lock comes before the row's, as in `create`, so that the two cannot deadlock.
        const [[cell] = []] = await tx.rows('SELECT owner FROM api_key WHERE id = $1', [id]);
        const owner = decodeTextOrNull(cell ?? null);
        if (owner !== null) await lockOwner(tx, owner);
        // A key with `revoked_at` was revoked or rotated before: a key is replaced only once.
        const [row] = await tx.rows(
          `SELECT ${RECORD.sql} FROM api_key WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
          [id, now],
        );
        if (row === undefined) return 'inactive';
        const isBounded = owner !== null && quota !== undefined && overlapSeconds > 0;
        if (isBounded && !(await hasRoom(tx, owner, now, quota))) return 'over-quota';
        const rotated = await tx.rows(
          'UPDATE api_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id',
          [id, now + overlapSeconds],
        );
        if (rotated.length === 0) return 'inactive';
        const { label, expiresAt, rateLimit, windowId } = RECORD.decode(row);
        // A rotation must not give a limited key a second window.
        return add(tx, { label, owner, expiresAt, now }, { rateLimit, windowId: windowId ?? id });
      }),
    /** Adds to the stored counts. */
    async addUses(uses: readonly KeyUse[], usedAt: number): Promise<void> {
      if (uses.length === 0) return;
      await engine.transaction(async (tx) => {
        // The same order everywhere, so that two processes cannot deadlock.
        const inOrder = uses.toSorted((one, other) => one.id - other.id || one.day - other.day);
        for (const { id, day, uses: count } of inOrder) {
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
    /** The uses of a page of one owner's keys since a day. */
    async uses(page: readonly KeyRecord[], sinceDay: number): Promise<KeyUse[]> {
      const [first, last] = [page[0], page.at(-1)];
      if (first === undefined || last === undefined) return [];
      const rows = await engine.rows(OWNER_STATEMENTS.uses, [first.owner, last.id, first.id, sinceDay]);
      return rows.map(USE.decode);
    },
    sessions: createSessions(engine, secret),
    /** For the other tables of the same database. */
    engine,
    close: () => engine.close(),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}
