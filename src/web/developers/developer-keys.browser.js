// Manages the API keys of the wallet that is signed in, and shows how they are used: one card for a key and those that it replaced,
// and a table of those that have ended. Dispatches `keys-drawn` on the document.

import { countText, dayText, exactText, field, nearText, setFields, syncList } from './developer-fields.js';
import { ask, createList, onSubmit, openDialog, say } from './developers.js';
import { byId, show } from './dom.js';

const isWorking = ({ state }) => state === 'active' || state === 'replaced';
/** Tells apart keys with the same label. */
const nameOf = ({ label, shown }) => `“${label}” (${shown}…)`;
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
const usedText = ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : nearText(1000 * lastUsedAt));

function stateText({ state, endsAt }, isRotated) {
  if (state === 'replaced') return `old key, works until ${exactText(1000 * endsAt)}`;
  const name = isRotated ? 'new key, active' : 'active';
  return endsAt === null ? name : `${name} until ${dayText(1000 * endsAt)}`;
}

function factsText(record) {
  const { createdAt, lastUsedAt, uses, rateLimit } = record;
  const limit = rateLimit === null ? [] : [rateLimit === 'off' ? 'no limit' : `limit ${rateLimit}`];
  const used = lastUsedAt === null ? ['not used yet'] : [`last used ${usedText(record)}`];
  const count = sum(uses) === 0 ? [] : [`${countText(sum(uses), 'request')} in 30 days`];
  return [`Created ${dayText(1000 * createdAt)}`, ...used, ...count, ...limit].join(' · ');
}

function drawUses(figure, uses) {
  figure.hidden = sum(uses) === 0;
  const most = Math.max(1, ...uses);
  const bars = uses.map((count, turn) => {
    const height = count === 0 ? 1 : Math.max(3, (46 * count) / most);
    return `M${turn * 10 + 1} 48v${-height}h8v${height}z`;
  });
  const svg = figure.querySelector('svg');
  svg.setAttribute('aria-label', `${countText(sum(uses), 'request')} in 30 days, ${uses.at(-1)} of them today`);
  svg.firstElementChild.setAttribute('d', bars.join(''));
}

function fillRow(row, record, isRotated) {
  const texts = { state: stateText(record, isRotated), facts: factsText(record) };
  setFields(row, { ...texts, shown: `${record.shown}…` });
  row.querySelector('.badge').className = record.state === 'active' ? 'badge good' : 'badge';
  drawUses(row.querySelector('figure'), record.uses);
  for (const button of row.querySelectorAll('[data-action]'))
    button.setAttribute('aria-label', `${button.textContent} ${nameOf(record)}`);
  // A key is replaced only once.
  row.querySelector('[data-action="rotate"]').hidden = record.state === 'replaced';
}

function fillEnded(row, record) {
  const { label, shown, state, endsAt } = record;
  setFields(row, { label, shown: `${shown}…`, ended: `${state} ${dayText(1000 * endsAt)}`, used: usedText(record) });
}

function draw(records) {
  const fillGroup = (card, { keys }) => {
    setFields(card, { label: keys[0].label });
    const fill = (row, record) => fillRow(row, record, keys.length > 1);
    syncList(card.querySelector('ul'), keys, 'key-row', fill);
  };
  const working = Map.groupBy(records.filter(isWorking), ({ group }) => group);
  const groups = [...working].map(([id, keys]) => ({ id, keys }));
  syncList(byId('keys'), groups, 'key-group', fillGroup);
  const ended = records.filter((record) => !isWorking(record));
  syncList(byId('ended-keys'), ended, 'ended-row', fillEnded);
  show('ended', ended.length > 0);
  show('no-keys', groups.length === 0);
}

const OVERLAP_MS = 86_400_000;

let quota = 0;
const list = createList({
  items: 'keys',
  once: 'new-key',
  actions: { rotate, revoke },
  onRead(records, answer) {
    quota = answer.quota;
    draw(records);
    document.dispatchEvent(new Event('keys-drawn'));
    byId('quota').textContent = `${working().length} of ${quota} active`;
    const shown = list.once.owner();
    if (shown !== undefined && !working().some(({ id }) => String(id) === shown)) list.once.hide();
  },
});
const working = () => list.all().filter(isWorking);

function showNewKey(key, record) {
  const path = byId('signed-in').dataset.example.replace('{wallet}', byId('wallet').textContent);
  const curl = `curl -H 'X-API-KEY: ${key}' '${location.origin}${path}'`;
  setFields(byId('new-key'), { label: nameOf(record) });
  list.once.show(record.id, [key, curl]);
}

async function rotate(record) {
  const isFull = working().length >= quota;
  const given = await openDialog('rotate-dialog', (dialog, form) => {
    const end = record.endsAt === null ? Number.POSITIVE_INFINITY : 1000 * record.endsAt;
    const until = exactText(Math.min(Date.now() + OVERLAP_MS, end));
    setFields(dialog, { name: nameOf(record), shown: `${record.shown}…`, until });
    field(dialog, 'full').hidden = !isFull;
    const [keep, atOnce] = form.elements.overlap;
    keep.disabled = isFull;
    (isFull ? atOnce : keep).checked = true;
  });
  if (given === null) return;
  const overlap = given.get('overlap') === 'keep';
  const created = await ask('/developers/keys/rotate', 'POST', { id: record.id, overlap });
  await list.refresh();
  showNewKey(created.key, created.record);
}

function otherText(record) {
  const others = working().filter(({ id }) => id !== record.id);
  const sibling = others.find(({ group }) => group === record.group);
  if (sibling?.state === 'replaced')
    return `The old key, ${nameOf(sibling)}, works until ${exactText(1000 * sibling.endsAt)}.`;
  if (sibling !== undefined) return `The new key, ${nameOf(sibling)}, keeps working.`;
  return others.length === 0 && byId('webhooks') !== null
    ? 'It is your only active key: your webhooks pause until you have another one and resume them.'
    : '';
}

async function revoke(record) {
  const texts = { name: nameOf(record), shown: `${record.shown}…`, other: otherText(record) };
  if ((await openDialog('revoke-dialog', (dialog) => setFields(dialog, texts))) === null) return;
  await ask('/developers/keys/revoke', 'POST', { id: record.id });
  await list.refresh();
  say(`Revoked ${nameOf(record)}.`);
  // Its buttons are gone.
  byId('keys-heading').focus();
}

onSubmit('create', async (form, fields) => {
  const days = fields.get('days');
  const body = { label: fields.get('label'), ...(days === '' ? {} : { days: Number(days) }) };
  const { key, record } = await ask('/developers/keys', 'POST', body);
  form.reset();
  await list.refresh();
  showNewKey(key, record);
});
