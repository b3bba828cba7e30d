// Delivers webhooks. Any number of processes share the work: a webhook is delivered under a lease, by one process at a time. Its next
// delivery is stored before it is sent, so every attempt has the same id and the same bytes.

import { randomBytes } from 'node:crypto';
import type { Attempt, ClaimedWebhook, WebhookRecord, Webhooks } from '../accounts/webhooks.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { nextStep } from './retries.ts';
import type { Send } from './send.ts';
import type { signatureOf } from './sign.ts';

export interface Batch {
  /** Changes and undos as JSON. */
  readonly entries: readonly string[];
  /** The cursor after them, also if there are none: a filter may match nothing. */
  readonly cursor: string;
  /** How many changes were read. */
  readonly scanned: number;
  /** Nothing more has happened yet. */
  readonly isEnd: boolean;
}

/** Where the changes come from. */
export interface ChangeSource {
  /** Returns the state of a webhook's chains: while it stays the same, there is nothing new to deliver. */
  observe(): Promise<(webhook: WebhookRecord) => string>;
  /** What comes after a cursor, as of the last `observe` or later. It may be shared by many webhooks. */
  peek(webhook: WebhookRecord, cursor: string): Promise<Batch>;
  /** What comes after a cursor now. */
  read(webhook: WebhookRecord, cursor: string): Promise<Batch>;
}

export interface DelivererOptions {
  readonly webhooks: Webhooks;
  readonly source: ChangeSource;
  readonly send: Send;
  readonly sign: typeof signatureOf;
  readonly onAttempt?: (outcome: string) => void;
  readonly onPause?: (webhook: WebhookRecord, reason: string) => void;
  readonly onError?: (error: unknown) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Multiplies the pauses between retries. */
  readonly retryScale?: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
}

export interface Deliverer {
  /** Starts no attempt any more, and waits for those in flight. Attempts that take longer are aborted, and made again later. */
  stop(graceMs: number): Promise<void>;
}

/** Attempts at once in one process. */
const MOST_AT_ONCE = 32;
/** Of these, attempts of deliveries that have failed before: dead receivers leave room for the others. */
const MOST_FAILING = 16;
/** Of these, attempts for one owner, other than the operator, and to one host: nobody has all the room. */
const MOST_OF_OWNER = 4;
const MOST_TO_HOST = 8;
/** Tests have a little room of their own: their owners can ask for as many as they like. */
const MOST_TESTS = 4;
/** Attempts to one host in a minute, and those of tests and of deliveries that have failed before. */
const MOST_A_MINUTE = 600;
const MOST_TRIES_A_MINUTE = 20;
/** After so many deliveries of one webhook, it is the turn of others. */
const PER_CLAIM = 10;
/** Longer than one attempt with its writes. */
const LEASE_MS = 60_000;
const POLL_MS = 1000;
/** The least time between two rounds, each of which reads all webhooks. */
const LEAST_POLL_MS = 50;
/** A webhook whose filter left nothing of so many changes stores its new cursor, so that a restart does not read them again. */
const STORE_AFTER = 1000;
/** How many webhooks are looked at before other work of the process runs. */
const WEBHOOKS_PER_TURN = 100;
/** For the last writes of attempts that were aborted. */
const RELEASE_MS = 2000;

/** What an attempt takes room for. */
interface Work {
  readonly isTest: boolean;
  readonly isFailing: boolean;
  readonly owner: string | null;
  readonly host: string;
}

const workOf = ({ testRequestedAt, failures, owner, url }: WebhookRecord): Work => ({
  isTest: testRequestedAt !== null,
  isFailing: failures > 0,
  owner,
  host: new URL(url).hostname,
});

/** Counts the attempts to each host, by the minute. A receiver that does not want them is not flooded by many webhooks. */
function createHostPace(now: () => number) {
  let minute = 0;
  const attempts = new Map<string, { all: number; tries: number }>();
  return {
    take({ host, isTest, isFailing }: Work): boolean {
      const current = Math.floor(now() / 60_000);
      if (current !== minute) attempts.clear();
      minute = current;
      const count = attempts.get(host) ?? { all: 0, tries: 0 };
      const isTry = isTest || isFailing;
      if (count.all >= MOST_A_MINUTE || (isTry && count.tries >= MOST_TRIES_A_MINUTE)) return false;
      count.all++;
      if (isTry) count.tries++;
      attempts.set(host, count);
      return true;
    },
  };
}

/** Where this process has looked for something to deliver. */
interface Look {
  /** The stored cursor that it began from. */
  readonly from: string;
  readonly cursor: string;
  /** Of the webhook's chains; null if there may be more. */
  readonly state: string | null;
  readonly scanned: number;
}

export function startDeliverer(options: DelivererOptions): Deliverer {
  const { webhooks, source, send, sign, onAttempt, onPause, onError = () => {}, now = Date.now } = options;
  const { retryScale = 1, leaseMs = LEASE_MS, pollMs = POLL_MS } = options;
  const looks = new Map<number, Look>();
  /** What is delivered now, by the webhook's id. */
  const inFlight = new Map<number, Work & { readonly ended: Promise<void> }>();
  const pace = createHostPace(now);
  const aborting = new AbortController();
  let [isStopping, isWaiting, lastId] = [false, false, 0];
  let wake = () => {};

  const hasRoom = ({ isTest, isFailing, owner, host }: Work): boolean => {
    const all = [...inFlight.values()];
    const count = (isCounted: (work: Work) => boolean) => all.filter(isCounted).length;
    if (isTest) return count((one) => one.isTest) < MOST_TESTS && !all.some((one) => one.isTest && one.owner === owner);
    return (
      count((one) => !one.isTest) < MOST_AT_ONCE &&
      (!isFailing || count((one) => one.isFailing) < MOST_FAILING) &&
      (owner === null || count((one) => one.owner === owner) < MOST_OF_OWNER) &&
      count((one) => one.host === host) < MOST_TO_HOST
    );
  };

  async function hasNews(webhook: WebhookRecord, state: string): Promise<boolean> {
    const known = looks.get(webhook.id);
    const look = known?.from === webhook.cursor ? known : null;
    if (look?.state === state) return false;
    const { entries, cursor, scanned, isEnd } = await source.peek(webhook, look?.cursor ?? webhook.cursor);
    // It is remembered only where nothing is: another process may claim what was found here, and die.
    if (entries.length > 0) return true;
    const total = (look?.scanned ?? 0) + scanned;
    looks.set(webhook.id, { from: webhook.cursor, cursor, state: isEnd ? state : null, scanned: total });
    return total >= STORE_AFTER;
  }

  const isDue = async (webhook: WebhookRecord, state: string): Promise<boolean> => {
    if (webhook.testRequestedAt !== null) return true;
    if (webhook.paused !== null || (webhook.nextAttemptAt ?? 0) > now()) return false;
    return webhook.pending !== null || hasNews(webhook, state);
  };

  async function round(): Promise<void> {
    const stateOf = await source.observe();
    const candidates = await webhooks.candidates();
    forget(candidates);
    // Begins after the last one that was started, so that all have their turn.
    const next = candidates.findIndex(({ id }) => id > lastId);
    const inTurn = next < 0 ? candidates : [...candidates.slice(next), ...candidates.slice(0, next)];
    let looked = 0;
    for (const webhook of inTurn) {
      if (isStopping) return;
      if (++looked % WEBHOOKS_PER_TURN === 0) await Bun.sleep(0);
      const { id } = webhook;
      if (inFlight.has(id)) continue;
      const work = workOf(webhook);
      if (!hasRoom(work)) {
        isWaiting = true;
        continue;
      }
      const state = stateOf(webhook);
      // One webhook that cannot be read delays no other.
      const due = await isDue(webhook, state).catch((error) => void onError(error));
      if (!due || !pace.take(work)) continue;
      lastId = id;
      const ended = deliver(id, state, work).catch(onError);
      inFlight.set(id, { ...work, ended });
      void ended.then(() => {
        inFlight.delete(id);
        if (isWaiting) wake();
      });
    }
  }

  function forget(candidates: readonly WebhookRecord[]): void {
    const ids = new Set(candidates.map(({ id }) => id));
    for (const id of looks.keys()) if (!ids.has(id) && !inFlight.has(id)) looks.delete(id);
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

  async function deliverTest(webhook: ClaimedWebhook): Promise<void> {
    const data = { type: 'webhook.test', timestamp: new Date(now()).toISOString(), data: { webhook: webhook.id } };
    const attempt = await trySend(webhook, { id: createId(), body: JSON.stringify(data), changes: 0 }, 'test');
    if (attempt !== null) await webhooks.recordTest(webhook.lease, attempt, stepAfter(webhook, attempt));
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
        const batch = await source.read(webhook, cursor);
        if (batch.entries.length === 0) {
          if (batch.cursor !== cursor && !(await webhooks.advance(lease, cursor, batch.cursor))) return;
          cursor = batch.cursor;
          looks.set(id, { from: cursor, cursor, state: batch.isEnd ? state : null, scanned: 0 });
          if (batch.isEnd) return;
          continue;
        }
        const made = { id: createId(), body: bodyOf(webhook, batch, now()), changes: batch.entries.length };
        const stored = { ...made, from: cursor, cursor: batch.cursor };
        leasedAt = now();
        if (!(await webhooks.storePending(lease, stored, leaseMs, leasedAt))) return;
        delivery = { ...made, createdAt: now() };
      }
      // This process was held up: before the attempt ends, another one may have delivered this and what comes next.
      if (now() - leasedAt > leaseMs / 2) return;
      const attempt = await trySend(webhook, delivery, 'changes');
      if (attempt === null) return;
      const next = stepAfter({ failures, failingSince }, attempt);
      if (next !== null) {
        const isRecorded = await webhooks.recordFailure(lease, attempt, next);
        if (isRecorded && 'pause' in next) onPause?.(webhook, next.pause);
        return;
      }
      const reached = await webhooks.recordSuccess(lease, attempt);
      if (reached === null) return;
      [cursor, delivery, failures, failingSince] = [reached, null, 0, null];
    }
    // There may be more.
    isWaiting = true;
  }

  /** Null if the attempt was aborted because the process stops: it says nothing about the receiver. */
  async function trySend(
    { url, secrets }: ClaimedWebhook,
    { id, body, changes }: { readonly id: string; readonly body: string; readonly changes: number },
    type: Attempt['type'],
  ): Promise<Attempt | null> {
    const at = now();
    const time = new Date(at);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': await sign(secrets, id, time, body),
    };
    const outcome = await send(url, headers, body, aborting.signal);
    const failure = outcome.type === 'failed' ? outcome.reason : null;
    if (failure !== null && aborting.signal.aborted) return null;
    onAttempt?.(failure ?? 'delivered');
    return { type, at, deliveryId: id, changes, failure, status: outcome.status, ms: outcome.ms };
  }

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
    async stop(graceMs) {
      isStopping = true;
      wake();
      const settled = ended.then(() => Promise.all([...inFlight.values()].map((one) => one.ended)));
      const isIn = (ms: number) =>
        withTimeout(ms, settled).then(
          () => true,
          () => false,
        );
      if (await isIn(graceMs)) return;
      aborting.abort();
      await isIn(RELEASE_MS);
    },
  };
}

const createId = () => `msg_${randomBytes(18).toString('base64url')}`;

function bodyOf({ id }: WebhookRecord, { entries, cursor }: Batch, at: number): string {
  const timestamp = new Date(at).toISOString();
  return `{"type":"delegations.changes","timestamp":"${timestamp}","data":{"webhook":${id},"changes":[${entries.join()}],"cursor":"${cursor}"}}`;
}
