// Manages the webhooks of the wallet that is signed in, and shows their last deliveries.

import { countText, exactText, field, nearText, setFields, syncList } from './developer-fields.js';
import { ask, createList, onSubmit, openDialog, say } from './developers.js';
import { byId, show } from './dom.js';

const REASONS = {
  unconfirmed:
    'Not confirmed: give the secret to your server, then press Confirm. Your server must answer a challenge before anything else is sent.',
  paused: 'Paused by you or by the operator. Nothing is lost: when you resume, it continues where it was.',
  failing:
    'Paused: a delivery failed for three days. Repair your server, then resume: it is asked first. Nothing is lost.',
  gone: 'Paused: your server answered 410 Gone. If it should receive deliveries again, resume: it is asked first.',
  'no-active-key': 'Paused: you have no active API key. Create one, then resume.',
};
const FAILURES = {
  status: 'refused',
  redirect: 'redirected, which is not followed',
  challenge: 'the answer is not the challenge',
  unreachable: 'no answer: check the name, the certificate and the log of your server',
};

function deliversText({ chainIds, wallet, from, to, contract, at }) {
  const filters = Object.entries({ wallet, from, to, contract }).filter(([, value]) => value !== undefined);
  return [
    chainIds === 'served' ? 'all chains' : `${chainIds.length === 1 ? 'chain' : 'chains'} ${chainIds.join(', ')}`,
    ...filters.map(([name, value]) => `${name} ${value}`),
    at === 'final' ? 'when a block is final' : 'at once, with undo after a reorg',
  ].join(' · ');
}

function pendingText({ state, pending, failures, nextAttemptAt }) {
  if (pending === null) return 'nothing';
  const waiting = `a delivery of ${countText(pending.changes, 'change')}`;
  if (failures === 0) return waiting;
  // One that is due now is sent within a second.
  const nextAt = Math.max(Date.parse(nextAttemptAt ?? 0), Date.now() + 1);
  const next = nextAttemptAt === null ? '' : `, next attempt ${nearText(nextAt)}`;
  return `${waiting}, ${countText(failures, 'failed attempt')}${state === 'active' ? next : ''}`;
}

const isUnconfirmed = ({ reason }) => reason === 'unconfirmed';

function stateOf({ state, reason, failures }) {
  if (state !== 'active') return [isUnconfirmed({ reason }) ? 'not confirmed' : 'paused', 'badge bad'];
  return failures > 0 ? ['retrying', 'badge bad'] : ['active', 'badge good'];
}

function outcomeText({ failure, status }) {
  const outcome = failure === null ? 'delivered' : (FAILURES[failure] ?? failure);
  return status === null ? outcome : `${outcome}, HTTP ${status}`;
}

function fillCard(card, webhook) {
  const isActive = webhook.state === 'active';
  const [state, classes] = stateOf(webhook);
  const oldSecretUntil = Date.parse(webhook.previousSecretUntil ?? 0);
  setFields(card, {
    url: webhook.url,
    state,
    reason: REASONS[webhook.reason] ?? '',
    delivers: deliversText(webhook),
    pending: pendingText(webhook),
    created: exactText(Date.parse(webhook.createdAt)),
    secret: `signs too until ${exactText(oldSecretUntil)}`,
  });
  card.querySelector('.badge').className = classes;
  field(card, 'reason').hidden = isActive;
  for (const name of ['secret-title', 'secret']) field(card, name).hidden = !(oldSecretUntil > Date.now());
  card.querySelector('[data-action="test"]').textContent = isUnconfirmed(webhook) ? 'Confirm' : 'Send a test';
  for (const button of card.querySelectorAll('[data-action]'))
    button.setAttribute('aria-label', `${button.textContent}: ${webhook.url}`);
  card.querySelector('[data-action="pause"]').hidden = !isActive;
  card.querySelector('[data-action="resume"]').hidden = isActive || isUnconfirmed(webhook);
  card.querySelector('.scroll').setAttribute('aria-label', `Last deliveries: ${webhook.url}`);
  const details = card.querySelector('details');
  details.ontoggle = () => {
    if (details.open) showAttempts(webhook.id).catch((error) => say(error.message, true));
  };
}

function fillAttempt(row, attempt) {
  const sent = attempt.type === 'changes' ? countText(attempt.changes, 'change') : `a ${attempt.type}`;
  const took = attempt.ms === null ? '' : `${attempt.ms} ms`;
  const at = exactText(Date.parse(attempt.at));
  setFields(row, { at, outcome: outcomeText(attempt), sent, took, delivery: attempt.deliveryId });
}

const cardOf = (id) => byId('webhooks').querySelector(`[data-id="${id}"]`);

const TEST_TRIES = 30;
const TEST_PAUSE_MS = 1000;

function showSecret(secret, { id, url }) {
  setFields(byId('new-secret'), { url });
  list.once.show(id, [secret]);
}

const readAttempts = async (id) => (await ask(`/developers/webhooks/attempts?id=${id}`)).attempts;

/** What was sent, without its signature. */
const payloadText = ({ url, at, deliveryId, payload }) =>
  `POST ${url}\nwebhook-id: ${deliveryId}\nwebhook-timestamp: ${Math.floor(Date.parse(at) / 1000)}\n\n${payload}`;

const responseText = ({ status, ms }) =>
  status === null ? 'None within 15 seconds.' : `HTTP ${status} after ${ms} ms. Its body is not kept.`;

/** The last test, if it failed. */
function fillFailed(card, url, sent) {
  field(card, 'failed').hidden = sent === undefined || sent.failure === null;
  if (field(card, 'failed').hidden) return;
  setFields(card, {
    'failed-title': `The last ${sent.type} failed: ${outcomeText(sent)}`,
    payload: payloadText({ ...sent, url }),
    response: responseText(sent),
  });
}

async function showAttempts(id) {
  const attempts = await readAttempts(id);
  const card = cardOf(id);
  if (card === null) return;
  const items = attempts.map((attempt) => ({ ...attempt, id: `${attempt.at} ${attempt.deliveryId}` }));
  fillFailed(card, field(card, 'url').textContent, attempts.find(isTest));
  syncList(card.querySelector('tbody'), items, 'attempt-row', fillAttempt);
  card.querySelector('.scroll').hidden = items.length === 0;
  field(card, 'no-attempts').hidden = items.length > 0;
}

const change = (action, { id }, more = {}) => ask(`/developers/webhooks/${action}`, 'POST', { id, ...more });
const confirm = (action, { url }) => openDialog(`webhook-${action}-dialog`, (dialog) => setFields(dialog, { url }));

const isTest = ({ type }) => type !== 'changes';
/** Whether the server is asked, before anything else is sent. */
const needsConsent = ({ reason }) => ['unconfirmed', 'failing', 'gone'].includes(reason);

/** Waits for the attempt that follows: the service sends within seconds, or fails after 15. */
async function nextAttempt(id, before) {
  for (let left = TEST_TRIES; left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, TEST_PAUSE_MS));
    const found = (await readAttempts(id)).find(isTest);
    if (found !== undefined && found.deliveryId !== before) return found;
  }
  throw new Error('It is not sent yet. See the last deliveries later.');
}

/** Sends a test, or a challenge to a server that has not agreed, and tells how it went. */
async function sendTest(action, webhook) {
  const before = (await readAttempts(webhook.id)).find(isTest)?.deliveryId;
  await change(action, webhook);
  say(needsConsent(webhook) ? 'Sending a challenge…' : 'Sending a test…');
  const sent = await nextAttempt(webhook.id, before);
  cardOf(webhook.id).querySelector('details').open = true;
  await list.refresh();
  if (sent.failure !== null) field(cardOf(webhook.id), 'failed').scrollIntoView({ block: 'nearest' });
  const what = sent.type === 'challenge' ? 'Challenge' : 'Test';
  say(
    sent.failure === null && sent.type === 'challenge' ? `Confirmed: ${webhook.url}` : `${what}: ${outcomeText(sent)}.`,
    sent.failure !== null,
  );
}

/** The focus goes to the button that does the opposite: the one that was pressed is gone. */
async function switchTo(action, opposite, said, webhook) {
  await change(action, webhook);
  await list.refresh();
  cardOf(webhook.id)?.querySelector(`[data-action="${opposite}"]`)?.focus();
  say(`${said}: ${webhook.url}`);
}

const ACTIONS = {
  test: (webhook) => sendTest('test', webhook),
  pause: (webhook) => switchTo('pause', 'resume', 'Paused', webhook),
  resume: (webhook) =>
    needsConsent(webhook) ? sendTest('resume', webhook) : switchTo('resume', 'pause', 'Resumed', webhook),
  async rotate(webhook) {
    if ((await confirm('rotate', webhook)) === null) return;
    const { secret } = await change('rotate', webhook);
    await list.refresh();
    showSecret(secret, webhook);
  },
  async replay(webhook) {
    const given = await openDialog('webhook-replay-dialog', (dialog, form) => {
      setFields(dialog, { url: webhook.url });
      const { chainId, block } = form.elements;
      chainId.value = webhook.chainIds === 'served' ? '' : webhook.chainIds[0];
      // What is needed depends on the choice.
      form.onchange = () => {
        const isBlock = form.elements.from.value === 'block';
        form.querySelector('.row').hidden = !isBlock;
        for (const input of [chainId, block]) input.required = isBlock;
      };
      form.onchange();
    });
    if (given === null) return;
    const { from, chainId, block } = Object.fromEntries(given);
    await change('replay', webhook, from === 'start' ? { block: 'start' } : { chainId, block });
    await list.refresh();
    const when = webhook.state === 'active' ? 'has started' : 'starts when the webhook is active';
    say(`The replay ${when}: ${webhook.url}`);
  },
  async remove(webhook) {
    if ((await confirm('remove', webhook)) === null) return;
    await change('remove', webhook);
    if (list.once.owner() === String(webhook.id)) list.once.hide();
    await list.refresh();
    byId('webhooks-heading').focus();
    say(`Removed: ${webhook.url}`);
  },
};

const list = createList({
  items: 'webhooks',
  once: 'new-secret',
  actions: ACTIONS,
  async onRead(webhooks) {
    syncList(byId('webhooks'), webhooks, 'webhook-card', fillCard);
    show('no-webhooks', webhooks.length === 0);
    const opened = webhooks.filter(({ id }) => cardOf(id).querySelector('details').open);
    await Promise.all(opened.map(({ id }) => showAttempts(id)));
  },
});

onSubmit('create-webhook', async (form, fields) => {
  const given = [...fields].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value !== '');
  const { secret, webhook } = await ask('/developers/webhooks', 'POST', Object.fromEntries(given));
  form.reset();
  await list.refresh();
  showSecret(secret, webhook);
});
document.addEventListener('keys-drawn', () => show('webhooks-section', true));
