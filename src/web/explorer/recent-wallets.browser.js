// Keeps the wallets that were looked up last in this browser, and nowhere else: the page of a wallet adds its own, the home page
// lists them. On the home page it runs while the page is read, before anything is shown.

{
  const NAME = 'recent-wallets';
  const MOST = 5;
  const read = () => (localStorage.getItem(NAME) ?? '').split(' ').filter((one) => /^0x[0-9a-f]{40}$/i.test(one));

  const linkTo = (wallet) => {
    const link = document.createElement('a');
    Object.assign(link, { className: 'button plain small address', href: `/?wallet=${wallet}`, title: wallet });
    link.textContent = `${wallet.slice(0, 6)}…${wallet.slice(-4)}`;
    return link;
  };

  const fill = (list, wallets) => {
    const clear = document.createElement('button');
    Object.assign(clear, { type: 'button', className: 'plain small', textContent: 'Clear' });
    clear.addEventListener('click', () => {
      localStorage.removeItem(NAME);
      list.hidden = true;
      document.querySelector('input[name=wallet]').focus();
    });
    list.append('Looked up last, kept in this browser only:', ...wallets.map(linkTo), clear);
    list.hidden = false;
  };

  const list = document.getElementById('recent');
  const shown = document.querySelector('.wallet-head h1')?.textContent;
  try {
    const wallets = read();
    if (shown !== undefined)
      localStorage.setItem(NAME, [shown, ...wallets.filter((one) => one !== shown)].slice(0, MOST).join(' '));
    if (list !== null && wallets.length > 0) fill(list, wallets);
  } catch {
    // The browser lets nobody store anything.
  }
}
