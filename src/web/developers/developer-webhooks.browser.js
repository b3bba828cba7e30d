// Manages the webhooks of the wallet that is signed in.

(() => {
  const { byId, show, setField, setCopy } = globalThis.dom;
  const { say, ask, attempt, onSubmit, onClick } = globalThis.requests;
  const { draw, drawAttempts, cardOf, outcomeText } = globalThis.webhookCards;
  const { open } = globalThis.dialogs;
  const TEST_TRIES = 30;
  const TEST_PAUSE_MS = 1000;

  const list = globalThis.createList({
    path: '/developers/webhooks',
    items: 'webhooks',
    more: 'more-webhooks',
    async onRead(webhooks) {
      draw(webhooks, onAction, (id) => showAttempts(id).catch((error) => say(error.message, true)));
      const opened = webhooks.filter(({ id }) => cardOf(id).querySelector('details').open);
      await Promise.all(opened.map(({ id }) => showAttempts(id)));
    },
  });

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

  async function readAttempts(id) {
    const { attempts } = await ask(`/developers/webhooks/attempts?id=${id}`);
    return attempts;
  }

  async function showAttempts(id) {
    const attempts = await readAttempts(id);
    const card = cardOf(id);
    if (card !== null) drawAttempts(card, attempts);
  }

  const change = (action, { id }, more = {}) => ask(`/developers/webhooks/${action}`, 'POST', { id, ...more });
  const confirm = (action, { url }) => open(`webhook-${action}-dialog`, (dialog) => setField(dialog, 'url', url));
  const buttonOf = ({ id }, action) => cardOf(id)?.querySelector(`[data-action="${action}"]`);

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
    const what = sent.type === 'challenge' ? 'Challenge' : 'Test';
    say(
      sent.failure === null && sent.type === 'challenge'
        ? `Confirmed: ${webhook.url}`
        : `${what}: ${outcomeText(sent)}.`,
      sent.failure !== null,
    );
  }

  const ACTIONS = {
    test: (webhook) => sendTest('test', webhook),
    async pause(webhook) {
      await change('pause', webhook);
      await list.refresh();
      buttonOf(webhook, 'resume')?.focus();
      say(`Paused: ${webhook.url}`);
    },
    async resume(webhook) {
      if (needsConsent(webhook)) return sendTest('resume', webhook);
      await change('resume', webhook);
      await list.refresh();
      buttonOf(webhook, 'pause')?.focus();
      say(`Resumed: ${webhook.url}`);
    },
    async rotate(webhook) {
      if ((await confirm('rotate', webhook)) === null) return;
      const { secret } = await change('rotate', webhook);
      await list.refresh();
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
      await list.refresh();
      say(
        `The replay ${webhook.state === 'active' ? 'has started' : 'starts when the webhook is active'}: ${webhook.url}`,
      );
    },
    async remove(webhook) {
      if ((await confirm('remove', webhook)) === null) return;
      await change('remove', webhook);
      if (byId('new-secret').dataset.webhook === String(webhook.id)) hideSecret();
      await list.refresh();
      byId('webhooks-heading').focus();
      say(`Removed: ${webhook.url}`);
    },
  };

  function onAction(button, id) {
    const webhook = list.find(id);
    attempt(button, () => ACTIONS[button.dataset.action](webhook));
  }

  onSubmit('create-webhook', async (form, fields) => {
    const given = [...fields].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value !== '');
    const { secret, webhook } = await ask('/developers/webhooks', 'POST', Object.fromEntries(given));
    form.reset();
    await list.refresh();
    showSecret(secret, webhook);
  });
  onClick('hide-secret', () => {
    hideSecret();
    byId(byId('signed-in').hidden ? 'sign-in-heading' : 'webhooks-heading').focus();
  });
  document.addEventListener('signed-in', ({ detail: { isOther } }) => {
    if (isOther) {
      list.clear();
      hideSecret();
    }
    list.refresh().catch((error) => say(error.message, true));
  });
  document.addEventListener('keys-drawn', () => show('webhooks-section', true));
  document.addEventListener('signed-out', hideSecret);
})();
