// Looks up the address of a wallet of this browser, which is asked for nothing else.

import { byId, element, show } from './dom.js';
import { findWallets } from './wallets.js';

const button = byId('own-address');
const { form } = button;
const wallets = [];
findWallets((name, provider) => wallets.push({ name, provider }));

/** Below the field: buttons, or a message, which is announced. */
function offer(...parts) {
  byId('own-wallets').replaceChildren(...parts);
  show('own-wallets', parts.length > 0);
}

function say(text) {
  offer(element('p', { className: 'notice trouble' }, text));
  byId('announcements').textContent = text;
}

async function lookUp({ provider }) {
  offer();
  try {
    const [address] = await provider.request({ method: 'eth_requestAccounts' });
    if (!address) throw new Error('The wallet returned no account.');
    form.elements.wallet.value = address;
    form.requestSubmit();
  } catch (error) {
    // Errors of a wallet do not always have a message.
    say(error.message || 'The wallet did not answer. Try again.');
  }
}

button.addEventListener('click', () => {
  const [first, second] = wallets;
  if (first === undefined) return say('No wallet was found in this browser. Paste the address instead.');
  if (second === undefined) return lookUp(first);
  const choices = wallets.map((wallet) =>
    element('button', { type: 'button', className: 'plain', onclick: () => lookUp(wallet) }, wallet.name),
  );
  offer('Which wallet?', ...choices);
  choices[0].focus();
});
