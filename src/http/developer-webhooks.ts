// Answers /developers/webhooks*: wallets manage their own webhooks. Requests that change something must come from our own pages.

import { WEBHOOKS_PER_PAGE, type WebhookRecord } from '../accounts/webhooks.ts';
import { Problem } from '../api/problems.ts';
import { parseQuery, splitUrl } from '../api/query.ts';
import { StoreError } from '../store/errors.ts';
import { createSecret } from '../webhooks/sign.ts';
import { requireWallet } from './developer-session.ts';
import { bodyOf, type Developers, json, readAfter, type WebhookChange } from './developers.ts';
import type { Service } from './service.ts';
import { replayCursor, startCursor } from './webhook-feed.ts';
import { attemptJson, webhookJson } from './webhook-json.ts';
import { FieldFault, readReplay, readSubscription } from './webhook-request.ts';

type Served = Pick<Service, 'store' | 'chainIds' | 'now'>;

/** With webhooks on. */
type WithWebhooks = Developers & { readonly webhooks: NonNullable<Developers['webhooks']> };

interface Asked {
  readonly request: Request;
  /** The client's address. */
  readonly client: string;
  readonly developers: WithWebhooks;
  readonly service: Served;
  /** The wallet that is signed in. */
  readonly wallet: string;
  /** Unix milliseconds. */
  readonly now: number;
}

type Handler = (asked: Asked) => Promise<Response>;

/** By path and method. */
export const WEBHOOK_PATHS: ReadonlyMap<string, Readonly<Record<string, Handler>>> = new Map<
  string,
  Record<string, Handler>
>([
  ['/developers/webhooks', { GET: listWebhooks, POST: createWebhook }],
  ['/developers/webhooks/attempts', { GET: listAttempts }],
  ['/developers/webhooks/pause', { POST: pauseWebhook }],
  ['/developers/webhooks/resume', { POST: resumeWebhook }],
  ['/developers/webhooks/rotate', { POST: rotateSecret }],
  ['/developers/webhooks/test', { POST: sendTest }],
  ['/developers/webhooks/replay', { POST: replayWebhook }],
  ['/developers/webhooks/remove', { POST: removeWebhook }],
]);

const OVERLAP_MS = 24 * 3600 * 1000;
const NOT_FOUND = 'You have no webhook with this id.';

export async function answerWebhooks(
  handler: Handler,
  request: Request,
  developers: Developers,
  service: Served,
  socket: () => string,
): Promise<Response> {
  const { webhooks } = developers;
  if (webhooks === undefined) throw new Problem('not-found', 'The operator of this service has switched webhooks off.');
  const seconds = service.now();
  const wallet = await requireWallet(request, developers, Math.floor(seconds));
  const now = Math.floor(1000 * seconds);
  const client = developers.clientOf(request, socket);
  return handler({ request, client, developers: { ...developers, webhooks }, service, wallet, now });
}

const refuse = ({ field, detail }: FieldFault) => new Problem('bad-request', `${field} ${detail}.`);

/** The owner is the wallet that asks. */
function shown(record: WebhookRecord) {
  const { owner: _, cursor: __, ...rest } = webhookJson(record);
  return rest;
}

async function listWebhooks({ request, developers: { accounts, webhooks }, wallet }: Asked): Promise<Response> {
  const after = readAfter(request);
  // One more than a page, to see whether another page follows.
  const limit = WEBHOOKS_PER_PAGE + 1;
  const found = await accounts.webhooks.list({ owner: wallet, limit, ...(after === null ? {} : { after }) });
  const page = found.slice(0, WEBHOOKS_PER_PAGE);
  const next = found.length > page.length ? (page.at(-1)?.id ?? null) : null;
  return json({ quota: webhooks.quota, webhooks: page.map(shown), next });
}

async function createWebhook({ request, client, developers, service, wallet, now }: Asked): Promise<Response> {
  const { accounts, webhooks } = developers;
  const { rules, quota } = webhooks;
  const subscription = readSubscription(await bodyOf(request), { rules, served: service.chainIds });
  if (subscription instanceof FieldFault) throw refuse(subscription);
  const counted = await webhooks.registrations.consume(client, performance.now());
  if (!counted.accepted)
    throw new Problem('too-many-requests', 'Too many webhooks were created from your address. Retry later.', {
      retryAfter: counted.seconds,
    });
  const cursor = await startCursor(subscription, service);
  const secret = createSecret();
  const created = await accounts.webhooks.create({ ...subscription, owner: wallet, cursor, secret, now, quota });
  if (created === 'no-active-key')
    throw new Problem('no-active-key', 'A webhook works while you have an active API key. Create a key first.');
  if (created === 'over-quota')
    throw new Problem('too-many-webhooks', `A wallet can have ${quota} webhooks. Remove one first.`);
  if (created === 'full')
    throw new Problem('too-many-webhooks', 'This service has as many webhooks as it can. Ask its operator.');
  developers.onWebhookChange?.({ type: 'created', webhookId: created.id });
  return json({ secret, webhook: shown(created) }, 201);
}

const ATTEMPT_FIELDS = new Set(['id']);

async function listAttempts({ request, developers: { accounts }, wallet }: Asked): Promise<Response> {
  const { values, faults } = parseQuery(splitUrl(request.url).query, ATTEMPT_FIELDS);
  const id = values.get('id') ?? '';
  if (faults.length > 0 || !/^\d{1,15}$/.test(id)) throw new Problem('bad-request', 'id must be the id of a webhook.');
  const webhook = await accounts.webhooks.byId(Number(id));
  if (webhook?.owner !== wallet) throw new Problem('not-found', NOT_FOUND);
  return json({ id: webhook.id, attempts: (await accounts.webhooks.attempts(webhook.id)).map(attemptJson) });
}

/** The signed-in wallet's own webhook that the request names, and the other fields of the body. */
async function ownWebhook({ request, developers: { accounts }, wallet }: Asked) {
  const { id, ...body } = await bodyOf(request);
  const webhook = typeof id === 'number' && Number.isSafeInteger(id) ? await accounts.webhooks.byId(id) : null;
  if (webhook === null || webhook.owner !== wallet) throw new Problem('not-found', NOT_FOUND);
  return { webhook, body };
}

/** What an owner can have sent again and again must not flood a receiver. */
async function requireTime({ developers, now }: Asked, { id }: WebhookRecord): Promise<void> {
  const { askMs } = developers.webhooks;
  if (await developers.accounts.webhooks.mayAsk(id, now, askMs)) return;
  const retryAfter = askMs / 1000;
  throw new Problem('too-many-requests', 'A webhook is tested, resumed or replayed once a minute.', { retryAfter });
}

/** Answers with the webhook after a change. */
async function changed({ developers }: Asked, type: WebhookChange['type'], id: number, more: object = {}) {
  const webhook = await developers.accounts.webhooks.byId(id);
  if (webhook === null) throw new Problem('not-found', NOT_FOUND);
  developers.onWebhookChange?.({ type, webhookId: id });
  return json({ ...more, webhook: shown(webhook) });
}

async function pauseWebhook(asked: Asked): Promise<Response> {
  const { webhook } = await ownWebhook(asked);
  await asked.developers.accounts.webhooks.pause(webhook.id, asked.now);
  return changed(asked, 'paused', webhook.id);
}

/** A receiver that did not accept deliveries is asked first whether it wants them. */
async function resumeWebhook(asked: Asked): Promise<Response> {
  const { webhook } = await ownWebhook(asked);
  const { webhooks } = asked.developers.accounts;
  await requireTime(asked, webhook);
  if (await webhooks.askReceiver(webhook.id, asked.now)) return changed(asked, 'tested', webhook.id);
  await webhooks.resume(webhook.id);
  return changed(asked, 'resumed', webhook.id);
}

async function rotateSecret(asked: Asked): Promise<Response> {
  const { webhook } = await ownWebhook(asked);
  const secret = createSecret();
  const { id } = webhook;
  await asked.developers.accounts.webhooks.rotateSecret({ id, secret, now: asked.now, overlapMs: OVERLAP_MS });
  return changed(asked, 'rotated', id, { secret });
}

async function sendTest(asked: Asked): Promise<Response> {
  const { webhook } = await ownWebhook(asked);
  await requireTime(asked, webhook);
  await asked.developers.accounts.webhooks.requestTest(webhook.id, asked.now);
  return changed(asked, 'tested', webhook.id);
}

async function replayWebhook(asked: Asked): Promise<Response> {
  const { webhook, body } = await ownWebhook(asked);
  const from = readReplay(body, webhook, asked.service.chainIds);
  if (from instanceof FieldFault) throw refuse(from);
  const cursor = await replayCursor(webhook, from, asked.service).catch((error) => {
    if (!(error instanceof StoreError && error.code === 'not-started')) throw error;
    throw new Problem('bad-request', 'chainId names a chain that has no blocks yet.');
  });
  await requireTime(asked, webhook);
  await asked.developers.accounts.webhooks.replayFrom(webhook.id, cursor);
  return changed(asked, 'replayed', webhook.id);
}

async function removeWebhook(asked: Asked): Promise<Response> {
  const { webhook } = await ownWebhook(asked);
  await asked.developers.accounts.webhooks.remove(webhook.id);
  asked.developers.onWebhookChange?.({ type: 'removed', webhookId: webhook.id });
  return json({ id: webhook.id, removed: true });
}
