// Manages the webhooks of the wallet that is signed in. Uses the functions of developers.js, which is loaded before it.
/* global ask, attempt, byId, show, showMessage */

const REASONS = {
  paused: 'Paused by you or by the operator.',
  failing: 'Paused: a delivery failed for three days. Repair your server, then resume. Nothing is lost.',
  gone: 'Paused: your server answered 410 Gone.',
  'no-active-key': 'Paused: you have no active API key. Create one, then resume.',
};
const TEST_TRIES = 30;
const timeText = (text) => text.slice(0, 19).replace('T', ' ');

function showSecret(secret) {
  byId('new-secret-text').textContent = secret;
  show('new-secret', true);
  byId('copy-secret').focus();
}

/** Removes the secret from the page, not only from view. */
function hideSecret() {
  byId('new-secret-text').textContent = '';
  show('new-secret', false);
}

function deliversText({ chainIds, wallet, from, to, contract, at }) {
  const filters = Object.entries({ wallet, from, to, contract }).filter(([, value]) => value !== undefined);
  return [
    chainIds === 'served' ? 'all chains' : `chains ${chainIds.join(', ')}`,
    ...filters.map(([name, value]) => `${name} ${value}`),
    at === 'final' ? 'when final' : 'at the head',
  ].join(', ');
}

function pendingText({ pending, failures, nextAttemptAt }) {
  if (pending === null) return 'none';
  const retry = failures === 0 ? '' : `, ${failures} failed attempts`;
  const next = nextAttemptAt === null ? '' : `, next at ${timeText(nextAttemptAt)} UTC`;
  return `${pending.changes} changes${retry}${next}`;
}

function attemptTable(attempts) {
  if (attempts.length === 0) return 'No deliveries yet.';
  const table = document.createElement('table');
  const addRow = (cells, kind) => {
    const row = table.insertRow();
    for (const text of cells) {
      const cell = document.createElement(kind);
      cell.textContent = text;
      row.append(cell);
    }
  };
  addRow(['Time (UTC)', 'Outcome', 'Changes', 'Took', 'Delivery'], 'th');
  for (const { at, type, failure, status, changes, ms, deliveryId } of attempts) {
    const outcome = [failure ?? 'delivered', status].filter((one) => one !== null).join(' ');
    addRow([timeText(at), outcome, type === 'test' ? 'test' : String(changes), `${ms} ms`, deliveryId], 'td');
  }
  return table;
}

async function showAttempts(details, id) {
  const { attempts } = await ask(`/developers/webhooks/attempts?id=${id}`);
  details.querySelector('.scroll').replaceChildren(attemptTable(attempts));
}

function webhookCard(webhook) {
  const card = byId('webhook-card').content.cloneNode(true).firstElementChild;
  card.dataset.webhook = webhook.id;
  const field = (name, text) => {
    card.querySelector(`[data-field="${name}"]`).textContent = text;
  };
  const isActive = webhook.state === 'active';
  field('url', webhook.url);
  field('state', webhook.state);
  card.querySelector('.badge').classList.add(isActive ? 'good' : 'bad');
  field('reason', REASONS[webhook.reason] ?? '');
  card.querySelector('[data-field="reason"]').hidden = isActive;
  field('delivers', deliversText(webhook));
  field('created', `${timeText(webhook.createdAt)} UTC`);
  field('pending', pendingText(webhook));
  card.querySelector(`[data-action="${isActive ? 'resume' : 'pause'}"]`).remove();
  for (const button of card.querySelectorAll('[data-action]')) {
    button.setAttribute('aria-label', `${button.textContent} ${webhook.url}`);
    button.addEventListener('click', () => attempt(button, () => ACTIONS[button.dataset.action](webhook)));
  }
  const form = card.querySelector('form');
  if (webhook.chainIds !== 'served') form.elements.chainId.value = webhook.chainIds[0];
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(form.querySelector('button'), () => replay(webhook, form));
  });
  const attempts = card.querySelector('[data-part="attempts"]');
  attempts.addEventListener('toggle', () => {
    if (attempts.open) showAttempts(attempts, webhook.id).catch((error) => showMessage(error.message));
  });
  return card;
}

const change = (action, webhook, more = {}) =>
  ask(`/developers/webhooks/${action}`, 'POST', { id: webhook.id, ...more });

async function newestAttempt({ id }) {
  const { attempts } = await ask(`/developers/webhooks/attempts?id=${id}`);
  return attempts[0]?.deliveryId;
}

/** A refresh replaces the button that was pressed. */
const focusAction = ({ id }, action) =>
  document.querySelector(`[data-webhook="${id}"] [data-action="${action}"]`)?.focus();

const ACTIONS = {
  async test(webhook) {
    const before = await newestAttempt(webhook);
    await change('test', webhook);
    // The service sends it within seconds, or fails after 15.
    for (let left = TEST_TRIES; left > 0; left--) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      if ((await newestAttempt(webhook)) === before) continue;
      await refreshWebhooks();
      const details = document.querySelector(`[data-webhook="${webhook.id}"] [data-part="attempts"]`);
      details.open = true;
      details.querySelector('summary').focus();
      showMessage('A test was sent: see the last deliveries.', false);
      return;
    }
    throw new Error('The test is not sent yet. See the last deliveries later.');
  },
  async pause(webhook) {
    await change('pause', webhook);
    await refreshWebhooks();
    focusAction(webhook, 'resume');
  },
  async resume(webhook) {
    await change('resume', webhook);
    await refreshWebhooks();
    focusAction(webhook, 'pause');
  },
  async rotate(webhook) {
    const { secret } = await change('rotate', webhook);
    await refreshWebhooks();
    showSecret(secret);
    showMessage('For one day, deliveries are signed with both secrets.', false);
  },
  async remove(webhook) {
    if (!confirm(`Remove the webhook to ${webhook.url}? It delivers nothing any more.`)) return;
    await change('remove', webhook);
    await refreshWebhooks();
    showMessage('Webhook removed.', false);
  },
};

async function replay(webhook, form) {
  const { chainId, block } = Object.fromEntries(new FormData(form));
  if (block === '' && !confirm('Deliver all history again, of every chain of this webhook?')) return;
  await change('replay', webhook, block === '' ? { block: 'start' } : { chainId, block });
  await refreshWebhooks();
  showMessage('The replay has started.', false);
}

/** Returns the cards of a page, and shows the button for the next page if there is one. */
async function readWebhooks(path) {
  const { webhooks, next } = await ask(path);
  byId('more-webhooks').dataset.next = next ?? '';
  show('more-webhooks', next !== null);
  return webhooks.map(webhookCard);
}

/** Keeps the lists of deliveries open. */
async function refreshWebhooks() {
  const open = [...document.querySelectorAll('[data-part="attempts"][open]')].map(
    (details) => details.closest('.card').dataset.webhook,
  );
  const cards = await readWebhooks('/developers/webhooks');
  for (const card of cards)
    if (open.includes(card.dataset.webhook)) card.querySelector('[data-part="attempts"]').open = true;
  byId('webhooks').replaceChildren(...cards);
  show('no-webhooks', cards.length === 0);
}

document.addEventListener('signed-in', () => refreshWebhooks().catch((error) => showMessage(error.message)));
document.addEventListener('signed-out', hideSecret);
byId('create-webhook').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  attempt(form.querySelector('button'), async () => {
    const given = [...new FormData(form)].map(([name, value]) => [name, value.trim()]);
    const fields = Object.fromEntries(given.filter(([, value]) => value !== ''));
    const { secret } = await ask('/developers/webhooks', 'POST', fields);
    form.reset();
    await refreshWebhooks();
    showSecret(secret);
  });
});
byId('more-webhooks').addEventListener('click', ({ currentTarget }) =>
  attempt(currentTarget, async () => {
    byId('webhooks').append(...(await readWebhooks(`/developers/webhooks?after=${currentTarget.dataset.next}`)));
  }),
);
byId('copy-secret').addEventListener('click', ({ currentTarget }) =>
  attempt(currentTarget, async () => {
    await navigator.clipboard.writeText(byId('new-secret-text').textContent);
    showMessage('Copied.', false);
  }),
);
byId('hide-secret').addEventListener('click', hideSecret);
