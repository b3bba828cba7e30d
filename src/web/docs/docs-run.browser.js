// Sends the forms of the reference to the API and shows each answer beside its operation, exactly as it was sent.

import { button, element } from './dom.js';

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
  const code = element('code');
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
    else if (string === undefined) code.append(element('span', part, 'n'));
    else code.append(element('span', string, colon ? 'p' : 's'), colon ? ': ' : '');
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
  const list = element('dl');
  for (const name of HEADERS) if (headers.has(name)) list.append(element('dt', name), element('dd', headers.get(name)));
  return list;
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
  const link = element('a', 'What this problem means, and what to do');
  link.href = type.slice('/docs'.length);
  const line = element('p');
  line.append(link);
  return [line];
}

function bodyBlock(text) {
  const block = element('pre', '', 'answer');
  block.tabIndex = 0;
  block.setAttribute('role', 'group');
  block.setAttribute('aria-label', 'Body');
  block.append(indented(text));
  return block;
}

function show(panel, status, isGood, parts) {
  const line = panel.querySelector('[role=status]');
  line.replaceChildren(element('span', status.name, `badge ${isGood ? 'good' : 'bad'}`), ` ${status.more}`);
  panel.querySelector('.details').replaceChildren(...parts);
}

/** The parts of a panel that every answer has. */
function fill(panel, form) {
  const status = element('p', 'Sending…');
  status.setAttribute('role', 'status');
  const close = button('Close', () => {
    panel.hidden = true;
    form.querySelector('button').focus();
  });
  close.className = 'plain';
  const bar = element('div', '', 'actions');
  bar.append(status, close);
  panel.append(element('h4', 'Answer', 'about'), bar, element('div', '', 'details'));
}

const running = new WeakMap();

async function run(form) {
  const panel = form.closest('section').querySelector('.result');
  running.get(form)?.abort();
  const abort = new AbortController();
  running.set(form, abort);
  const { url, init } = requestOf(form);
  panel.setAttribute('aria-busy', 'true');
  const asked = element('p', `${init.method} ${url}`, 'path');
  const began = performance.now();
  try {
    const response = await fetch(url, { ...init, signal: abort.signal });
    const { text, isCut } = await readStart(response);
    const time = `${Math.round(performance.now() - began)} ms`;
    const note = isCut ? [element('p', `Only the first ${MAX_SHOWN.toLocaleString('en')} characters are shown.`)] : [];
    const problem = response.ok ? [] : explanation(text);
    const name = `${response.status} ${response.statusText}`.trim();
    show(panel, { name, more: time }, response.ok, [
      asked,
      ...problem,
      headerList(response.headers),
      ...note,
      bodyBlock(text),
    ]);
  } catch (error) {
    if (abort.signal.aborted) return;
    show(panel, { name: 'No answer', more: error.message }, false, [asked]);
  }
  panel.removeAttribute('aria-busy');
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
