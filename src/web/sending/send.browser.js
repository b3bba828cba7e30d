// Hands the prepared transactions of a page to the owner's wallet, one after the other, and follows the index until nothing is left to do:
// a page that is read again lists a grant only as long as it is still to be ended, or still to be made.

import { byId, show } from './dom.js';
import { offerWallets } from './wallets.js';

/** One for each chain; none on a page without transactions. */
const PLANS = new Map(
  [...document.querySelectorAll('[data-plan]')].map(({ dataset }) => {
    const { chain, network, head, changes } = dataset;
    return [chain, { chain, chainId: Number(chain), network, head, changes }];
  }),
);
const { action, owner: OWNER } = document.querySelector('[data-plan]')?.dataset ?? {};

const WORDS = {
  revoke: {
    verb: 'Revoke',
    can: 'end these grants',
    done: 'ended',
    doneText: 'none of these grants is active',
    failed: 'It ended nothing.',
    open: ['is still active', 'are still active', 'granted again'],
  },
  grant: {
    verb: 'Grant',
    can: 'make these grants',
    done: 'granted',
    doneText: 'all of this is active',
    failed: 'It granted nothing.',
    open: ['is not active', 'are not active', 'revoked'],
  },
}[action];
const EVERY_MS = 1000;
const sleep = () => new Promise((resolve) => setTimeout(resolve, EVERY_MS));

/** What stopped it, in words for the owner. */
class Stopped extends Error {}

/** The amounts of the grants of transactions, by chain and id. */
const grantsIn = (cards) =>
  new Map(
    [...cards].flatMap((card) =>
      [...card.querySelectorAll('[data-grant]')].map(({ dataset }) => [
        `${card.dataset.chain}.${dataset.grant}`,
        dataset.amount,
      ]),
    ),
  );

/** The newest block of the index. Caches may keep the answer until the next block is due. */
async function readHead({ head, network }) {
  const response = await fetch(head, { cache: 'no-store' });
  const { detail } = await response.json();
  if (!response.ok) throw new Stopped(`This service cannot answer for ${network} now: ${detail}`);
  return { number: Number(response.headers.get('x-block-number')), hash: response.headers.get('x-block-hash') };
}

/** Which grants of this page are still to do, what is left besides, and the block of each chain; null if the service cannot say. */
async function readOpen() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => null);
  if (!response?.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const part = (id) => page.getElementById(id);
  const states = [...page.querySelectorAll('[data-plan]')].map(({ dataset }) => [dataset.chain, Number(dataset.block)]);
  const blocks = new Map(states);
  if (transactions.some(({ plan }) => !blocks.has(plan.chain))) return null;
  const grants = grantsIn(page.querySelectorAll('[data-transaction]'));
  return { blocks, grants, still: part('still'), left: part('left') };
}

/** A browser opens six connections to a host: some are left for all else. */
const MOST_WATCHED = 3;

/** Calls `show` with what is still to do after every change of the owner's grants. */
function watchGrants(changes, show) {
  let [isLooking, isChanged] = [false, false];
  new EventSource(changes).addEventListener('message', async () => {
    isChanged = true;
    if (isLooking) return;
    isLooking = true;
    while (isChanged) {
      // One transaction can make many changes: one look is enough for all.
      await sleep();
      isChanged = false;
      const open = await readOpen();
      if (open !== null) show(open);
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
  plan: PLANS.get(card.dataset.chain),
  to: card.dataset.target,
  data: card.dataset.calldata,
  grants: grantsIn([card]),
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
    `Your wallet has selected ${accounts[0] ?? 'no account'}. Only ${OWNER} can ${WORDS.can}: select that account in your wallet, then try again.`,
  );
}

const chainOf = async (provider) => Number(await provider.request({ method: 'eth_chainId' }));

async function requireChain(provider, { chainId, network }) {
  if ((await chainOf(provider)) === chainId) return;
  say(`Your wallet is on another network. Allow it to switch to ${network}.`);
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: hexOf(chainId) }] });
  } catch (error) {
    const code = error.data?.originalError?.code ?? error.code;
    if (code === 4902)
      throw new Stopped(
        `Your wallet does not know ${network} (chain id ${chainId}). Add this network in your wallet, then try again.`,
      );
    if (code === 4001)
      throw new Stopped(`You did not switch to ${network}. Nothing was sent. Switch to it, then try again.`);
    throw new Stopped(`Your wallet could not switch to ${network}: ${error.message}. Switch there, then try again.`);
  }
  if ((await chainOf(provider)) !== chainId)
    throw new Stopped(
      `Your wallet is still on another network. Select ${network} (chain id ${chainId}) in your wallet, then try again.`,
    );
}

/** Test networks can have the id of a real one: the wallet must have the same blocks as the index. */
async function requireSameBlocks(provider, plan) {
  const { network } = plan;
  for (let turn = 1; ; turn++) {
    const { number, hash } = await readHead(plan);
    const theirs = await provider.request({ method: 'eth_getBlockByNumber', params: [hexOf(number), false] });
    if (theirs !== null && same(theirs.hash, hash)) return;
    if (turn === BLOCK_TRIES)
      throw new Stopped(
        theirs === null
          ? `Nothing was sent: your wallet does not have block ${number} of ${network} yet. It is behind, or on a test network with the same id. Check the network's RPC URL in your wallet.`
          : `Nothing was sent: block ${number} of your wallet is not that of ${network}. Your wallet is on a test network with the same id. Check the network's RPC URL in your wallet.`,
      );
    await sleep();
  }
}

async function send(provider, transaction, name) {
  say('Connecting to your wallet…');
  const from = await requireOwner(provider);
  const { plan, to, data } = transaction;
  await requireChain(provider, plan);
  await requireSameBlocks(provider, plan);
  say(`Confirm ${name} in your wallet.`);
  setState(transaction, 'in your wallet');
  const params = [{ from, to, data, value: '0x0', chainId: hexOf(plan.chainId) }];
  transaction.hash = await provider.request({ method: 'eth_sendTransaction', params });
  showHash(transaction);
}

const isDone = (transaction, { grants }) => [...transaction.grants.keys()].every((id) => !grants.has(id));
const blockIn = ({ plan }, { blocks }) => blocks.get(plan.chain);
const showDone = (transaction, open) =>
  setState(transaction, `${WORDS.done}, as of block ${blockIn(transaction, open)}`, 'good');

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
    const open = turn % TURNS_PER_LOOK === 0 ? await readOpen() : null;
    if (open !== null && isDone(transaction, open)) transaction.block = blockIn(transaction, open);
    if (transaction.block !== null) break;
    await sleep();
  }
  if (transaction.block === null) {
    setState(transaction, 'failed', 'bad');
    throw new Stopped(`${capital(name)} failed on the chain. ${WORDS.failed} You can try again.`);
  }
  setState(transaction, `mined in block ${transaction.block}`);
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** Resolves when the index shows that nothing is left to do on the chain. */
async function follow(plan) {
  const its = transactions.filter((one) => one.plan === plan);
  const mined = Math.max(...its.map(({ block }) => block));
  const ids = its.flatMap(({ grants }) => [...grants.keys()]);
  say(`Mined. Waiting until this service has read block ${mined} of ${plan.network}…`);
  for (let seen = mined - 1; ; await sleep()) {
    const head = await readHead(plan).catch(() => null);
    if (head === null || head.number <= seen) continue;
    const open = await readOpen();
    if (open === null || open.blocks.get(plan.chain) <= seen) continue;
    seen = open.blocks.get(plan.chain);
    const left = ids.filter((id) => open.grants.has(id));
    for (const transaction of its) if (isDone(transaction, open)) showDone(transaction, open);
    if (left.length === 0) return open;
    say(openText(left, open, seen), 'trouble');
  }
}

function openText(left, { grants }, block) {
  const before = new Map(transactions.flatMap((one) => [...one.grants]));
  const changed = left.filter((id) => grants.get(id) !== before.get(id));
  const amounts = changed.map((id) => `${grants.get(id)} instead of ${before.get(id)}`).join(', ');
  const news = changed.length === 0 ? '' : ` The amount is now ${amounts}.`;
  const [one, several, otherwise] = WORDS.open;
  const which = left.length === 1 ? `1 of these grants ${one}` : `${left.length} of these grants ${several}`;
  return `As of block ${block}, ${which}: ${otherwise} in the meantime, or the chain dropped the transaction.${news} This page keeps looking. To send it again, reload the page.`;
}

/** While a wallet is asked or followed, and when all is done. */
let isBusy = false;

/** The wallet is a part of a grant's id. */
const walletsOf = (ids) => new Set([...ids].map((id) => id.split('.')[3]));

/** The chains that have transactions. */
const usedPlans = () => new Set(transactions.map(({ plan }) => plan));

function finish({ blocks, grants, still, left }) {
  isBusy = true;
  show('afterwards', true);
  if (left !== null) byId('left')?.replaceWith(left);
  for (const id of ['wallets', 'no-wallet']) show(id, false);
  const ended = transactions.flatMap(({ grants }) => [...grants.keys()]);
  const losing = walletsOf(ended);
  const going = [...(still?.querySelectorAll('[data-to]') ?? [])].filter(({ dataset }) => losing.has(dataset.to));
  if (going.length === 0) {
    const more = grants.size === 0 ? '' : ' There is more to do since: reload this page.';
    const on = [...usedPlans()].map(
      ({ chain, network }) => `block ${blocks.get(chain)}${PLANS.size > 1 ? ` of ${network}` : ''}`,
    );
    say(
      `Done. ${capital(WORDS.done)}, as of ${on.join(' and ')}: the index shows that ${WORDS.doneText}.${more}`,
      'yes',
    );
    return;
  }
  const who = going.map(({ textContent }) => textContent).join(', and ');
  say(`${ended.length === 1 ? 'This grant' : 'These grants'} ended, but ${who}. `, 'trouble');
  byId('progress').append(...going.map((one) => one.parentElement.querySelector('a')));
}

/** Shows what happened without this page: the owner sent it from another wallet, or before a reload. */
function showChange(open) {
  if (isBusy) return;
  for (const transaction of transactions) {
    const { block } = transaction;
    if (isDone(transaction, open)) {
      Object.assign(transaction, { hash: transaction.hash ?? '', block: blockIn(transaction, open) });
      showDone(transaction, open);
    } else if (block !== null && blockIn(transaction, open) >= block) {
      // Undone since: it can be sent again.
      Object.assign(transaction, { hash: null, block: null });
      setState(transaction, 'not sent');
    }
  }
  if (transactions.every((one) => isDone(one, open))) finish(open);
}

async function sendAll(provider, button) {
  // It has the focus until it is ticked.
  if (isBusy || byId('confirm')?.reportValidity() === false) return;
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
    let open = null;
    for (const plan of usedPlans()) open = await follow(plan);
    finish(open);
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
  offerWallets(WORDS.verb, sendAll);
  for (const { changes } of [...usedPlans()].slice(0, MOST_WATCHED))
    if (changes !== '') watchGrants(changes, showChange);
}

const boxes = [...document.querySelectorAll('.choose [type="checkbox"]')];
function requireChoice() {
  boxes[0]?.setCustomValidity(boxes.some(({ checked }) => checked) ? '' : 'Tick at least one grant.');
}
for (const box of boxes) box.addEventListener('change', requireChoice);
requireChoice();
