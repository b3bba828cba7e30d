// Searches the reference: operations, parameters, problems and chapters. "/" leads to the field, the arrows through what is found.

import { element } from './dom.js';

const MAX_FOUND = 12;
/** Of one name: many operations have the same parameters. */
const MAX_ALIKE = 3;
const form = document.querySelector('.search');
const field = form.querySelector('input');
const list = form.querySelector('ul');
const status = form.querySelector('[role=status]');

const textOf = (root, selector) => root.querySelector(selector)?.textContent.trim() ?? '';

/** What can be found: where it leads, its title, what it belongs to, and its text. */
function entries() {
  const found = [];
  for (const section of document.querySelectorAll('main section')) {
    const title = textOf(section, 'h2, h3');
    const path = [...(section.querySelector('.path')?.childNodes ?? [])].map((one) => one.textContent).join(' ');
    const text = [...section.querySelectorAll('.text > p')].map((one) => one.textContent).join(' ');
    found.push({ id: section.id, title: path || title, about: path ? title : 'Guide', text });
    if (path !== '')
      for (const row of section.querySelectorAll('tbody tr'))
        found.push({ id: section.id, title: textOf(row, 'code'), about: path, text: textOf(row, 'td:last-child') });
  }
  for (const row of document.querySelectorAll('tr[id]'))
    found.push({ id: row.id, title: textOf(row, 'code'), about: 'Problem', text: row.textContent });
  return found.map((one) => ({ ...one, words: `${one.title} ${one.about} ${one.text}`.toLowerCase() }));
}

/** The higher, the better. 0 if a word is missing. */
function rank({ title, about, words }, query) {
  const wanted = query.split(/\s+/);
  if (!wanted.every((word) => words.includes(word))) return 0;
  const name = title.toLowerCase();
  if (name === query) return 5;
  if (name.split(/\W+/).includes(query)) return 4;
  if (wanted.every((word) => name.includes(word))) return 3;
  return wanted.every((word) => `${name} ${about.toLowerCase()}`.includes(word)) ? 2 : 1;
}

let known = null;

function find(query) {
  known ??= entries();
  const names = new Map();
  return known
    .map((entry) => ({ entry, score: rank(entry, query) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry)
    .filter(({ title }) => {
      names.set(title, (names.get(title) ?? 0) + 1);
      return names.get(title) <= MAX_ALIKE;
    })
    .slice(0, MAX_FOUND);
}

function itemOf({ id, title, about }) {
  const texts = [element('strong', {}, title), ' ', element('span', { className: 'soft' }, about)];
  return element('li', {}, element('a', { href: `#${id}` }, ...texts));
}

function close() {
  list.hidden = true;
  status.textContent = '';
}

function search() {
  const query = field.value.trim().toLowerCase();
  if (query === '') return close();
  const found = find(query);
  list.replaceChildren(...found.map(itemOf));
  list.hidden = found.length === 0;
  status.textContent = found.length === 1 ? '1 result' : `${found.length || 'No'} results`;
}

field.addEventListener('input', search);
field.addEventListener('focus', search);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.click();
});
list.addEventListener('click', ({ target }) => {
  if (target.closest('a') !== null) close();
});
// A link that is clicked with a mouse gets no focus in Safari, and the list would close before the click.
list.addEventListener('mousedown', (event) => event.preventDefault());
form.addEventListener('focusout', ({ relatedTarget }) => {
  if (!form.contains(relatedTarget)) close();
});

form.addEventListener('keydown', (event) => {
  const stops = [field, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
  } else if (event.key === 'Escape') {
    field.focus();
    field.value = '';
    close();
  }
});

document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input:not([type=radio]), textarea, select') !== null;
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
  field.select();
});
