// Sends the forms of the reference to the API and shows each answer beside its operation, exactly as it was sent.

import { element } from './dom.js';

/** Those of an answer's headers that are shown, in order. */
const HEADERS = [
  'X-Block-Number',
  'X-Block-Hash',
  'X-Block-Timestamp',
  'X-As-Of-Timestamp',
  'X-Indexed-From',
  'ETag',
  'Cache-Control',
  'Link',
  'Retry-After',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
];
/** Characters of a body. A list can have millions. */
const MAX_SHOWN = 50_000;

const PARTS = /("(?:[^"\\]|\\.)*"?)(\s*:)?|[[{]\s*[\]}]|[[\]{},]|[^\s[\]{},"]+/g;

/** JSON, indented and coloured without reading its values, so that every digit stays. */
function indented(json) {
  const code = element('code', {});
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  for (const [part, string, colon] of json.matchAll(PARTS)) {
    if (part === '{' || part === '[') {
      depth++;
      code.append(part + line());
    } else if (part === '}' || part === ']') {
      depth--;
      code.append(line() + part);
    } else if (part === ',') code.append(part + line());
    else if (/^[[{]/.test(part)) code.append(part);
    else if (string === undefined) code.append(element('span', { className: 'n' }, part));
    else code.append(element('span', { className: colon ? 'p' : 's' }, string), colon ? ': ' : '');
  }
  return code;
}

/** The request of a form. Empty fields are left out. */
function requestOf(form) {
  const query = new URLSearchParams();
  let path = form.dataset.run;
  for (const field of form.querySelectorAll('[name]')) {
    const value = field.value.trim();
    if ('path' in field.dataset) path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (value !== '') query.set(field.name, value);
  }
  const headers = {};
  const key = form.querySelector('[data-key]')?.value.trim();
  if (key) headers['X-API-KEY'] = key;
  const body = form.querySelector('[data-body]')?.value;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const method = body === undefined ? 'GET' : 'POST';
  return { url: query.size === 0 ? path : `${path}?${query}`, init: { method, headers, body, cache: 'no-store' } };
}

/** The start of the body. Of a longer one, the rest is not asked for. */
async function readStart(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (text.length <= MAX_SHOWN) {
    const { done, value } = await reader.read();
    if (done) return { text, isCut: false };
    text += value;
  }
  await reader.cancel();
  return { text: text.slice(0, MAX_SHOWN), isCut: true };
}

function headerList(headers) {
  const shown = HEADERS.filter((name) => headers.has(name));
  return element('dl', {}, ...shown.flatMap((name) => [element('dt', {}, name), element('dd', {}, headers.get(name))]));
}

/** A problem names the place that explains it. */
function explanation(text) {
  let type = '';
  try {
    ({ type } = JSON.parse(text));
  } catch {
    // Not a problem of the API.
  }
  if (typeof type !== 'string' || !type.startsWith('/docs#problem-')) return [];
  return [element('p', {}, element('a', { href: type }, 'What this problem means, and what to do'))];
}

function show(panel, isGood, name, more, parts) {
  const badge = element('span', { className: `badge ${isGood ? 'good' : 'bad'}` }, name);
  panel.querySelector('output').replaceChildren(badge, ` ${more}`);
  panel.querySelector('.details').replaceChildren(...parts);
}

/** The parts of a panel that every answer has. */
function fill(panel, form) {
  const onclick = () => {
    panel.hidden = true;
    form.querySelector('button').focus();
  };
  const close = element('button', { type: 'button', className: 'plain small', onclick }, 'Close');
  const status = element('output', {}, 'Sending…');
  panel.append(
    element('h4', { className: 'about' }, 'Answer'),
    element('div', { className: 'actions' }, status, close),
    element('div', { className: 'stack details' }),
  );
}

const running = new WeakMap();

async function run(form) {
  const panel = form.closest('section').querySelector('.result');
  running.get(form)?.abort();
  const abort = new AbortController();
  running.set(form, abort);
  const { url, init } = requestOf(form);
  panel.setAttribute('aria-busy', 'true');
  const asked = element('p', { className: 'path' }, `${init.method} ${url}`);
  const began = performance.now();
  try {
    const response = await fetch(url, { ...init, signal: abort.signal });
    const { text, isCut } = await readStart(response);
    const time = `${Math.round(performance.now() - began)} ms`;
    const cut = `Only the first ${MAX_SHOWN.toLocaleString('en')} characters are shown.`;
    const note = isCut ? [element('p', {}, cut)] : [];
    const problem = response.ok ? [] : explanation(text);
    const name = `${response.status} ${response.statusText}`.trim();
    const scrolled = { className: 'answer', tabIndex: 0, role: 'group', ariaLabel: 'Body' };
    const body = element('pre', scrolled, indented(text));
    show(panel, response.ok, name, time, [asked, ...problem, headerList(response.headers), ...note, body]);
  } catch (error) {
    if (abort.signal.aborted) return;
    show(panel, false, 'No answer', error.message, [asked]);
  }
  panel.removeAttribute('aria-busy');
  panel.scrollIntoView({ block: 'nearest' });
}

for (const form of document.querySelectorAll('form[data-run]')) {
  for (const fields of form.querySelectorAll('fieldset')) fields.disabled = false;
  const panel = form.closest('section').querySelector('.result');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (panel.childElementCount === 0) fill(panel, form);
    panel.hidden = false;
    void run(form);
  });
}
