// Signs in (EIP-4361) with a wallet of the browser, with a signature made elsewhere, or with the test wallet of a sandbox.
// Dispatches `signed-in` and `signed-out` on the document.

import { ask, attempt, onClick, onSubmit, say } from './developers.js';
import { byId, show } from './dom.js';
import { offerWallets } from './wallets.js';

const chains = byId('make-message').elements.chainId;

const chainOption = (chainId) => [...chains.options].find(({ value }) => value === String(chainId));

const hexOf = (text) =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

async function makeMessage(address, chainId) {
  // EIP-4361 requires a checksummed address: the service returns it.
  const { nonce, wallet, issuedAt, expiresAt } = await ask('/developers/nonce', 'POST', { wallet: address });
  return `${location.host} wants you to sign in with your Ethereum account:
${wallet}

Sign in to manage your API keys.

URI: ${location.origin}/developers
Version: 1
Chain ID: ${chainId}
Nonce: ${nonce}
Issued At: ${issuedAt}
Expiration Time: ${expiresAt}`;
}

async function openSession(message, signature) {
  enter(await ask('/developers/session', 'POST', { message, signature }));
  byId('paste').reset();
  show('paste', false);
  byId('elsewhere').open = false;
  byId('keys-heading').focus();
}

async function signIn(provider) {
  const [address] = await provider.request({ method: 'eth_requestAccounts' });
  if (!address) throw new Error('The wallet returned no account.');
  const chainId = Number(await provider.request({ method: 'eth_chainId' }));
  // The chain matters only for contract wallets, and only those of chains that the service follows can sign in.
  const message = await makeMessage(address, chainOption(chainId) === undefined ? 1 : chainId);
  const signature = await provider.request({ method: 'personal_sign', params: [hexOf(message), address] });
  await openSession(message, signature);
}

/** An EIP-1193 provider: the sandbox signs. */
const testProvider = (address) => ({
  async request({ method, params }) {
    if (method === 'eth_requestAccounts') return [address];
    if (method === 'eth_chainId') return '0x1';
    const { signature } = await ask('/developers/test-wallet', 'POST', { bytes: params[0] });
    return signature;
  },
});

function enter({ wallet, chainId }) {
  const isOther = byId('wallet').textContent !== (wallet ?? '');
  byId('wallet').textContent = wallet ?? '';
  byId('wallet-chain').textContent =
    chainId === null ? '' : `contract wallet on ${chainOption(chainId)?.text ?? chainId}`;
  show('signed-out', wallet === null);
  show('signed-in', wallet !== null);
  document.dispatchEvent(new CustomEvent(wallet === null ? 'signed-out' : 'signed-in', { detail: { isOther } }));
}

offerWallets('Sign in', (provider, button) => attempt(button, () => signIn(provider)));

onSubmit('make-message', async (_, fields) => {
  const message = await makeMessage(fields.get('wallet').trim(), fields.get('chainId'));
  byId('message-text').textContent = message;
  byId('copy-message').dataset.copy = message;
  // The message has no quotes in it.
  byId('copy-cast').dataset.copy = `cast wallet sign --interactive '${message}'`;
  byId('paste').reset();
  show('paste', true);
  byId('paste-intro').focus();
});
onSubmit('paste', (_, fields) => openSession(byId('message-text').textContent, fields.get('signature').trim()));
if (byId('test-wallet') !== null) onClick('test-wallet', ({ dataset }) => signIn(testProvider(dataset.address)));
onClick('sign-out', async () => {
  enter(await ask('/developers/session', 'DELETE', {}));
  byId('sign-in-heading').focus();
});
document.addEventListener('session-ended', () => {
  if (byId('signed-in').hidden) return;
  show('signed-out', true);
  show('signed-in', false);
  say('Your session has ended. Sign in again to go on: nothing that you typed is lost.', true);
  byId('sign-in-heading').focus();
});
// The other scripts must be ready.
document.addEventListener('DOMContentLoaded', () => {
  const { wallet, chain } = byId('signed-in').dataset;
  if (wallet !== '') enter({ wallet, chainId: chain === '' ? null : Number(chain) });
});
