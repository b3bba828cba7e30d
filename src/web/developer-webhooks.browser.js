// Manages the webhooks of the wallet that is signed in.

(() => {
  const { byId, show, setField, setCopy } = globalThis.dom;
  const { say, ask, attempt, onSubmit, onClick } = globalThis.requests;
  const { draw, drawAttempts, cardOf, outcomeText } = globalThis.webhookCards;
  const { open } = globalThis.dialogs;
  const REFRESH_MS = 4000;
  const TEST_TRIES = 30;
  const TEST_PAUSE_MS = 1000;

  let webhooks = [];

  function showSecret(secret, { id, url }) {
    byId('new-secret').dataset.webhook = id;
    setField(byId('new-secret'), 'url', url);
    byId('new-secret-text').textContent = secret;
    setCopy('copy-secret', secret);
    show('new-secret', true);
    byId('copy-secret').focus();
  }

  /** Removes the secret from the page, not only from view. */
  function hideSecret() {
    byId('new-secret-text').textContent = '';
    setCopy('copy-secret', null);
    delete byId('new-secret').dataset.webhook;
    show('new-secret', false);
  }

  function takePage(page, isFirst) {
    const oldest = page.webhooks.at(-1)?.id ?? 0;
    const kept = webhooks.filter(({ id }) => !isFirst || (page.next !== null && id < oldest));
    webhooks = isFirst ? [...page.webhooks, ...kept] : [...kept, ...page.webhooks];
    if (!isFirst || kept.length === 0) {
      byId('more-webhooks').dataset.next = page.next ?? '';
      show('more-webhooks', page.next !== null);
    }
    draw(webhooks, onAction, (id) => showAttempts(id).catch((error) => say(error.message, true)));
  }

  async function readAttempts(id) {
    const { attempts } = await ask(`/developers/webhooks/attempts?id=${id}`);
    return attempts;
  }

  async function showAttempts(id) {
    const attempts = await readAttempts(id);
    const card = cardOf(id);
    if (card !== null) drawAttempts(card, attempts);
  }

  /** One at a time, so that an earlier answer never replaces a later one. Open lists of deliveries are read again too. */
  let refreshing = Promise.resolve();
  function refresh() {
    refreshing = refreshing
      .catch(() => {})
      .then(async () => {
        takePage(await ask('/developers/webhooks'), true);
        const opened = webhooks.filter(({ id }) => cardOf(id).querySelector('details').open);
        await Promise.all(opened.map(({ id }) => showAttempts(id)));
      });
    return refreshing;
  }

  const change = (action, { id }, more = {}) => ask(`/developers/webhooks/${action}`, 'POST', { id, ...more });
  const confirm = (action, { url }) => open(`webhook-${action}-dialog`, (dialog) => setField(dialog, 'url', url));
  const buttonOf = ({ id }, action) => cardOf(id)?.querySelector(`[data-action="${action}"]`);

  /** Waits for the attempt that follows: the service sends within seconds, or fails after 15. */
  async function nextAttempt(id, before) {
    for (let left = TEST_TRIES; left > 0; left--) {
      await new Promise((resolve) => setTimeout(resolve, TEST_PAUSE_MS));
      const found = (await readAttempts(id)).find(({ type, deliveryId }) => type === 'test' && deliveryId !== before);
      if (found !== undefined) return found;
    }
    throw new Error('The test is not sent yet. See the last deliveries later.');
  }

  const ACTIONS = {
    async test(webhook) {
      const before = (await readAttempts(webhook.id)).find(({ type }) => type === 'test')?.deliveryId;
      await change('test', webhook);
      say('Sending a test…');
      const sent = await nextAttempt(webhook.id, before);
      cardOf(webhook.id).querySelector('details').open = true;
      await refresh();
      say(`Test: ${outcomeText(sent)}.`, sent.failure !== null);
    },
    async pause(webhook) {
      await change('pause', webhook);
      await refresh();
      buttonOf(webhook, 'resume')?.focus();
      say(`Paused: ${webhook.url}`);
    },
    async resume(webhook) {
      await change('resume', webhook);
      await refresh();
      buttonOf(webhook, 'pause')?.focus();
      say(`Resumed: ${webhook.url}`);
    },
    async rotate(webhook) {
      if ((await confirm('rotate', webhook)) === null) return;
      const { secret } = await change('rotate', webhook);
      await refresh();
      showSecret(secret, webhook);
    },
    async replay(webhook) {
      const given = await open('webhook-replay-dialog', (dialog, form) => {
        setField(dialog, 'url', webhook.url);
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
      await refresh();
      say(`The replay has started: ${webhook.url}`);
    },
    async remove(webhook) {
      if ((await confirm('remove', webhook)) === null) return;
      await change('remove', webhook);
      if (byId('new-secret').dataset.webhook === String(webhook.id)) hideSecret();
      await refresh();
      byId('webhooks-heading').focus();
      say(`Removed: ${webhook.url}`);
    },
  };

  function onAction(button, id) {
    const webhook = webhooks.find((one) => one.id === id);
    attempt(button, () => ACTIONS[button.dataset.action](webhook));
  }

  onSubmit('create-webhook', async (form, fields) => {
    const given = [...fields].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value !== '');
    const { secret, webhook } = await ask('/developers/webhooks', 'POST', Object.fromEntries(given));
    form.reset();
    await refresh();
    showSecret(secret, webhook);
  });
  onClick('more-webhooks', async ({ dataset }) => {
    takePage(await ask(`/developers/webhooks?after=${dataset.next}`), false);
  });
  onClick('hide-secret', () => {
    hideSecret();
    byId(byId('signed-in').hidden ? 'sign-in-heading' : 'webhooks-heading').focus();
  });
  document.addEventListener('signed-in', ({ detail: { isOther } }) => {
    if (isOther) {
      webhooks = [];
      hideSecret();
    }
    refresh().catch((error) => say(error.message, true));
  });
  document.addEventListener('signed-out', hideSecret);
  // Deliveries go on while the page is open. A failure is shown when the user does something.
  const refreshIfSeen = () => {
    if (!document.hidden && !byId('signed-in').hidden && webhooks.length > 0) refresh().catch(() => {});
  };
  setInterval(refreshIfSeen, REFRESH_MS);
  document.addEventListener('visibilitychange', refreshIfSeen);
})();
