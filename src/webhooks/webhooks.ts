// Stores webhooks: where each one delivers to, how far it is, the delivery that is under way, and its last attempts.
// All times here are unix milliseconds, because a retry can be due within a second.

import { changesRow, field, lockOwner, MAX_ID, type RowPage, recordOf } from '../accounts/rows.ts';
import { IS_CANDIDATE, KEY_END } from '../accounts/schema.ts';
import type { Address } from '../registry/delegation.ts';
import type { Engine, Param, Row, WriteTransaction } from '../store/engine.ts';
import { decodeNumber, decodeTextOrNull } from '../store/rows/cells.ts';
import type { ChangesFilter } from '../store/store.ts';

export interface WebhookFilter extends ChangesFilter {
  /** `served`: every chain of the service, also those that are added later. */
  readonly chainIds: readonly number[] | 'served';
}

/**
 * - `unconfirmed`: the receiver has not agreed to get deliveries
 * - `paused`: by its owner or the operator
 * - `failing`: a delivery failed for three days
 * - `gone`: the receiver answered 410
 * - `no-active-key`: the owner has no active API key
 */
const PAUSE_REASONS = ['unconfirmed', 'paused', 'failing', 'gone', 'no-active-key'] as const;
type PauseReason = (typeof PAUSE_REASONS)[number];
export const WEBHOOK_STATES = ['active', ...PAUSE_REASONS] as const;

const FIELDS = {
  id: field.number('id'),
  /** As in `KeyRecord`: a wallet, or null for the operator's. */
  owner: field.textOrNull('owner'),
  label: field.textOrNull('label'),
  url: field.text('url'),
  /** `final`: changes of final blocks only. `head`: all changes at once, and an `undo` after a reorg. */
  at: field.text<'final' | 'head'>('at'),
  createdAt: field.number('created_at'),
  /** Everything before it was delivered. */
  cursor: field.text('reached'),
  /** How often the pending delivery failed. */
  failures: field.number('failures'),
  /** When it first failed. */
  failingSince: field.numberOrNull('failing_since'),
  /** When it is sent again; null for at once. */
  nextAttemptAt: field.numberOrNull('next_at'),
  testRequestedAt: field.numberOrNull('test_at'),
  /** The end of a rotation's overlap; null if one secret signs. */
  previousSecretUntil: field.numberOrNull('previous_until'),
  /** These make up `filter`, `paused` and `pending`. */
  chains: field.textOrNull('chains'),
  wallet: field.textOrNull<Address>('wallet'),
  from: field.textOrNull<Address>('from_wallet'),
  to: field.textOrNull<Address>('to_wallet'),
  contract: field.textOrNull<Address>('contract'),
  pausedAt: field.numberOrNull('paused_at'),
  pauseReason: field.textOrNull<PauseReason>('pause_reason'),
  pendingId: field.textOrNull('pending_id'),
  pendingChanges: field.numberOrNull('pending_changes'),
  pendingAt: field.numberOrNull('pending_at'),
};
const RECORD = recordOf(FIELDS);
/** Besides the record. */
const CLAIM = recordOf({
  secret: field.text('secret'),
  previousSecret: field.textOrNull('previous_secret'),
  /** The body of the pending delivery. */
  body: field.textOrNull('pending_body'),
});

type Flat = ReturnType<typeof RECORD.decode>;
/** What `webhookOf` puts together. */
type Parts = 'chains' | keyof ChangesFilter | `pause${string}` | `pending${string}`;

export interface WebhookRecord extends Omit<Flat, Extract<keyof Flat, Parts>> {
  readonly filter: WebhookFilter;
  /** Null while the webhook is active. */
  readonly paused: { readonly at: number; readonly reason: PauseReason } | null;
  /** The delivery that is sent until it succeeds. */
  readonly pending: { readonly id: string; readonly changes: number; readonly createdAt: number } | null;
}

function webhookOf(row: Row): WebhookRecord {
  const { chains, wallet, from, to, contract, pausedAt, pauseReason, pendingId, pendingChanges, pendingAt, ...rest } =
    RECORD.decode(row);
  return {
    ...rest,
    filter: {
      chainIds: chains === null ? 'served' : chains.split(',').map(Number),
      ...(wallet && { wallet }),
      ...(from && { from }),
      ...(to && { to }),
      ...(contract && { contract }),
    },
    paused: pausedAt === null || pauseReason === null ? null : { at: pausedAt, reason: pauseReason },
    pending: pendingId === null ? null : { id: pendingId, changes: pendingChanges ?? 0, createdAt: pendingAt ?? 0 },
  };
}

interface WebhookRequest extends Pick<WebhookRecord, 'owner' | 'label' | 'url' | 'filter' | 'at' | 'cursor'> {
  readonly secret: string;
  readonly now: number;
  /** The receiver has agreed, says the operator. Otherwise it is asked with the first test. */
  readonly isConfirmed?: boolean;
  /** The maximum number of webhooks of the owner. */
  readonly quota?: number;
}

/** `no-active-key`: the owner has no active API key. `over-quota`: the owner has too many webhooks. `full`: all wallets together have. */
type WebhookFault = 'no-active-key' | 'over-quota' | 'full';

/** One attempt to send a delivery. */
const ATTEMPT = recordOf({
  type: field.text<'changes' | 'test' | 'challenge'>('type'),
  at: field.number('at'),
  /** The `webhook-id` of the delivery. */
  deliveryId: field.text('delivery_id'),
  changes: field.number('changes'),
  /** Null if it was delivered. */
  failure: field.textOrNull('failure'),
  /** The HTTP status; null if there was none. */
  status: field.numberOrNull('status'),
  /** Null if the owner must not know. */
  ms: field.numberOrNull('ms'),
});
export type Attempt = ReturnType<typeof ATTEMPT.decode>;

/** Proof that this process delivers the webhook now. A write with a lease that another process has taken over does nothing. */
type WebhookLease = { readonly id: number; readonly token: string };

/** A webhook under a lease, with what is needed to deliver it. */
export type ClaimedWebhook = ReturnType<typeof claimedOf>;

/** A delivery, with the cursor that it was read from and the one after it. */
type NewDelivery = Readonly<Record<'id' | 'body' | 'from' | 'cursor', string>> & { readonly changes: number };

/** What happens after a failed attempt. */
export type NextStep = { readonly retryAt: number } | { readonly pause: PauseReason };

export type WebhookStats = Awaited<ReturnType<Webhooks['stats']>>;

export const WEBHOOKS_PER_PAGE = 100;
/** Of all wallets: each is looked at again and again. */
const MOST_WEBHOOKS = 10_000;
/** How many attempts of a webhook are kept. */
const KEPT_ATTEMPTS = 50;
/** How many pending deliveries the metrics name. */
const MOST_PENDING = 1000;

const NO_PENDING =
  'pending_id = NULL, pending_body = NULL, pending_cursor = NULL, pending_changes = NULL, pending_at = NULL';
const UNCONFIRMED: PauseReason = 'unconfirmed';
const NO_FAILURES = 'failures = 0, failing_since = NULL, next_at = NULL';
const ACTIVE = `paused_at = NULL, pause_reason = NULL, ${NO_FAILURES}`;
/** After a failed attempt: $3 is its time, $4 the next one's, $5 and $6 when and why the webhook is paused. */
const FAILED = `failures = failures + 1, failing_since = coalesce(failing_since, $3), next_at = $4,
  paused_at = coalesce(paused_at, $5), pause_reason = coalesce(pause_reason, $6)`;
const failedParams = ({ at }: Attempt, next: NextStep): Param[] =>
  'pause' in next ? [at, null, at, next.pause] : [at, next.retryAt, null, null];
/** What an attempt that succeeded sets, by its type. */
const SUCCEEDED = {
  changes: `reached = pending_cursor, ${NO_PENDING}, ${NO_FAILURES}`,
  test: 'test_at = NULL',
  challenge: `test_at = NULL, ${ACTIVE}`,
};

/** The process with the lease $2 may go on from the cursor $3. */
const IS_NEXT = 'WHERE id = $1 AND lease = $2 AND reached = $3 AND pending_id IS NULL';
const isFree = (clock: string) => `(lease_until IS NULL OR lease_until < ${clock})`;

/** $1 is the last id, $2 the limit, $3 the time. */
export const candidatesStatement = (clock: string) =>
  `SELECT ${RECORD.sql} FROM webhook WHERE id > $1 AND ${IS_CANDIDATE}
    AND (next_at IS NULL OR next_at <= $3 OR test_at IS NOT NULL) AND ${isFree(clock)} ORDER BY id LIMIT $2`;

export type Webhooks = ReturnType<typeof createWebhooks>;

export function createWebhooks(engine: Engine, mostWebhooks = MOST_WEBHOOKS) {
  const { clock } = engine.dialect;

  const changes = changesRow.bind(null, engine, 'webhook');

  const hasActiveKey = async (tx: WriteTransaction, owner: string, now: number) => {
    const seconds = Math.floor(now / 1000);
    const active = `SELECT 1 FROM api_key WHERE owner = $1 AND ${KEY_END} > $2 LIMIT 1`;
    return (await tx.rows(active, [owner, seconds])).length > 0;
  };

  return {
    create: (request: WebhookRequest): Promise<WebhookRecord | WebhookFault> =>
      engine.transaction(async (tx) => {
        const { owner, label, url, filter, at, cursor, secret, now, quota, isConfirmed = false } = request;
        if (owner !== null) {
          await lockOwner(tx, owner);
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
        return webhookOf(row ?? []);
      }),
    /** One page, newest first. */
    async list({ owner, after = MAX_ID, limit = WEBHOOKS_PER_PAGE }: RowPage = {}): Promise<WebhookRecord[]> {
      const isOwner = owner === undefined ? '' : 'AND owner = $3';
      const rows = await engine.rows(
        `SELECT ${RECORD.sql} FROM webhook WHERE id < $1 ${isOwner} ORDER BY id DESC LIMIT $2`,
        [after, limit, ...(owner === undefined ? [] : [owner])],
      );
      return rows.map(webhookOf);
    },
    async byId(id: number): Promise<WebhookRecord | null> {
      const [row] = await engine.rows(`SELECT ${RECORD.sql} FROM webhook WHERE id = $1`, [id]);
      return row === undefined ? null : webhookOf(row);
    },
    /** False if there is no such webhook, as below. */
    remove: (id: number): Promise<boolean> =>
      engine.transaction(async (tx) => {
        const rows = await tx.rows('DELETE FROM webhook WHERE id = $1 RETURNING id', [id]);
        await tx.run('DELETE FROM webhook_attempt WHERE webhook = $1', [id]);
        return rows.length > 0;
      }),
    /** Also false if it is already paused. */
    pause: (id: number, now: number, reason: PauseReason = 'paused'): Promise<boolean> =>
      changes('SET paused_at = $2, pause_reason = $3 WHERE id = $1 AND paused_at IS NULL', [id, now, reason]),
    /** Continues with the pending delivery, at once. Also false if it is not paused. */
    resume: (id: number): Promise<boolean> => changes(`SET ${ACTIVE} WHERE id = $1 AND paused_at IS NOT NULL`, [id]),
    /** Asks the receiver whether it agrees, if it has not or does not seem to any more. The webhook stays paused until then. False otherwise. */
    askReceiver: (id: number, now: number): Promise<boolean> =>
      changes(`SET pause_reason = $3, test_at = $2 WHERE id = $1 AND pause_reason IN ($3, 'failing', 'gone')`, [
        id,
        now,
        UNCONFIRMED,
      ]),
    /** Counts that an owner asks for something to be sent. False if it did so less than so many milliseconds ago. */
    mayAsk: (id: number, now: number, leastMs: number): Promise<boolean> =>
      changes('SET asked_at = $2 WHERE id = $1 AND (asked_at IS NULL OR asked_at <= $3)', [id, now, now - leastMs]),
    /** The old secret signs too for so many milliseconds. */
    rotateSecret: ({ id, secret, now, overlapMs }: { id: number; secret: string; now: number; overlapMs: number }) =>
      changes('SET previous_secret = secret, previous_until = $3, secret = $2 WHERE id = $1', [
        id,
        secret,
        now + overlapMs,
      ]),
    /** Sends one test delivery, also of a paused webhook; a challenge if the receiver has not agreed. */
    requestTest: (id: number, now: number): Promise<boolean> => changes('SET test_at = $2 WHERE id = $1', [id, now]),
    /** Continues from another cursor, and discards the pending delivery. What has failed waits as long as before. */
    replayFrom: (id: number, cursor: string): Promise<boolean> =>
      changes(`SET reached = $2, ${NO_PENDING} WHERE id = $1`, [id, cursor]),
    /** The last attempts, newest first. */
    async attempts(id: number): Promise<Attempt[]> {
      const rows = await engine.rows(
        `SELECT ${ATTEMPT.sql} FROM webhook_attempt WHERE webhook = $1 ORDER BY id DESC LIMIT ${KEPT_ATTEMPTS}`,
        [id],
      );
      return rows.map(ATTEMPT.decode);
    },

    /** The next webhooks that may have something to send, and that nobody delivers now. Those with a higher id than `after`. For the deliverer, as all below. */
    async candidates({ after, limit, now }: Readonly<Record<'after' | 'limit' | 'now', number>>) {
      const rows = await engine.rows(candidatesStatement(clock), [after, limit, now]);
      return rows.map(webhookOf);
    },
    /** Null if another process has it, it is gone, or it was paused because its owner has no active key. */
    claim: (id: number, forMs: number, now: number): Promise<ClaimedWebhook | null> =>
      engine.transaction(async (tx) => {
        const token = crypto.randomUUID();
        const [row] = await tx.rows(
          `UPDATE webhook SET lease = $2, lease_until = ${clock} + $3 WHERE id = $1 AND ${isFree(clock)} RETURNING ${CLAIM.sql}, ${RECORD.sql}`,
          [id, token, forMs],
        );
        if (row === undefined) return null;
        const claimed = claimedOf(row, { id, token }, now);
        if (claimed.owner === null || (await hasActiveKey(tx, claimed.owner, now))) return claimed;
        await tx.run(
          `UPDATE webhook SET lease = NULL, lease_until = NULL, test_at = NULL, pause_reason = coalesce(pause_reason, $3),
            paused_at = coalesce(paused_at, $2) WHERE id = $1`,
          [id, now, 'no-active-key' satisfies PauseReason],
        );
        return null;
      }),
    /** Renews the lease and stores the next delivery before it is sent. False if the lease or the cursor is not the same any more. */
    storePending: ({ id, token }: WebhookLease, delivery: NewDelivery, forMs: number, now: number): Promise<boolean> =>
      changes(
        `SET pending_id = $4, pending_body = $5, pending_changes = $6, pending_cursor = $7, pending_at = $8,
            lease_until = ${clock} + $9
          ${IS_NEXT}`,
        [...[id, token, delivery.from, delivery.id, delivery.body, delivery.changes, delivery.cursor], ...[now, forMs]],
      ),
    /** Moves the cursor where there is nothing to deliver. */
    advance: ({ id, token }: WebhookLease, from: string, cursor: string): Promise<boolean> =>
      changes(`SET reached = $4 ${IS_NEXT}`, [id, token, from, cursor]),
    /**
     * Records an attempt, and what happens next if it failed. Deliveries that succeeded move the cursor past them, and challenges make
     * the webhook active. Returns the cursor; null if the lease is lost, or that delivery is not pending any more.
     */
    record: ({ id, token }: WebhookLease, attempt: Attempt, next: NextStep | null): Promise<string | null> =>
      engine.transaction(async (tx) => {
        const isOurs = 'UPDATE webhook SET lease = lease WHERE id = $1 AND lease = $2 RETURNING id';
        if ((await tx.rows(isOurs, [id, token])).length === 0) return null;
        const { type, at, deliveryId, changes: sent, failure, status, ms } = attempt;
        await tx.run(`INSERT INTO webhook_attempt (webhook, ${ATTEMPT.sql}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, [
          ...[id, type, at, deliveryId, sent, failure, status, ms],
        ]);
        await tx.run(
          `DELETE FROM webhook_attempt WHERE webhook = $1 AND id <=
            (SELECT id FROM webhook_attempt WHERE webhook = $1 ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_ATTEMPTS})`,
          [id],
        );
        const isTest = type !== 'changes';
        const failed = isTest ? `test_at = NULL, ${FAILED}` : FAILED;
        const [row] = await tx.rows(
          `UPDATE webhook SET ${next === null ? SUCCEEDED[type] : failed}
            WHERE id = $1 AND ${isTest ? 'lease' : 'pending_id'} = $2 RETURNING reached`,
          [id, isTest ? token : deliveryId, ...(next === null ? [] : failedParams(attempt, next))],
        );
        return decodeTextOrNull(row?.[0]);
      }),
    release: ({ id, token }: WebhookLease): Promise<void> =>
      engine.transaction(async (tx) => {
        await tx.run('UPDATE webhook SET lease = NULL, lease_until = NULL WHERE id = $1 AND lease = $2', [id, token]);
      }),
    async stats() {
      const rows = await engine.rows('SELECT pause_reason, count(*) FROM webhook GROUP BY pause_reason', []);
      const counted = new Map(rows.map(([reason, count]) => [decodeTextOrNull(reason) ?? 'active', Number(count)]));
      const pending = await engine.rows(
        `SELECT id, pending_at FROM webhook WHERE pending_at IS NOT NULL AND paused_at IS NULL
          ORDER BY pending_at LIMIT ${MOST_PENDING}`,
        [],
      );
      const counts = Object.fromEntries(WEBHOOK_STATES.map((state) => [state, counted.get(state) ?? 0]));
      return {
        counts: counts as Readonly<Record<(typeof WEBHOOK_STATES)[number], number>>,
        /** The active webhooks with a pending delivery, and when it was made; the oldest first. */
        pending: pending.map(([id, since]) => ({ id: decodeNumber(id), since: decodeNumber(since) })),
      };
    },
  };
}

function claimedOf([secretCell, previousCell, bodyCell, ...rest]: Row, lease: WebhookLease, now: number) {
  const webhook = webhookOf(rest);
  const { secret, previousSecret, body } = CLAIM.decode([secretCell, previousCell, bodyCell]);
  const isOverlap = previousSecret !== null && (webhook.previousSecretUntil ?? 0) > now;
  /** The current secret first. */
  const secrets: readonly string[] = [secret, ...(isOverlap ? [previousSecret] : [])];
  return { ...webhook, body, lease, secrets };
}
