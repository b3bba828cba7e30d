// Answers /developers/webhooks*: wallets manage their own webhooks. Requests that change something must come from our own pages.

import { Problem } from '../../api/problems.ts';
import { parseQuery, splitUrl } from '../../api/query.ts';
import { StoreError } from '../../store/errors.ts';
import { createSecret } from '../../webhooks/sign.ts';
import { replayCursor, startCursor } from '../../webhooks/source.ts';
import { attemptJson, webhookJson } from '../../webhooks/webhook-json.ts';
import { FieldFault, readReplay, readSubscription } from '../../webhooks/webhook-request.ts';
import { WEBHOOKS_PER_PAGE, type WebhookRecord, type Webhooks } from '../../webhooks/webhooks.ts';
import { requireWallet } from './developer-session.ts';
import {
  type Asked,
  bodyOf,
  type DeveloperPaths,
  json,
  namedBy,
  readListPage,
  type WebhookChange,
  type WebhookRules,
} from './developers.ts';

/** With webhooks on, and the wallet that is signed in. */
interface AskedByWallet extends Asked {
  readonly wallet: string;
  readonly webhooks: Webhooks;
  readonly rules: WebhookRules;
  /** Unix milliseconds. */
  readonly ms: number;
}

type Handler = (asked: AskedByWallet) => Promise<Response>;

const PATHS: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  '': { GET: listWebhooks, POST: createWebhook },
  '/attempts': { GET: listAttempts },
  '/pause': { POST: changing('paused', ({ webhooks, ms }, { id }) => webhooks.pause(id, ms)) },
  '/resume': { POST: resumeWebhook },
  '/rotate': { POST: changing('rotated', rotateSecret) },
  '/test': { POST: changing('tested', sendTest) },
  '/replay': { POST: changing('replayed', replayWebhook) },
  '/remove': { POST: removeWebhook },
};

export const WEBHOOK_PATHS: DeveloperPaths = Object.entries(PATHS).map(([path, handlers]) => [
  `/developers/webhooks${path}`,
  Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [method, byWallet(handler)])),
]);

function byWallet(handler: Handler) {
  return async (asked: Asked): Promise<Response> => {
    const { webhooks: rules } = asked.developers;
    if (rules === undefined) throw new Problem('not-found', 'The operator of this service has switched webhooks off.');
    const wallet = await requireWallet(asked);
    return handler({ ...asked, wallet, rules, webhooks: rules.store, ms: Math.floor(1000 * asked.service.now()) });
  };
}

const OVERLAP_MS = 24 * 3600 * 1000;
const NOT_FOUND = 'You have no webhook with this id.';

const refuse = ({ field, detail }: FieldFault) => new Problem('bad-request', `${field} ${detail}.`);

/** The owner is the wallet that asks. */
function shown(record: WebhookRecord) {
  const { owner: _, cursor: __, ...rest } = webhookJson(record);
  return rest;
}

async function listWebhooks({ request, rules, webhooks, wallet }: AskedByWallet): Promise<Response> {
  const list = (rows: { readonly limit: number }) => webhooks.list({ owner: wallet, ...rows });
  const { page, next } = await readListPage(request, WEBHOOKS_PER_PAGE, list);
  return json({ quota: rules.quota, webhooks: page.map(shown), next });
}

async function createWebhook(asked: AskedByWallet): Promise<Response> {
  const { request, client, developers, rules, webhooks, service, wallet, ms } = asked;
  const { quota } = rules;
  const subscription = readSubscription(await bodyOf(request), { rules: rules.rules, served: service.chainIds });
  if (subscription instanceof FieldFault) throw refuse(subscription);
  const counted = await rules.registrations.consume(client(), performance.now());
  if (!counted.accepted)
    throw new Problem('too-many-requests', 'Too many webhooks were created from your address. Retry later.', {
      retryAfter: counted.seconds,
    });
  const cursor = await startCursor(subscription, service);
  const secret = createSecret();
  const created = await webhooks.create({ ...subscription, owner: wallet, cursor, secret, now: ms, quota });
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

async function listAttempts({ request, webhooks, wallet }: AskedByWallet): Promise<Response> {
  const { values, faults } = parseQuery(splitUrl(request.url).query, ATTEMPT_FIELDS);
  const id = values.get('id') ?? '';
  if (faults.length > 0 || !/^\d{1,15}$/.test(id)) throw new Problem('bad-request', 'id must be the id of a webhook.');
  const webhook = await webhooks.byId(Number(id));
  if (webhook?.owner !== wallet) throw new Problem('not-found', NOT_FOUND);
  const attempts = await webhooks.attempts(webhook.id);
  return json({ id: webhook.id, attempts: attempts.map((one) => attemptJson(webhook.id, one)) });
}

/** The signed-in wallet's own webhook that the request names, and the other fields of the body. */
async function ownWebhook({ request, webhooks, wallet }: AskedByWallet) {
  const { id, ...body } = await bodyOf(request);
  const webhook = await namedBy({ id }, webhooks.byId);
  if (webhook === null || webhook.owner !== wallet) throw new Problem('not-found', NOT_FOUND);
  return { id: webhook.id, webhook, body };
}

/** What an owner can have sent again and again must not flood a receiver. */
async function requireTime({ rules: { askMs }, webhooks, ms }: AskedByWallet, id: number): Promise<void> {
  if (await webhooks.mayAsk(id, ms, askMs)) return;
  const retryAfter = askMs / 1000;
  throw new Problem('too-many-requests', 'A webhook is tested, resumed or replayed once a minute.', { retryAfter });
}

/** Answers with the webhook after a change. */
async function changed(asked: AskedByWallet, type: WebhookChange['type'], id: number, more: object = {}) {
  const webhook = await asked.webhooks.byId(id);
  if (webhook === null) throw new Problem('not-found', NOT_FOUND);
  asked.developers.onWebhookChange?.({ type, webhookId: id });
  return json({ ...more, webhook: shown(webhook) });
}

type Own = Awaited<ReturnType<typeof ownWebhook>>;

/** Changes a webhook of the wallet. An object that `change` returns is part of the answer. */
function changing(type: WebhookChange['type'], change: (asked: AskedByWallet, own: Own) => Promise<unknown>): Handler {
  return async (asked) => {
    const own = await ownWebhook(asked);
    const more = await change(asked, own);
    return changed(asked, type, own.id, typeof more === 'object' ? (more ?? {}) : {});
  };
}

/** A receiver that did not accept deliveries is asked first whether it wants them. */
async function resumeWebhook(asked: AskedByWallet): Promise<Response> {
  const { id } = await ownWebhook(asked);
  await requireTime(asked, id);
  if (await asked.webhooks.askReceiver(id, asked.ms)) return changed(asked, 'tested', id);
  await asked.webhooks.resume(id);
  return changed(asked, 'resumed', id);
}

async function rotateSecret({ webhooks, ms }: AskedByWallet, { id }: Own) {
  const secret = createSecret();
  await webhooks.rotateSecret({ id, secret, now: ms, overlapMs: OVERLAP_MS });
  return { secret };
}

async function sendTest(asked: AskedByWallet, { id }: Own): Promise<void> {
  await requireTime(asked, id);
  await asked.webhooks.requestTest(id, asked.ms);
}

async function replayWebhook(asked: AskedByWallet, { id, webhook, body }: Own): Promise<void> {
  const from = readReplay(body, webhook, asked.service.chainIds);
  if (from instanceof FieldFault) throw refuse(from);
  const cursor = await replayCursor(webhook, from, asked.service).catch((error) => {
    if (!(error instanceof StoreError && error.code === 'not-started')) throw error;
    throw new Problem('bad-request', 'chainId names a chain that has no blocks yet.');
  });
  await requireTime(asked, id);
  await asked.webhooks.replayFrom(id, cursor);
}

async function removeWebhook(asked: AskedByWallet): Promise<Response> {
  const { id } = await ownWebhook(asked);
  await asked.webhooks.remove(id);
  asked.developers.onWebhookChange?.({ type: 'removed', webhookId: id });
  return json({ id, removed: true });
}
