// Delivers webhooks. Any number of processes share the work: a webhook is delivered under a lease, by one process at a time. Its next
// delivery is stored before it is sent, so every attempt has the same id and the same bytes.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../store/with-timeout.ts';
import { nextStep } from './retries.ts';
import { createRoom, type Work } from './room.ts';
import type { Send, SendOutcome } from './send.ts';
import { signatureOf } from './sign.ts';
import type { Unsent, WebhookSource } from './source.ts';
import { testPayload } from './test-payload.ts';
import type { Attempt, ClaimedWebhook, WebhookRecord, Webhooks } from './webhooks.ts';

export interface DelivererOptions {
  readonly webhooks: Webhooks;
  readonly source: WebhookSource;
  readonly send: Send;
  readonly onAttempt?: (outcome: string) => void;
  readonly onPause?: (webhook: WebhookRecord, reason: string) => void;
  readonly onError?: (error: unknown) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Multiplies the pauses between retries, and the minute of a host's pace. */
  readonly retryScale?: number;
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
}

export type Deliverer = ReturnType<typeof startDeliverer>;

/** How many webhooks a round looks at. */
const WEBHOOKS_A_ROUND = 250;
/** After so many deliveries of one webhook, it is the turn of others. */
const PER_CLAIM = 10;
/** Longer than one attempt with its writes. */
const LEASE_MS = 60_000;
const POLL_MS = 1000;
/** The least time between two rounds. */
const LEAST_POLL_MS = 50;
/** A webhook whose filter left nothing of so many changes stores its new cursor, so that a restart does not read them again. */
const STORE_AFTER = 200;
/** For the last writes of attempts that were aborted. */
const RELEASE_MS = 2000;

/** Where this process has looked for something to deliver. */
interface Look {
  /** The stored cursor that it began from. */
  readonly from: string;
  readonly cursor: string;
  /** Of the webhook's chains; null if there may be more. */
  readonly state: string | null;
  readonly scanned: number;
}

export function startDeliverer(options: DelivererOptions) {
  const { webhooks, source, send, onAttempt, onPause, onError = () => {}, now = Date.now } = options;
  const { retryScale = 1, leaseMs = LEASE_MS, pollMs = POLL_MS, timeoutMs } = options;
  const looks = new Map<number, Look>();
  /** The webhooks that were looked at since the first one. */
  const seen = new Set<number>();
  /** What is delivered now, by the webhook's id. */
  const inFlight = new Map<number, Promise<void>>();
  const room = createRoom(now, retryScale);
  const aborting = new AbortController();
  let [isStopping, isWaiting, lastId] = [false, false, 0];
  let wake = () => {};

  async function hasNews(webhook: WebhookRecord, state: string): Promise<boolean> {
    const known = looks.get(webhook.id);
    const look = known?.from === webhook.cursor ? known : null;
    if (look?.state === state) return false;
    const { count, cursor, scanned, isEnd } = await source.peek(webhook, look?.cursor ?? webhook.cursor);
    // It is remembered only where nothing is: another process may claim what was found here, and die.
    if (count > 0) return true;
    const total = (look?.scanned ?? 0) + scanned;
    looks.set(webhook.id, { from: webhook.cursor, cursor, state: isEnd ? state : null, scanned: total });
    return total >= STORE_AFTER;
  }

  const isDue = async (webhook: WebhookRecord, state: string): Promise<boolean> =>
    webhook.testRequestedAt !== null || webhook.pending !== null || hasNews(webhook, state);

  /** Looks at some webhooks after the last ones, so that all have their turn. */
  async function round(): Promise<void> {
    const stateOf = await source.observe();
    const candidates = await webhooks.candidates({ after: lastId, limit: WEBHOOKS_A_ROUND, now: now() });
    const isLast = candidates.length < WEBHOOKS_A_ROUND;
    for (const webhook of candidates) {
      if (isStopping) return;
      const { id } = webhook;
      lastId = id;
      seen.add(id);
      if (inFlight.has(id)) continue;
      const work = room.workOf(webhook);
      if (!room.has(work)) {
        isWaiting = true;
        continue;
      }
      const state = stateOf(webhook);
      // One webhook that cannot be read delays no other.
      const due = await isDue(webhook, state).catch((error) => void onError(error));
      if (!due || !room.isInPace(work)) continue;
      const giveBack = room.take(work);
      const ended = deliver(id, state, work)
        .catch(onError)
        .then(() => {
          giveBack();
          inFlight.delete(id);
          seen.add(id);
          if (isWaiting) wake();
        });
      inFlight.set(id, ended);
    }
    if (isLast) startOver();
    else wake();
  }

  /** Forgets what was not among the candidates. */
  function startOver(): void {
    for (const id of inFlight.keys()) seen.add(id);
    for (const id of looks.keys()) if (!seen.has(id)) looks.delete(id);
    room.keep(seen);
    seen.clear();
    lastId = 0;
  }

  async function deliver(id: number, state: string, { isTest }: Work): Promise<void> {
    const claimedAt = now();
    const claimed = await webhooks.claim(id, leaseMs, claimedAt);
    if (claimed === null) return;
    try {
      if (isTest) await deliverTest(claimed);
      else if (claimed.paused === null) await deliverChanges(claimed, state, claimedAt);
    } finally {
      await webhooks.release(claimed.lease);
    }
  }

  /** A receiver that has not agreed yet is sent a challenge, and agrees if it answers with it. */
  async function deliverTest(webhook: ClaimedWebhook): Promise<void> {
    const type = webhook.paused?.reason === 'unconfirmed' ? 'challenge' : 'test';
    const challenge = type === 'challenge' ? randomBytes(24).toString('base64url') : undefined;
    const at = now();
    const delivery = { id: createId(), body: testPayload(type, webhook.id, at, challenge), changes: 0 };
    const attempt = await trySend(webhook, delivery, { type, at, challenge });
    if (attempt !== null) await webhooks.record(webhook.lease, attempt, stepAfter(webhook, attempt));
  }

  /** Null if the attempt succeeded. */
  const stepAfter = (webhook: Pick<WebhookRecord, 'failures' | 'failingSince'>, { failure, status }: Attempt) =>
    failure === null ? null : nextStep({ ...webhook, status, now: now() }, Math.random(), retryScale);

  async function deliverChanges(webhook: ClaimedWebhook, state: string, claimedAt: number): Promise<void> {
    const { id, lease } = webhook;
    let leasedAt = claimedAt;
    let { cursor, failures, failingSince } = webhook;
    let delivery = webhook.pending === null ? null : { ...webhook.pending, body: webhook.body ?? '' };
    if ((webhook.nextAttemptAt ?? 0) > now()) return;
    for (let left = PER_CLAIM; left > 0 && !isStopping; left--) {
      if (delivery === null) {
        const unsent = await source.read(webhook, cursor);
        if (unsent.count === 0) {
          if (unsent.cursor !== cursor && !(await webhooks.advance(lease, cursor, unsent.cursor))) return;
          cursor = unsent.cursor;
          looks.set(id, { from: cursor, cursor, state: unsent.isEnd ? state : null, scanned: 0 });
          if (unsent.isEnd) return;
          continue;
        }
        const made = { id: createId(), body: bodyOf(webhook, unsent, now()), changes: unsent.count };
        const stored = { ...made, from: cursor, cursor: unsent.cursor };
        leasedAt = now();
        if (!(await webhooks.storePending(lease, stored, leaseMs, leasedAt))) return;
        delivery = { ...made, createdAt: now() };
      }
      // This process was held up: before the attempt ends, another one may have delivered this and what comes next.
      if (now() - leasedAt > leaseMs / 2) return;
      const attempt = await trySend(webhook, delivery, { type: 'changes', at: now() });
      if (attempt === null) return;
      const next = stepAfter({ failures, failingSince }, attempt);
      const reached = await webhooks.record(lease, attempt, next);
      if (reached !== null && next !== null && 'pause' in next) onPause?.(webhook, next.pause);
      if (reached === null || next !== null) return;
      [cursor, delivery, failures, failingSince] = [reached, null, 0, null];
      if (room.isSlow(webhook)) break;
    }
    // There may be more.
    isWaiting = true;
  }

  /** Null if the attempt was aborted because the process stops: it says nothing about the receiver. */
  async function trySend(
    { id: webhookId, url, secrets, owner }: ClaimedWebhook,
    { id, body, changes }: { readonly id: string; readonly body: string; readonly changes: number },
    { type, at, challenge }: Pick<Attempt, 'type' | 'at'> & { readonly challenge?: string | undefined },
  ): Promise<Attempt | null> {
    const time = new Date(at);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': await signatureOf(secrets, id, time, body),
    };
    const outcome = await send(url, headers, body, { signal: aborting.signal, challenge });
    if (owner !== null && outcome.status === null) await waitOut(outcome);
    if (outcome.type === 'failed' && aborting.signal.aborted) return null;
    onAttempt?.(outcome.type === 'failed' ? outcome.reason : 'delivered');
    room.note({ id: webhookId }, outcome.ms);
    return { type, at, deliveryId: id, changes, ...shownTo(owner, outcome) };
  }

  /** Nobody learns from the time of an attempt without an answer what is in a network: each takes as long as the longest. */
  const waitOut = ({ ms }: SendOutcome) =>
    sleep(Math.max(0, timeoutMs - ms), null, { signal: aborting.signal }).catch(() => {});

  async function run(): Promise<void> {
    while (!isStopping) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      isWaiting = false;
      await round().catch(onError);
      if (isStopping) return;
      const timer = setTimeout(resolve, pollMs);
      await promise;
      clearTimeout(timer);
      if (!isStopping) await Bun.sleep(LEAST_POLL_MS);
    }
  }
  const ended = run();

  return {
    /** Starts no attempt any more, and waits for those in flight. Longer ones are aborted, and made again later. */
    async stop(graceMs: number): Promise<void> {
      isStopping = true;
      wake();
      const settled = ended.then(() => Promise.all(inFlight.values()));
      const abort = () => aborting.abort();
      await withTimeout(graceMs, settled).catch(abort);
      if (aborting.signal.aborted) await withTimeout(RELEASE_MS, settled).catch(() => {});
    },
  };
}

/** Without an answer, owners do not learn why: names and ports of the operator's network cannot be told from those that do not exist. */
function shownTo(owner: string | null, outcome: SendOutcome): Pick<Attempt, 'failure' | 'status' | 'ms'> {
  const { status, ms } = outcome;
  if (owner !== null && status === null) return { failure: 'unreachable', status, ms: null };
  return { failure: outcome.type === 'failed' ? outcome.reason : null, status, ms };
}

const createId = () => `msg_${randomBytes(18).toString('base64url')}`;

function bodyOf({ id }: WebhookRecord, { texts, cursor }: Unsent, at: number): string {
  const timestamp = new Date(at).toISOString();
  return `{"type":"delegations.changes","timestamp":"${timestamp}","data":{"webhook":${id},"changes":[${texts.join()}],"cursor":"${cursor}"}}`;
}
