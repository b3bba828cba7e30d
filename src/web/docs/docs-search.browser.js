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

/** What can be found on a page: where it leads, its title, what it belongs to, and its text. */
function entriesOf([path, root]) {
  const found = [];
  for (const section of root.querySelectorAll('main section')) {
    const title = textOf(section, 'h2, h3');
    const href = `${path}#${section.id}`;
    const name = [...(section.querySelector('.text .path')?.childNodes ?? [])].map((one) => one.textContent).join(' ');
    const text = [...section.querySelectorAll('.text > p')].map((one) => one.textContent).join(' ');
    found.push({ href, title: name || title, about: name ? title : 'Guide', text });
    if (name !== '')
      for (const row of section.querySelectorAll('tbody tr'))
        found.push({ href, title: textOf(row, 'code'), about: name, text: textOf(row, 'td:last-child') });
  }
  for (const row of root.querySelectorAll('tr[id]'))
    found.push({ href: `${path}#${row.id}`, title: textOf(row, 'code'), about: 'Problem', text: row.textContent });
  return found.map((one) => ({ ...one, words: `${one.title} ${one.about} ${one.text}`.toLowerCase() }));
}

async function readPage(path) {
  if (path === location.pathname) return [path, document];
  const response = await fetch(path, { headers: { accept: 'text/html' } });
  return [path, new DOMParser().parseFromString(await response.text(), 'text/html')];
}

/** All pages of the reference, or those that can be read. */
async function readEntries() {
  const paths = [...document.querySelectorAll('.contents strong a')].map((link) => link.pathname);
  const pages = await Promise.allSettled(paths.map(readPage));
  return pages.flatMap(({ value }) => (value === undefined ? [] : entriesOf(value)));
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

let reading = null;

function find(query, known) {
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

function itemOf({ href, title, about }) {
  const texts = [element('strong', {}, title), ' ', element('span', { className: 'soft' }, about)];
  return element('li', {}, element('a', { href }, ...texts));
}

function close() {
  list.hidden = true;
  status.textContent = '';
}

async function search() {
  reading ??= readEntries();
  const known = await reading;
  const query = field.value.trim().toLowerCase();
  if (query === '') return close();
  const found = find(query, known);
  list.replaceChildren(...found.map(itemOf));
  list.hidden = found.length === 0;
  status.textContent = found.length === 1 ? '1 result' : `${found.length || 'No'} results`;
}

field.addEventListener('input', search);
field.addEventListener('focus', search);
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  await search();
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
