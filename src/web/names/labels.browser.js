// What the reader calls wallets and contracts. It is kept in this browser, and sent nowhere.

import { byId, element } from './dom.js';

const MAX_LENGTH = 32;
const keyOf = (address) => `label ${address.toLowerCase()}`;

/** Storage can be turned off. */
function labelOf(address) {
  try {
    return localStorage.getItem(keyOf(address))?.slice(0, MAX_LENGTH) ?? '';
  } catch {
    return '';
  }
}

const addressOf = ({ wallet, token = '' }) => wallet ?? token.split(' ')[1];

/** Puts labels beside their addresses, unless they are there. */
function showLabels() {
  for (const place of document.querySelectorAll('.name, .claim')) {
    const label = labelOf(addressOf(place.dataset));
    const shown = place.querySelector('.own');
    if ((shown?.textContent ?? '') === label) continue;
    shown?.remove();
    if (label !== '') place.append(element('bdi', { className: 'own', title: 'your own label' }, label));
  }
}

function offerNaming() {
  const form = byId('naming');
  if (form === null) return;
  const { address } = form.dataset;
  const input = form.elements.namedItem('label');
  input.value = labelOf(address);
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const label = input.value.trim();
    let said = label === '' ? 'Label removed.' : 'Saved in this browser.';
    try {
      if (label === '') localStorage.removeItem(keyOf(address));
      else localStorage.setItem(keyOf(address), label);
    } catch {
      said = 'This browser does not keep it.';
    }
    showLabels();
    byId('naming-state').textContent = said;
  });
}

offerNaming();
showLabels();
// A refresh of the page removes what it does not know.
new MutationObserver(showLabels).observe(byId('content'), { childList: true, subtree: true });
addEventListener('storage', showLabels);
