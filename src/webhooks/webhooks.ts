// Stores webhooks: where each one delivers to, how far it is, the delivery that is under way, and its last attempts.
// All times here are unix milliseconds, because a retry can be due within a second.

import { IS_CANDIDATE, KEY_END } from '../accounts/schema.ts';
import type { Address } from '../registry/delegation.ts';
import type { Awaitable } from '../store/awaitable.ts';
import type { Engine, Param, Row, WriteTransaction } from '../store/engine.ts';
import { decodeNumber, decodeNumberOrNull, decodeTextOrNull } from '../store/rows/cells.ts';
import { columns } from '../store/rows/columns.ts';

export interface WebhookFilter {
  /** `served`: every chain of the service, also those that are added later. */
  readonly chainIds: readonly number[] | 'served';
  /** Either side of the delegation. */
  readonly wallet?: Address;
  readonly from?: Address;
  readonly to?: Address;
  readonly contract?: Address;
}

/** `final`: changes of final blocks only. `head`: all changes at once, and an `undo` after a reorg. */
export type WebhookAt = 'final' | 'head';

/**
 * - `unconfirmed`: the receiver has not agreed to get deliveries
 * - `paused`: by its owner or the operator
 * - `failing`: a delivery failed for three days
 * - `gone`: the receiver answered 410
 * - `no-active-key`: the owner has no active API key
 */
export type PauseReason = 'unconfirmed' | 'paused' | 'failing' | 'gone' | 'no-active-key';

export interface WebhookRecord {
  readonly id: number;
  /** As in `KeyRecord`: a wallet, or null for the operator's. */
  readonly owner: string | null;
  readonly label: string | null;
  readonly url: string;
  readonly filter: WebhookFilter;
  readonly at: WebhookAt;
  readonly createdAt: number;
  /** Null while the webhook is active. */
  readonly paused: { readonly at: number; readonly reason: PauseReason } | null;
  /** Everything before it was delivered. */
  readonly cursor: string;
  /** The delivery that is sent until it succeeds. */
  readonly pending: { readonly id: string; readonly changes: number; readonly createdAt: number } | null;
  /** How often the pending delivery failed. */
  readonly failures: number;
  /** When it first failed. */
  readonly failingSince: number | null;
  /** When it is sent again; null for at once. */
  readonly nextAttemptAt: number | null;
  readonly testRequestedAt: number | null;
  /** The end of a rotation's overlap; null if one secret signs. */
  readonly previousSecretUntil: number | null;
}

export interface WebhookRequest extends Pick<WebhookRecord, 'owner' | 'label' | 'url' | 'filter' | 'at' | 'cursor'> {
  readonly secret: string;
  readonly now: number;
  /** The receiver has agreed, says the operator. Otherwise it is asked with the first test. */
  readonly isConfirmed?: boolean;
  /** The maximum number of webhooks of the owner. */
  readonly quota?: number;
}

/** `no-active-key`: the owner has no active API key. `over-quota`: the owner has too many webhooks. `full`: all wallets together have. */
export type WebhookFault = 'no-active-key' | 'over-quota' | 'full';

export interface WebhookPage {
  /** Without an owner: the webhooks of all owners and of the operator. */
  readonly owner?: string;
  /** Only webhooks with a lower id. */
  readonly after?: number;
  readonly limit?: number;
}

export interface CandidatePage {
  /** Only webhooks with a higher id. */
  readonly after: number;
  readonly limit: number;
  readonly now: number;
}

export interface SecretRotation {
  readonly id: number;
  readonly secret: string;
  readonly now: number;
  /** How long the old secret signs too. */
  readonly overlapMs: number;
}

/** One attempt to send a delivery. */
export interface Attempt {
  readonly type: 'changes' | 'test' | 'challenge';
  readonly at: number;
  /** The `webhook-id` of the delivery. */
  readonly deliveryId: string;
  readonly changes: number;
  /** Null if it was delivered. */
  readonly failure: string | null;
  /** The HTTP status; null if there was none. */
  readonly status: number | null;
  /** Null if the owner must not know. */
  readonly ms: number | null;
}

/** Proof that this process delivers the webhook now. A write with a lease that another process has taken over does nothing. */
export interface WebhookLease {
  readonly id: number;
  readonly token: string;
}

/** A webhook under a lease, with what is needed to deliver it. */
export interface ClaimedWebhook extends WebhookRecord {
  readonly lease: WebhookLease;
  /** The current secret first. */
  readonly secrets: readonly string[];
  /** The body of the pending delivery. */
  readonly body: string | null;
}

export interface NewDelivery {
  readonly id: string;
  readonly body: string;
  readonly changes: number;
  /** The cursor that it was read from. */
  readonly from: string;
  /** The cursor after it. */
  readonly cursor: string;
}

/** What happens after a failed attempt. */
export type NextStep = { readonly retryAt: number } | { readonly pause: PauseReason };

export type WebhookState = 'active' | PauseReason;
export const WEBHOOK_STATES = [
  'active',
  'unconfirmed',
  'paused',
  'failing',
  'gone',
  'no-active-key',
] as const satisfies WebhookState[];

export interface WebhookStats {
  readonly counts: Readonly<Record<WebhookState, number>>;
  /** The active webhooks with a pending delivery, and when it was made; the oldest first. */
  readonly pending: readonly { readonly id: number; readonly since: number }[];
}

export interface Webhooks {
  create(request: WebhookRequest): Promise<WebhookRecord | WebhookFault>;
  /** One page, newest first. */
  list(page?: WebhookPage): Promise<WebhookRecord[]>;
  byId(id: number): Promise<WebhookRecord | null>;
  /** False if there is no such webhook, as below. */
  remove(id: number): Promise<boolean>;
  /** Also false if it is already paused. */
  pause(id: number, now: number, reason?: PauseReason): Promise<boolean>;
  /** Continues with the pending delivery, at once. Also false if it is not paused. */
  resume(id: number): Promise<boolean>;
  /** Asks the receiver whether it agrees, if it has not or does not seem to any more. The webhook stays paused until then. False otherwise. */
  askReceiver(id: number, now: number): Promise<boolean>;
  /** Counts that an owner asks for something to be sent. False if it did so less than so many milliseconds ago. */
  mayAsk(id: number, now: number, leastMs: number): Promise<boolean>;
  rotateSecret(rotation: SecretRotation): Promise<boolean>;
  /** Sends one test delivery, also of a paused webhook; a challenge if the receiver has not agreed. */
  requestTest(id: number, now: number): Promise<boolean>;
  /** Continues from another cursor, and discards the pending delivery. What has failed waits as long as before. */
  replayFrom(id: number, cursor: string): Promise<boolean>;
  /** The last attempts, newest first. */
  attempts(id: number): Promise<Attempt[]>;

  /** The next webhooks that may have something to send, and that nobody delivers now. For the deliverer, as all below. */
  candidates(page: CandidatePage): Promise<WebhookRecord[]>;
  /** Null if another process has it, it is gone, or it was paused because its owner has no active key. */
  claim(id: number, forMs: number, now: number): Promise<ClaimedWebhook | null>;
  /** Renews the lease and stores the next delivery before it is sent. False if the lease or the cursor is not the same any more. */
  storePending(lease: WebhookLease, delivery: NewDelivery, forMs: number, now: number): Promise<boolean>;
  /** Moves the cursor where there is nothing to deliver. */
  advance(lease: WebhookLease, from: string, cursor: string): Promise<boolean>;
  /** Moves the cursor past the pending delivery, and returns it. Null if the lease is lost, or that delivery is not pending any more. */
  recordSuccess(lease: WebhookLease, attempt: Attempt): Promise<string | null>;
  recordFailure(lease: WebhookLease, attempt: Attempt, next: NextStep): Promise<boolean>;
  /** A test that failed counts as a failure: `next` is what happens then. A challenge that succeeded makes the webhook active. */
  recordTest(lease: WebhookLease, attempt: Attempt, next: NextStep | null): Promise<boolean>;
  release(lease: WebhookLease): Promise<void>;
  stats(): Promise<WebhookStats>;
}

export const WEBHOOKS_PER_PAGE = 100;
/** Of all wallets: each is looked at again and again. */
const MOST_WEBHOOKS = 10_000;
/** How many attempts of a webhook are kept. */
const KEPT_ATTEMPTS = 50;
/** How many pending deliveries the metrics name. */
const MOST_PENDING = 1000;
const MAX_ID = Number.MAX_SAFE_INTEGER;

const RECORD = columns(
  'id',
  'owner',
  'label',
  'url',
  'chains',
  'wallet',
  'from_wallet',
  'to_wallet',
  'contract',
  'at',
  'created_at',
  'paused_at',
  'pause_reason',
  'reached',
  'pending_id',
  'pending_changes',
  'pending_at',
  'failures',
  'failing_since',
  'next_at',
  'test_at',
  'previous_until',
);
const CLAIMED = columns(...RECORD.names, 'secret', 'previous_secret', 'pending_body');
const ATTEMPT = columns('type', 'at', 'delivery_id', 'changes', 'failure', 'status', 'ms');
const NO_PENDING =
  'pending_id = NULL, pending_body = NULL, pending_cursor = NULL, pending_changes = NULL, pending_at = NULL';
const UNCONFIRMED: PauseReason = 'unconfirmed';
const NO_FAILURES = 'failures = 0, failing_since = NULL, next_at = NULL';
const CONFIRMED = `, paused_at = NULL, pause_reason = NULL, ${NO_FAILURES}`;
/** After a failed attempt: $3 is its time, $4 the next one's, $5 and $6 when and why the webhook is paused. */
const FAILED = `failures = failures + 1, failing_since = coalesce(failing_since, $3), next_at = $4,
  paused_at = coalesce(paused_at, $5), pause_reason = coalesce(pause_reason, $6)`;
const failedParams = (attempt: Attempt, next: NextStep): Param[] =>
  'pause' in next ? [attempt.at, null, attempt.at, next.pause] : [attempt.at, next.retryAt, null, null];

const isFree = (clock: string) => `(lease_until IS NULL OR lease_until < ${clock})`;

/** $1 is the last id, $2 the limit, $3 the time. */
export const candidatesStatement = (clock: string) =>
  `SELECT ${RECORD.sql} FROM webhook WHERE id > $1 AND ${IS_CANDIDATE}
    AND (next_at IS NULL OR next_at <= $3 OR test_at IS NOT NULL) AND ${isFree(clock)} ORDER BY id LIMIT $2`;

export function createWebhooks(engine: Engine, mostWebhooks = MOST_WEBHOOKS): Webhooks {
  const { clock } = engine.dialect;

  /** True if the statement changed a webhook. */
  const changes = (sql: string, params: readonly Param[]) =>
    engine.transaction(async (tx) => (await tx.rows(`${sql} RETURNING id`, params)).length > 0);

  const hasActiveKey = async (tx: WriteTransaction, owner: string, now: number) => {
    const rows = await tx.rows(`SELECT 1 FROM api_key WHERE owner = $1 AND ${KEY_END} > $2 LIMIT 1`, [
      owner,
      Math.floor(now / 1000),
    ]);
    return rows.length > 0;
  };

  /** Records an attempt and updates its webhook, if the lease is still ours. Returns what the update does. */
  const record = (
    { id, token }: WebhookLease,
    { type, at, deliveryId, changes, failure, status, ms }: Attempt,
    update: (tx: WriteTransaction) => Awaitable<Row[]>,
  ): Promise<Row | null> =>
    engine.transaction(async (tx) => {
      const held = await tx.rows('UPDATE webhook SET lease = lease WHERE id = $1 AND lease = $2 RETURNING id', [
        id,
        token,
      ]);
      if (held.length === 0) return null;
      await tx.run(`INSERT INTO webhook_attempt (webhook, ${ATTEMPT.sql}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, [
        id,
        type,
        at,
        deliveryId,
        changes,
        failure,
        status,
        ms,
      ]);
      await tx.run(
        `DELETE FROM webhook_attempt WHERE webhook = $1 AND id <=
          (SELECT id FROM webhook_attempt WHERE webhook = $1 ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_ATTEMPTS})`,
        [id],
      );
      const [row] = await update(tx);
      return row ?? null;
    });

  return {
    create: ({ owner, label, url, filter, at, cursor, secret, now, quota, isConfirmed = false }) =>
      engine.transaction(async (tx) => {
        if (owner !== null) {
          // Serializes the requests of one owner. SQLite has one writer anyway.
          if (engine.dialect.name === 'postgres') await tx.run('SELECT pg_advisory_xact_lock(hashtext($1))', [owner]);
          if (!(await hasActiveKey(tx, owner, now))) return 'no-active-key';
          const [[count] = []] = await tx.rows('SELECT count(*) FROM webhook WHERE owner = $1', [owner]);
          if (quota !== undefined && decodeNumber(count) >= quota) return 'over-quota';
          const [[all] = []] = await tx.rows('SELECT count(*) FROM webhook WHERE owner IS NOT NULL', []);
          if (decodeNumber(all) >= mostWebhooks) return 'full';
        }
        const { chainIds, wallet = null, from = null, to = null, contract = null } = filter;
        const [row] = await tx.rows(
          `INSERT INTO webhook
            (owner, label, url, chains, wallet, from_wallet, to_wallet, contract, at, created_at, reached, secret, failures,
              paused_at, pause_reason)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $13, $14) RETURNING ${RECORD.sql}`,
          [
            ...[owner, label, url, chainIds === 'served' ? null : chainIds.join(), wallet, from, to, contract, at],
            ...[now, cursor, secret, ...(isConfirmed ? [null, null] : [now, UNCONFIRMED])],
          ],
        );
        return decodeRecord(row ?? []);
      }),
    async list({ owner, after = MAX_ID, limit = WEBHOOKS_PER_PAGE } = {}) {
      const isOwner = owner === undefined ? '' : 'AND owner = $3';
      const rows = await engine.rows(
        `SELECT ${RECORD.sql} FROM webhook WHERE id < $1 ${isOwner} ORDER BY id DESC LIMIT $2`,
        [after, limit, ...(owner === undefined ? [] : [owner])],
      );
      return rows.map(decodeRecord);
    },
    async byId(id) {
      const [row] = await engine.rows(`SELECT ${RECORD.sql} FROM webhook WHERE id = $1`, [id]);
      return row === undefined ? null : decodeRecord(row);
    },
    remove: (id) =>
      engine.transaction(async (tx) => {
        const rows = await tx.rows('DELETE FROM webhook WHERE id = $1 RETURNING id', [id]);
        await tx.run('DELETE FROM webhook_attempt WHERE webhook = $1', [id]);
        return rows.length > 0;
      }),
    pause: (id, now, reason = 'paused') =>
      changes('UPDATE webhook SET paused_at = $2, pause_reason = $3 WHERE id = $1 AND paused_at IS NULL', [
        id,
        now,
        reason,
      ]),
    resume: (id) =>
      changes(
        `UPDATE webhook SET paused_at = NULL, pause_reason = NULL, ${NO_FAILURES}
          WHERE id = $1 AND paused_at IS NOT NULL`,
        [id],
      ),
    askReceiver: (id, now) =>
      changes(
        `UPDATE webhook SET pause_reason = $3, test_at = $2
          WHERE id = $1 AND pause_reason IN ($3, 'failing', 'gone')`,
        [id, now, UNCONFIRMED],
      ),
    mayAsk: (id, now, leastMs) =>
      changes('UPDATE webhook SET asked_at = $2 WHERE id = $1 AND (asked_at IS NULL OR asked_at <= $3)', [
        id,
        now,
        now - leastMs,
      ]),
    rotateSecret: ({ id, secret, now, overlapMs }) =>
      changes('UPDATE webhook SET previous_secret = secret, previous_until = $3, secret = $2 WHERE id = $1', [
        id,
        secret,
        now + overlapMs,
      ]),
    requestTest: (id, now) => changes('UPDATE webhook SET test_at = $2 WHERE id = $1', [id, now]),
    replayFrom: (id, cursor) => changes(`UPDATE webhook SET reached = $2, ${NO_PENDING} WHERE id = $1`, [id, cursor]),
    async attempts(id) {
      const rows = await engine.rows(
        `SELECT ${ATTEMPT.sql} FROM webhook_attempt WHERE webhook = $1 ORDER BY id DESC LIMIT ${KEPT_ATTEMPTS}`,
        [id],
      );
      return rows.map(decodeAttempt);
    },

    async candidates({ after, limit, now }) {
      const rows = await engine.rows(candidatesStatement(clock), [after, limit, now]);
      return rows.map(decodeRecord);
    },
    claim: (id, forMs, now) =>
      engine.transaction(async (tx) => {
        const token = crypto.randomUUID();
        const [row] = await tx.rows(
          `UPDATE webhook SET lease = $2, lease_until = ${clock} + $3 WHERE id = $1 AND ${isFree(clock)} RETURNING ${CLAIMED.sql}`,
          [id, token, forMs],
        );
        if (row === undefined) return null;
        const claimed = decodeClaimed(row, { id, token }, now);
        if (claimed.owner === null || (await hasActiveKey(tx, claimed.owner, now))) return claimed;
        await tx.run(
          `UPDATE webhook SET lease = NULL, lease_until = NULL, test_at = NULL, pause_reason = coalesce(pause_reason, $3),
            paused_at = coalesce(paused_at, $2) WHERE id = $1`,
          [id, now, 'no-active-key' satisfies PauseReason],
        );
        return null;
      }),
    storePending: ({ id, token }, delivery, forMs, now) =>
      changes(
        `UPDATE webhook SET pending_id = $4, pending_body = $5, pending_changes = $6, pending_cursor = $7, pending_at = $8,
            lease_until = ${clock} + $9
          WHERE id = $1 AND lease = $2 AND reached = $3 AND pending_id IS NULL`,
        [...[id, token, delivery.from, delivery.id, delivery.body, delivery.changes, delivery.cursor], ...[now, forMs]],
      ),
    advance: ({ id, token }, from, cursor) =>
      changes('UPDATE webhook SET reached = $4 WHERE id = $1 AND lease = $2 AND reached = $3 AND pending_id IS NULL', [
        id,
        token,
        from,
        cursor,
      ]),
    async recordSuccess(lease, attempt) {
      const row = await record(lease, attempt, (tx) =>
        tx.rows(
          `UPDATE webhook SET reached = pending_cursor, ${NO_PENDING}, ${NO_FAILURES} WHERE id = $1 AND pending_id = $2
            RETURNING reached`,
          [lease.id, attempt.deliveryId],
        ),
      );
      return decodeTextOrNull(row?.[0]);
    },
    async recordFailure(lease, attempt, next) {
      const row = await record(lease, attempt, (tx) =>
        tx.rows(`UPDATE webhook SET ${FAILED} WHERE id = $1 AND pending_id = $2 RETURNING id`, [
          lease.id,
          attempt.deliveryId,
          ...failedParams(attempt, next),
        ]),
      );
      return row !== null;
    },
    async recordTest(lease, attempt, next) {
      const row = await record(lease, attempt, (tx) =>
        next === null
          ? tx.rows(
              `UPDATE webhook SET test_at = NULL${attempt.type === 'challenge' ? CONFIRMED : ''} WHERE id = $1 RETURNING id`,
              [lease.id],
            )
          : tx.rows(`UPDATE webhook SET test_at = NULL, ${FAILED} WHERE id = $1 AND lease = $2 RETURNING id`, [
              lease.id,
              lease.token,
              ...failedParams(attempt, next),
            ]),
      );
      return row !== null;
    },
    release: ({ id, token }) =>
      engine.transaction(async (tx) => {
        await tx.run('UPDATE webhook SET lease = NULL, lease_until = NULL WHERE id = $1 AND lease = $2', [id, token]);
      }),
    async stats() {
      const rows = await engine.rows('SELECT pause_reason, count(*) FROM webhook GROUP BY pause_reason', []);
      const counted = new Map(
        rows.map(([reason, count]) => [decodeTextOrNull(reason) ?? 'active', decodeNumber(count)]),
      );
      const pending = await engine.rows(
        `SELECT id, pending_at FROM webhook WHERE pending_at IS NOT NULL AND paused_at IS NULL
          ORDER BY pending_at LIMIT ${MOST_PENDING}`,
        [],
      );
      const counts = Object.fromEntries(WEBHOOK_STATES.map((state) => [state, counted.get(state) ?? 0]));
      return {
        counts: counts as WebhookStats['counts'],
        pending: pending.map(([id, since]) => ({ id: decodeNumber(id), since: decodeNumber(since) })),
      };
    },
  };
}

function decodeRecord(row: Row): WebhookRecord {
  const { at } = RECORD;
  const pausedAt = decodeNumberOrNull(row[at.paused_at]);
  const pendingId = decodeTextOrNull(row[at.pending_id]);
  return {
    id: decodeNumber(row[at.id]),
    owner: decodeTextOrNull(row[at.owner]),
    label: decodeTextOrNull(row[at.label]),
    url: String(row[at.url]),
    filter: decodeFilter(row),
    at: String(row[at.at]) as WebhookAt,
    createdAt: decodeNumber(row[at.created_at]),
    paused: pausedAt === null ? null : { at: pausedAt, reason: String(row[at.pause_reason]) as PauseReason },
    cursor: String(row[at.reached]),
    pending:
      pendingId === null
        ? null
        : {
            id: pendingId,
            changes: decodeNumber(row[at.pending_changes]),
            createdAt: decodeNumber(row[at.pending_at]),
          },
    failures: decodeNumber(row[at.failures]),
    failingSince: decodeNumberOrNull(row[at.failing_since]),
    nextAttemptAt: decodeNumberOrNull(row[at.next_at]),
    testRequestedAt: decodeNumberOrNull(row[at.test_at]),
    previousSecretUntil: decodeNumberOrNull(row[at.previous_until]),
  };
}

function decodeFilter(row: Row): WebhookFilter {
  const { at } = RECORD;
  const chains = decodeTextOrNull(row[at.chains]);
  const optional = <Name extends string>(name: Name, cell: Row[number]) => {
    const address = decodeTextOrNull(cell) as Address | null;
    return (address === null ? {} : { [name]: address }) as Partial<Record<Name, Address>>;
  };
  return {
    chainIds: chains === null ? 'served' : chains.split(',').map(Number),
    ...optional('wallet', row[at.wallet]),
    ...optional('from', row[at.from_wallet]),
    ...optional('to', row[at.to_wallet]),
    ...optional('contract', row[at.contract]),
  };
}

function decodeClaimed(row: Row, lease: WebhookLease, now: number): ClaimedWebhook {
  const { at } = CLAIMED;
  const record = decodeRecord(row);
  const previous = decodeTextOrNull(row[at.previous_secret]);
  const isOverlap = previous !== null && (record.previousSecretUntil ?? 0) > now;
  return {
    ...record,
    lease,
    secrets: [String(row[at.secret]), ...(isOverlap ? [previous] : [])],
    body: decodeTextOrNull(row[at.pending_body]),
  };
}

const decodeAttempt = (row: Row): Attempt => ({
  type: String(row[ATTEMPT.at.type]) as Attempt['type'],
  at: decodeNumber(row[ATTEMPT.at.at]),
  deliveryId: String(row[ATTEMPT.at.delivery_id]),
  changes: decodeNumber(row[ATTEMPT.at.changes]),
  failure: decodeTextOrNull(row[ATTEMPT.at.failure]),
  status: decodeNumberOrNull(row[ATTEMPT.at.status]),
  ms: decodeNumberOrNull(row[ATTEMPT.at.ms]),
});
