// Finds the wallets of this browser: those that announce themselves (EIP-6963), and a plain window.ethereum.

import { byId, element, show } from './dom.js';

/** Calls `found(name, provider)` for every wallet, also for those that arrive late. */
export function findWallets(found) {
  /** A wallet can be window.ethereum and announce itself too, again and again. */
  const providers = new Set();
  const add = (name, provider) => {
    if (typeof provider?.request !== 'function' || providers.has(provider)) return;
    providers.add(provider);
    found(name, provider);
  };
  const plain = () => add('your browser wallet', window.ethereum);
  window.addEventListener('eip6963:announceProvider', ({ detail }) => {
    if (detail?.info !== undefined) add(detail.info.name, detail.provider);
  });
  window.addEventListener('ethereum#initialized', plain, { once: true });
  // Wallets that are already there announce themselves at once.
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  plain();
}

/** Makes a button for every wallet. It calls `use(provider, button)`. */
export function offerWallets(verb, use) {
  show('no-wallet', true);
  findWallets((name, provider) => {
    const onclick = ({ currentTarget }) => use(provider, currentTarget);
    byId('wallets').append(element('button', { type: 'button', onclick }, `${verb} with ${name}`));
    show('no-wallet', false);
  });
}
