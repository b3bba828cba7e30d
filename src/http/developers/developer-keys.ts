// Answers /developers/keys*: a wallet manages its own API keys.

import { isActive, KEYS_PER_PAGE, type KeyRecord, type KeyUse } from '../../accounts/accounts.ts';
import { LABEL_RULE, readLabel } from '../../accounts/label.ts';
import { Problem } from '../../api/problems.ts';
import { requireWallet } from './developer-session.ts';
import { type Asked, bodyOf, type DeveloperPaths, json, namedBy, readListPage } from './developers.ts';

export const KEY_PATHS: DeveloperPaths = [
  ['/developers/keys', { GET: listKeys, POST: createKey }],
  ['/developers/keys/rotate', { POST: rotateKey }],
  ['/developers/keys/revoke', { POST: revokeKey }],
];

const USES_DAYS = 30;
const DAY_SECONDS = 86_400;
const OVERLAP_SECONDS = DAY_SECONDS;
const MAX_DAYS = 3650;
const NO_ACTIVE_KEY = 'You have no active key with this id.';

/** A key that was replaced works until its end: only a rotation sets that to a later time. */
function stateOf(record: KeyRecord, now: number) {
  if (isActive(record, now)) return record.revokedAt === null ? 'active' : 'replaced';
  return record.revokedAt !== null && record.revokedAt <= now ? 'revoked' : 'expired';
}

export type KeyJson = ReturnType<typeof keyJson>;

/** What the page is told of a key. Times are in Unix seconds. */
function keyJson(record: KeyRecord, uses: readonly KeyUse[], now: number) {
  const { id, shown, label, createdAt, expiresAt, revokedAt, lastUsedAt, rateLimit, windowId } = record;
  const ends = [expiresAt, revokedAt].filter((end) => end !== null);
  const today = Math.floor(now / DAY_SECONDS);
  const usesOf = new Map(uses.filter((use) => use.id === id).map((use) => [use.day, use.uses]));
  return {
    id,
    /** The same for a key and all keys that replaced it. */
    group: windowId ?? id,
    shown,
    label,
    state: stateOf(record, now),
    createdAt,
    /** When it stops working, or stopped; null for never. */
    endsAt: ends.length === 0 ? null : Math.min(...ends),
    lastUsedAt,
    rateLimit,
    /** The requests of each of the last days, those of today last. */
    uses: Array.from({ length: USES_DAYS }, (_, turn) => usesOf.get(today - USES_DAYS + 1 + turn) ?? 0),
  };
}

async function listKeys(asked: Asked): Promise<Response> {
  const { request, developers, now } = asked;
  const { accounts, quota } = developers;
  const owner = await requireWallet(asked);
  const { page, next } = await readListPage(request, KEYS_PER_PAGE, async (rows) => {
    // Uses are stored every few seconds. Somebody who has just tried a key wants to see it now.
    await developers.storeUses?.();
    return accounts.list({ owner, ...rows });
  });
  const uses = await accounts.uses(page, Math.floor(now / DAY_SECONDS) - USES_DAYS + 1);
  return json({ quota, keys: page.map((one) => keyJson(one, uses, now)), next });
}

async function createKey(asked: Asked): Promise<Response> {
  const { request, developers, now } = asked;
  const { accounts, quota } = developers;
  const owner = await requireWallet(asked);
  const { label, days = null } = await bodyOf(request);
  const text = readLabel(label);
  if (text === null) throw new Problem('bad-request', `label is required: ${LABEL_RULE}.`);
  if (days !== null && !(typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= MAX_DAYS))
    throw new Problem('bad-request', `days must be an integer from 1 to ${MAX_DAYS}.`);
  const expiresAt = typeof days === 'number' ? now + days * DAY_SECONDS : null;
  const created = await accounts.create({ label: text, owner, expiresAt, now, quota });
  if (created === null)
    throw new Problem(
      'too-many-keys',
      `A wallet can have ${quota} active keys, rotated keys that still work included. Revoke one first.`,
    );
  developers.onKeyChange?.({ type: 'created', keyId: created.record.id });
  return json({ key: created.text, record: keyJson(created.record, [], now) }, 201);
}

/** The id of the signed-in wallet's own active key that the request names, and the whole body. */
async function ownKey(asked: Asked) {
  const { request, developers, now } = asked;
  const wallet = await requireWallet(asked);
  const body = await bodyOf(request);
  const record = await namedBy(body, developers.accounts.byId);
  if (record === null || record.owner !== wallet || !isActive(record, now))
    throw new Problem('not-found', NO_ACTIVE_KEY);
  return { id: record.id, body };
}

async function rotateKey(asked: Asked): Promise<Response> {
  const { developers, now } = asked;
  const { accounts, quota } = developers;
  const { id, body } = await ownKey(asked);
  const { overlap = true } = body;
  if (typeof overlap !== 'boolean') throw new Problem('bad-request', 'overlap must be true or false.');
  const created = await accounts.rotate({ id, now, overlapSeconds: overlap ? OVERLAP_SECONDS : 0, quota });
  if (created === 'over-quota')
    throw new Problem(
      'too-many-keys',
      `A wallet can have ${quota} active keys, and the old key would stay active for a day. Revoke a key first, or rotate without an overlap.`,
    );
  if (created === 'inactive') throw new Problem('not-found', NO_ACTIVE_KEY);
  developers.onKeyChange?.({ type: 'rotated', keyId: id, newKeyId: created.record.id });
  return json({ key: created.text, record: keyJson(created.record, [], now) }, 201);
}

async function revokeKey(asked: Asked): Promise<Response> {
  const { developers, now } = asked;
  const { id } = await ownKey(asked);
  await developers.accounts.revoke(id, now);
  developers.onKeyChange?.({ type: 'revoked', keyId: id });
  return json({ id, revoked: true });
}
