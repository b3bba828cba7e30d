// Finds the wallets of this browser: those that announce themselves (EIP-6963) and, if there is none, a plain window.ethereum.

/** Calls `found(name, provider, id)` for every wallet, also for those that arrive late. */
// biome-ignore lint/correctness/noUnusedVariables: the scripts of the pages use it
function findWallets(found) {
  const announced = new Map();
  window.addEventListener('eip6963:announceProvider', ({ detail }) => {
    const { info, provider } = detail;
    if (announced.has(info.uuid)) return;
    announced.set(info.uuid, provider);
    found(info.name, provider, info.uuid);
  });
  const plain = () => {
    if (announced.size > 0 || window.ethereum === undefined) return;
    announced.set('plain', window.ethereum);
    found('your browser wallet', window.ethereum, 'plain');
  };
  window.addEventListener('ethereum#initialized', plain, { once: true });
  // Wallets that are already there announce themselves at once.
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  plain();
}
