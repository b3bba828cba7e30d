// Finds the wallets of this browser: those that announce themselves (EIP-6963), and a plain window.ethereum.

/** Calls `found(name, provider, id)` once for every wallet, also for those that arrive late. */
// biome-ignore lint/correctness/noUnusedVariables: the scripts of the pages use it
function findWallets(found) {
  /** A wallet can be window.ethereum and announce itself too, again and again. */
  const providers = new Set();
  const add = (name, provider, id) => {
    if (typeof provider?.request !== 'function' || providers.has(provider)) return;
    providers.add(provider);
    found(name, provider, id);
  };
  const plain = () => add('your browser wallet', window.ethereum, 'plain');
  window.addEventListener('eip6963:announceProvider', ({ detail }) => {
    if (detail?.info !== undefined) add(detail.info.name, detail.provider, detail.info.uuid);
  });
  window.addEventListener('ethereum#initialized', plain, { once: true });
  // Wallets that are already there announce themselves at once.
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  plain();
}
