// Draws the webhooks of the developer page and their last deliveries.

globalThis.webhookCards = (() => {
  const { byId, show, field, setField, fromTemplate, syncList } = globalThis.dom;
  const { exactText, nearText } = globalThis.times;

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
  const countOf = (count, what) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

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
    const waiting = `a delivery of ${countOf(pending.changes, 'change')}`;
    if (failures === 0) return waiting;
    // One that is due now is sent within a second.
    const nextAt = Math.max(Date.parse(nextAttemptAt ?? 0), Date.now() + 1);
    const next = nextAttemptAt === null ? '' : `, next attempt ${nearText(nextAt)}`;
    return `${waiting}, ${countOf(failures, 'failed attempt')}${state === 'active' ? next : ''}`;
  }

  const isUnconfirmed = ({ reason }) => reason === 'unconfirmed';

  function stateOf({ state, reason, failures }) {
    if (state !== 'active') return [isUnconfirmed({ reason }) ? 'not confirmed' : 'paused', 'badge bad'];
    return failures > 0 ? ['retrying', 'badge bad'] : ['active', 'badge good'];
  }

  const outcomeText = ({ failure, status }) =>
    [failure === null ? 'delivered' : (FAILURES[failure] ?? failure), status === null ? '' : `HTTP ${status}`]
      .filter((part) => part !== '')
      .join(', ');

  function fillCard(card, webhook) {
    const isActive = webhook.state === 'active';
    const [state, classes] = stateOf(webhook);
    setField(card, 'url', webhook.url);
    setField(card, 'state', state);
    card.querySelector('.badge').className = classes;
    setField(card, 'reason', REASONS[webhook.reason] ?? '');
    field(card, 'reason').hidden = isActive;
    setField(card, 'delivers', deliversText(webhook));
    setField(card, 'pending', pendingText(webhook));
    setField(card, 'created', exactText(Date.parse(webhook.createdAt)));
    const oldSecretUntil = Date.parse(webhook.previousSecretUntil ?? 0);
    for (const name of ['secret-title', 'secret']) field(card, name).hidden = !(oldSecretUntil > Date.now());
    setField(card, 'secret', `signs too until ${exactText(oldSecretUntil)}`);
    card.querySelector('[data-action="test"]').textContent = isUnconfirmed(webhook) ? 'Confirm' : 'Send a test';
    for (const button of card.querySelectorAll('[data-action]'))
      button.setAttribute('aria-label', `${button.textContent}: ${webhook.url}`);
    card.querySelector('[data-action="pause"]').hidden = !isActive;
    card.querySelector('[data-action="resume"]').hidden = isActive || isUnconfirmed(webhook);
    card.querySelector('.scroll').setAttribute('aria-label', `Last deliveries: ${webhook.url}`);
  }

  function fillAttempt(row, attempt) {
    setField(row, 'at', exactText(Date.parse(attempt.at)));
    setField(row, 'outcome', outcomeText(attempt));
    setField(row, 'sent', attempt.type === 'changes' ? countOf(attempt.changes, 'change') : `a ${attempt.type}`);
    setField(row, 'took', attempt.ms === null ? '' : `${attempt.ms} ms`);
    setField(row, 'delivery', attempt.deliveryId);
  }

  function drawAttempts(card, attempts) {
    const items = attempts.map((attempt) => ({ ...attempt, id: `${attempt.at} ${attempt.deliveryId}` }));
    syncList(card.querySelector('tbody'), items, () => fromTemplate('attempt-row'), fillAttempt);
    card.querySelector('.scroll').hidden = items.length === 0;
    field(card, 'no-attempts').hidden = items.length > 0;
  }

  const cardOf = (id) => byId('webhooks').querySelector(`[data-id="${id}"]`);

  /** `onAction(button, id)` is called for the buttons of a webhook, `onOpen(id)` when its deliveries are opened. */
  function draw(webhooks, onAction, onOpen) {
    const create = ({ id }) => {
      const card = fromTemplate('webhook-card');
      for (const button of card.querySelectorAll('[data-action]'))
        button.addEventListener('click', () => onAction(button, id));
      const details = card.querySelector('details');
      details.addEventListener('toggle', () => {
        if (details.open) onOpen(id);
      });
      return card;
    };
    syncList(byId('webhooks'), webhooks, create, fillCard);
    show('no-webhooks', webhooks.length === 0);
  }

  return { draw, drawAttempts, cardOf, outcomeText };
})();
