// Signs in with a browser wallet (EIP-6963, EIP-4361) and manages its API keys.

const byId = (id) => document.getElementById(id);
const show = (id, isShown) => {
  byId(id).hidden = !isShown;
};

function showMessage(text, isError = true) {
  const message = byId('message');
  message.textContent = text;
  message.className = isError ? 'notice trouble' : 'notice yes';
  message.hidden = text === '';
}

async function ask(path, method = 'GET', body = undefined) {
  const init = { method, headers: { 'content-type': 'application/json' }, credentials: 'same-origin' };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetch(path, init);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    const error = new Error(answer.detail ?? `The service responded with status ${response.status}.`);
    throw Object.assign(error, { type: answer.type });
  }
  return answer;
}

/** Runs an action and shows its error. */
async function attempt(button, work) {
  showMessage('');
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    showMessage(
      error.code === 4001
        ? 'The request was rejected in your wallet.'
        : error.message || 'Something went wrong. Try again.',
    );
  } finally {
    button.disabled = false;
  }
}

const hexOf = (text) =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

async function signIn(provider) {
  const [address] = await provider.request({ method: 'eth_requestAccounts' });
  if (!address) throw new Error('The wallet returned no account.');
  const chainId = Number(await provider.request({ method: 'eth_chainId' }));
  // EIP-4361 requires a checksummed address: the service returns it.
  const { nonce, wallet } = await ask('/developers/nonce', 'POST', { wallet: address });
  const now = new Date();
  const message = [
    `${location.host} wants you to sign in with your Ethereum account:`,
    wallet,
    '',
    'Sign in to manage your API keys.',
    '',
    `URI: ${location.origin}/developers`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${now.toISOString()}`,
    `Expiration Time: ${new Date(now.getTime() + 300_000).toISOString()}`,
  ].join('\n');
  const signature = await provider.request({ method: 'personal_sign', params: [hexOf(message), address] });
  await ask('/developers/session', 'POST', { message, signature });
  await refresh();
}

function addWallet({ info, provider }) {
  if (document.querySelector(`[data-wallet="${CSS.escape(info.uuid)}"]`)) return;
  show('no-wallet', false);
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset.wallet = info.uuid;
  button.textContent = `Sign in with ${info.name}`;
  button.addEventListener('click', () => attempt(button, () => signIn(provider)));
  byId('wallets').append(button);
}

const dayText = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

function stateOf({ good, expiresAt, revokedAt }) {
  if (!good) return revokedAt !== null && revokedAt <= Date.now() / 1000 ? 'revoked' : 'expired';
  const end = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, revokedAt ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(end) ? `active until ${dayText(end)}` : 'active';
}

const SVG = 'http://www.w3.org/2000/svg';

function drawUses(svg, uses, sinceDay) {
  const days = Array.from({ length: 30 }, (_, turn) => uses.find(({ day }) => day === sinceDay + turn)?.uses ?? 0);
  const most = Math.max(1, ...days);
  const total = days.reduce((sum, one) => sum + one, 0);
  svg.setAttribute('aria-label', `${total} requests in 30 days`);
  for (const [turn, count] of days.entries()) {
    const bar = document.createElementNS(SVG, 'rect');
    const height = count === 0 ? 1 : Math.max(2, (46 * count) / most);
    for (const [name, value] of Object.entries({ x: turn * 10 + 1, y: 48 - height, width: 8, height }))
      bar.setAttribute(name, value);
    svg.append(bar);
  }
  return total;
}

function showNewKey(key) {
  byId('new-key-text').textContent = key;
  show('new-key', true);
  byId('copy').focus();
}

/** Removes the key from the page, not only from view. */
function hideKey() {
  byId('new-key-text').textContent = '';
  show('new-key', false);
}

function cardOf(record, uses, sinceDay) {
  const card = byId('key-card').content.cloneNode(true);
  const field = (name, text) => {
    card.querySelector(`[data-field="${name}"]`).textContent = text;
  };
  field('label', record.label);
  field('state', stateOf(record));
  card.querySelector('.badge').classList.add(record.good ? 'good' : 'bad');
  field('shown', `${record.shown}…`);
  field('created', dayText(record.createdAt));
  field('limit', { off: 'none' }[record.rateLimit] ?? record.rateLimit ?? 'default');
  field('used', record.lastUsedAt === null ? 'never' : dayText(record.lastUsedAt));
  const total = drawUses(
    card.querySelector('svg'),
    uses.filter(({ id }) => id === record.id),
    sinceDay,
  );
  field('total', `${total} requests in the last 30 days`);
  for (const button of card.querySelectorAll('[data-action]')) {
    if (!record.good) {
      button.remove();
      continue;
    }
    button.setAttribute('aria-label', `${button.textContent} ${record.label}`);
    button.addEventListener('click', () =>
      attempt(button, async () => {
        const { action } = button.dataset;
        if (action === 'revoke' && !confirm(`Revoke “${record.label}”? It stops working within two seconds.`)) return;
        const { key } = await (action === 'rotate'
          ? rotate(record)
          : ask('/developers/keys/revoke', 'POST', { id: record.id }));
        await refresh();
        if (key) showNewKey(key);
        else showMessage(`“${record.label}” revoked.`, false);
      }),
    );
  }
  return card;
}

/** Offers to end the old key at once if the quota has no room for both. */
async function rotate({ id, label }) {
  try {
    return await ask('/developers/keys/rotate', 'POST', { id });
  } catch (error) {
    if (!error.type?.endsWith('too-many-keys')) throw error;
    const question = `You have no room for a second active key. Replace “${label}” now? The old key stops working within two seconds.`;
    if (!confirm(question)) throw error;
    return ask('/developers/keys/rotate', 'POST', { id, overlap: false });
  }
}

async function refresh() {
  const { wallet } = await ask('/developers/session');
  show('signed-out', wallet === null);
  show('signed-in', wallet !== null);
  document.dispatchEvent(new Event(wallet === null ? 'signed-out' : 'signed-in'));
  if (wallet === null) {
    hideKey();
    window.dispatchEvent(new Event('eip6963:requestProvider'));
    setTimeout(() => show('no-wallet', byId('wallets').childElementCount === 0), 500);
    return;
  }
  byId('wallet').textContent = wallet;
  byId('keys').replaceChildren(...(await readPage('/developers/keys')));
  show('no-keys', byId('keys').childElementCount === 0);
}

/** Returns the cards of a page of keys, and shows the button for the next page if there is one. */
async function readPage(path) {
  const { keys, uses, sinceDay, next } = await ask(path);
  byId('more').dataset.next = next ?? '';
  show('more', next !== null);
  return keys.map((record) => cardOf(record, uses, sinceDay));
}

window.addEventListener('eip6963:announceProvider', ({ detail }) => addWallet(detail));
byId('sign-out').addEventListener('click', ({ currentTarget }) =>
  attempt(currentTarget, async () => {
    await ask('/developers/session', 'DELETE', {});
    await refresh();
  }),
);
byId('create').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  attempt(form.querySelector('button'), async () => {
    const { label, days } = Object.fromEntries(new FormData(form));
    const { key } = await ask('/developers/keys', 'POST', { label, ...(days === '' ? {} : { days: Number(days) }) });
    form.reset();
    await refresh();
    showNewKey(key);
  });
});
byId('more').addEventListener('click', ({ currentTarget }) =>
  attempt(currentTarget, async () => {
    byId('keys').append(...(await readPage(`/developers/keys?after=${currentTarget.dataset.next}`)));
  }),
);
byId('copy').addEventListener('click', ({ currentTarget }) =>
  attempt(currentTarget, async () => {
    await navigator.clipboard.writeText(byId('new-key-text').textContent);
    showMessage('Copied.', false);
  }),
);
byId('hide').addEventListener('click', hideKey);
refresh().catch((error) => showMessage(error.message));
