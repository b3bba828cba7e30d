// Signs in with a wallet of this browser (EIP-6963, EIP-4361) and looks after its keys.

const byId = (id) => document.getElementById(id);
const show = (id, isShown) => {
  byId(id).hidden = !isShown;
};

function tell(text, isTrouble = true) {
  const message = byId('message');
  message.textContent = text;
  message.className = isTrouble ? 'notice trouble' : 'notice yes';
  message.hidden = text === '';
}

async function ask(path, method = 'GET', body = undefined) {
  const init = { method, headers: { 'content-type': 'application/json' }, credentials: 'same-origin' };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetch(path, init);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.detail ?? `The service answered ${response.status}.`);
  return answer;
}

/** Does something, and tells what went wrong. */
async function attempt(button, work) {
  tell('');
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    tell(error.code === 4001 ? 'You declined in your wallet.' : error.message || 'That did not work.');
  } finally {
    button.disabled = false;
  }
}

const hexOf = (text) =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

async function signIn(provider) {
  const [address] = await provider.request({ method: 'eth_requestAccounts' });
  if (!address) throw new Error('The wallet gave no account.');
  const chainId = Number(await provider.request({ method: 'eth_chainId' }));
  // Messages carry addresses with their checksum: the service makes it.
  const { nonce, wallet } = await ask('/developers/nonce', 'POST', { wallet: address });
  const now = new Date();
  const message = [
    `${location.host} wants you to sign in with your Ethereum account:`,
    wallet,
    '',
    'Sign in to look after your API keys.',
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
  return Number.isFinite(end) ? `good until ${dayText(end)}` : 'good';
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

/** Not only out of sight. */
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
        if (action === 'revoke' && !confirm(`Revoke “${record.label}”? It stops working at once.`)) return;
        const { key } = await ask(`/developers/keys/${action}`, 'POST', { id: record.id });
        await refresh();
        if (key) showNewKey(key);
        else tell(`“${record.label}” is revoked.`, false);
      }),
    );
  }
  return card;
}

async function refresh() {
  const { wallet } = await ask('/developers/session');
  show('signed-out', wallet === null);
  show('signed-in', wallet !== null);
  if (wallet === null) {
    hideKey();
    window.dispatchEvent(new Event('eip6963:requestProvider'));
    setTimeout(() => show('no-wallet', byId('wallets').childElementCount === 0), 500);
    return;
  }
  byId('wallet').textContent = wallet;
  const { keys, uses, sinceDay } = await ask('/developers/keys');
  byId('keys').replaceChildren(...keys.map((record) => cardOf(record, uses, sinceDay)));
  show('no-keys', keys.length === 0);
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
byId('copy').addEventListener('click', ({ currentTarget }) =>
  attempt(currentTarget, async () => {
    await navigator.clipboard.writeText(byId('new-key-text').textContent);
    tell('Copied.', false);
  }),
);
byId('hide').addEventListener('click', hideKey);
refresh().catch((error) => tell(error.message));
