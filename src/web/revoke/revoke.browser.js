// Hands the prepared transactions to the owner's wallet, one after the other, and follows the index until the grants are gone.

import { byId, show } from './dom.js';
import { offerWallets } from './wallets.js';

/** Empty on a page without transactions. */
const REVOCATION = byId('revocation')?.dataset ?? {};
const { owner: OWNER, network: NETWORK } = REVOCATION;
const CHAIN_ID = Number(REVOCATION.chain);
const EVERY_MS = 1000;
const sleep = () => new Promise((resolve) => setTimeout(resolve, EVERY_MS));

/** What stopped it, in words for the owner. */
class Stopped extends Error {}

/** The amounts of the grants in a part of a page, by id. */
const grantsIn = (element) =>
  new Map([...element.querySelectorAll('[data-grant]')].map(({ dataset }) => [dataset.grant, dataset.amount]));

/** The newest block of the index. Caches may keep the answer until the next block is due. */
async function readHead() {
  const response = await fetch(REVOCATION.head, { cache: 'no-store' });
  const body = await response.json();
  if (!response.ok) throw new Stopped(`This service cannot answer for ${NETWORK} now: ${body.detail}`);
  return body.chains[0].block;
}

/** Which grants of this page are active now, who can go on without them, and the block; null if the service cannot say. */
async function readActive() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => null);
  if (!response?.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const block = page.getElementById('revocation')?.dataset.block;
  return block === undefined
    ? null
    : { block: Number(block), grants: grantsIn(page), still: page.getElementById('still') };
}

/** Calls `show` with what is active after every change of the owner's grants. */
function watchGrants(show) {
  let [isLooking, isChanged] = [false, false];
  new EventSource(REVOCATION.changes).addEventListener('message', async () => {
    isChanged = true;
    if (isLooking) return;
    isLooking = true;
    while (isChanged) {
      // One transaction can make many changes: one look is enough for all.
      await sleep();
      isChanged = false;
      const active = await readActive();
      if (active !== null) show(active);
    }
    isLooking = false;
  });
}

/** The wallet's node can be a few blocks behind ours. */
const BLOCK_TRIES = 4;
/** How many turns of waiting for a receipt pass between two looks at the index: a wallet can replace a transaction. */
const TURNS_PER_LOOK = 5;

const hexOf = (number) => `0x${number.toString(16)}`;
const same = (one, other) => String(one).toLowerCase() === String(other).toLowerCase();

/** Null in `hash` until it is sent, and in `block` until it is mined. */
const transactions = [...document.querySelectorAll('[data-transaction]')].map((card) => ({
  card,
  to: card.dataset.target,
  data: card.dataset.calldata,
  grants: grantsIn(card),
  hash: null,
  block: null,
}));

function say(text, kind = '') {
  const line = byId('progress');
  line.className = `notice ${kind}`;
  line.textContent = text;
}

function setState({ card }, text, kind = '') {
  const badge = card.querySelector('[data-state]');
  badge.className = `badge ${kind}`;
  badge.textContent = text;
}

function showHash({ card, hash }) {
  const line = byId('sent-line').content.cloneNode(true);
  line.querySelector('code').textContent = hash;
  line.querySelector('[data-copy]').dataset.copy = hash;
  card.querySelector('details:last-of-type').before(line);
}

/** The account of the owner in the wallet. */
async function requireOwner(provider) {
  const accounts = await provider.request({ method: 'eth_requestAccounts' });
  const account = accounts.find((one) => same(one, OWNER));
  if (account !== undefined) return account;
  throw new Stopped(
    `Your wallet has selected ${accounts[0] ?? 'no account'}. Only ${OWNER} can end these grants: select that account in your wallet, then try again.`,
  );
}

const chainOf = async (provider) => Number(await provider.request({ method: 'eth_chainId' }));

async function requireChain(provider) {
  if ((await chainOf(provider)) === CHAIN_ID) return;
  say(`Your wallet is on another network. Allow it to switch to ${NETWORK}.`);
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: hexOf(CHAIN_ID) }] });
  } catch (error) {
    const code = error.data?.originalError?.code ?? error.code;
    if (code === 4902)
      throw new Stopped(
        `Your wallet does not know ${NETWORK} (chain id ${CHAIN_ID}). Add this network in your wallet, then try again.`,
      );
    if (code === 4001)
      throw new Stopped(`You did not switch to ${NETWORK}. Nothing was sent. Switch to it, then try again.`);
    throw new Stopped(`Your wallet could not switch to ${NETWORK}: ${error.message}. Switch there, then try again.`);
  }
  if ((await chainOf(provider)) !== CHAIN_ID)
    throw new Stopped(
      `Your wallet is still on another network. Select ${NETWORK} (chain id ${CHAIN_ID}) in your wallet, then try again.`,
    );
}

/** Test networks can have the id of a real one: the wallet must have the same blocks as the index. */
async function requireSameBlocks(provider) {
  for (let turn = 1; ; turn++) {
    const { number, hash } = await readHead();
    const theirs = await provider.request({ method: 'eth_getBlockByNumber', params: [hexOf(number), false] });
    if (theirs !== null && same(theirs.hash, hash)) return;
    if (turn === BLOCK_TRIES)
      throw new Stopped(
        theirs === null
          ? `Nothing was sent: your wallet does not have block ${number} of ${NETWORK} yet. It is behind, or on a test network with the same id. Check the network's RPC URL in your wallet.`
          : `Nothing was sent: block ${number} of your wallet is not that of ${NETWORK}. Your wallet is on a test network with the same id. Check the network's RPC URL in your wallet.`,
      );
    await sleep();
  }
}

async function send(provider, transaction, name) {
  say('Connecting to your wallet…');
  const from = await requireOwner(provider);
  await requireChain(provider);
  await requireSameBlocks(provider);
  say(`Confirm ${name} in your wallet.`);
  setState(transaction, 'in your wallet');
  const { to, data } = transaction;
  const params = [{ from, to, data, value: '0x0', chainId: hexOf(CHAIN_ID) }];
  transaction.hash = await provider.request({ method: 'eth_sendTransaction', params });
  showHash(transaction);
}

const isEnded = (transaction, { grants }) => [...transaction.grants.keys()].every((id) => !grants.has(id));
const showEnded = (transaction, block) => setState(transaction, `ended, as of block ${block}`, 'good');

/** Resolves when the transaction is mined, or when the index shows that a replacement did the same. */
async function waitUntilMined(provider, transaction, name) {
  const { hash } = transaction;
  setState(transaction, 'sent');
  say(`Sent ${name}. Waiting until it is mined. If you replace or cancel it in your wallet, reload this page.`);
  for (let turn = 1; ; turn++) {
    // A node that does not answer is asked again.
    const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] }).catch(() => null);
    if (receipt !== null) {
      if (Number(receipt.status) === 1) transaction.block = Number(receipt.blockNumber);
      else transaction.hash = null;
      break;
    }
    const active = turn % TURNS_PER_LOOK === 0 ? await readActive() : null;
    if (active !== null && isEnded(transaction, active)) transaction.block = active.block;
    if (transaction.block !== null) break;
    await sleep();
  }
  if (transaction.block === null) {
    setState(transaction, 'failed', 'bad');
    throw new Stopped(`${capital(name)} failed on the chain. It ended nothing. You can try again.`);
  }
  setState(transaction, `mined in block ${transaction.block}`);
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** Resolves when the index shows that none of the grants is active. */
async function follow() {
  const mined = Math.max(...transactions.map(({ block }) => block));
  const ids = transactions.flatMap(({ grants }) => [...grants.keys()]);
  say(`Mined. Waiting until this service has read block ${mined}…`);
  for (let seen = mined - 1; ; await sleep()) {
    const head = await readHead().catch(() => null);
    if (head === null || head.number <= seen) continue;
    const active = await readActive();
    if (active === null || active.block <= seen) continue;
    seen = active.block;
    const left = ids.filter((id) => active.grants.has(id));
    for (const transaction of transactions) if (isEnded(transaction, active)) showEnded(transaction, seen);
    if (left.length === 0) return active;
    say(stillText(left, active), 'trouble');
  }
}

function stillText(left, { grants, block }) {
  const before = new Map(transactions.flatMap((one) => [...one.grants]));
  const changed = left.filter((id) => grants.get(id) !== before.get(id));
  const amounts = changed.map((id) => `${grants.get(id)} instead of ${before.get(id)}`).join(', ');
  const news = changed.length === 0 ? '' : ` The amount is now ${amounts}.`;
  const which = left.length === 1 ? '1 of these grants is' : `${left.length} of these grants are`;
  return `As of block ${block}, ${which} still active: granted again in the meantime, or the chain dropped the transaction.${news} This page keeps looking. To send it again, reload the page.`;
}

/** While a wallet is asked or followed, and when all is done. */
let isBusy = false;

/** The wallet is a part of a grant's id. */
const walletsOf = (ids) => new Set([...ids].map((id) => id.split('.')[2]));

function finish({ block, still }) {
  isBusy = true;
  for (const id of ['wallets', 'no-wallet']) show(id, false);
  const ended = transactions.flatMap(({ grants }) => [...grants.keys()]);
  const losing = walletsOf(ended);
  const going = [...(still?.querySelectorAll('[data-to]') ?? [])].filter(({ dataset }) => losing.has(dataset.to));
  if (going.length === 0) {
    say(`Done. Ended, as of block ${block}: the index shows that none of these grants is active.`, 'yes');
    return;
  }
  const who = going.map(({ textContent }) => textContent).join(', and ');
  say(`${ended.length === 1 ? 'This grant' : 'These grants'} ended, but ${who}. `, 'trouble');
  byId('progress').append(...going.map((one) => one.parentElement.querySelector('a')));
}

/** Shows what happened without this page: the owner sent it from another wallet, or before a reload. */
function showChange(active) {
  if (isBusy) return;
  for (const transaction of transactions) {
    const { block } = transaction;
    if (isEnded(transaction, active)) {
      Object.assign(transaction, { hash: transaction.hash ?? '', block: active.block });
      showEnded(transaction, active.block);
    } else if (block !== null && active.block >= block) {
      // Granted again since: it can be sent again.
      Object.assign(transaction, { hash: null, block: null });
      setState(transaction, 'not sent');
    }
  }
  if (transactions.every((one) => isEnded(one, active))) finish(active);
}

async function revoke(provider, button) {
  if (isBusy) return;
  isBusy = true;
  const buttons = [...byId('wallets').children];
  for (const one of buttons) one.disabled = true;
  byId('progress').focus();
  try {
    for (const [position, transaction] of transactions.entries()) {
      const name =
        transactions.length === 1 ? 'the transaction' : `transaction ${position + 1} of ${transactions.length}`;
      if (transaction.hash === null) await send(provider, transaction, name);
      if (transaction.block === null) await waitUntilMined(provider, transaction, name);
    }
    finish(await follow());
    byId('progress').focus();
  } catch (error) {
    const open = transactions.find(({ hash }) => hash === null);
    if (open !== undefined && !(error instanceof Stopped)) setState(open, 'not sent');
    say(failureText(error), 'trouble');
    isBusy = false;
    for (const one of buttons) one.disabled = false;
    button.focus();
  }
}

function failureText(error) {
  if (error instanceof Stopped) return error.message;
  if (error.code === 4001) return 'You declined in your wallet. Nothing was sent. You can try again.';
  if (error.code === -32002) return 'Your wallet already has an open request. Answer it in the wallet, then try again.';
  return `Your wallet could not do it: ${error.message || 'no reason given'}. Look into its activity before you try again.`;
}

if (transactions.length > 0) {
  show('send', true);
  offerWallets('Revoke', revoke);
  if (REVOCATION.changes !== '') watchGrants(showChange);
}

const boxes = [...document.querySelectorAll('.choose [type="checkbox"]')];
function requireChoice() {
  boxes[0]?.setCustomValidity(boxes.some(({ checked }) => checked) ? '' : 'Tick at least one grant.');
}
for (const box of boxes) box.addEventListener('change', requireChoice);
requireChoice();
