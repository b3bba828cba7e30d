// Sends the requests of the developer page and says what came of them, asks in dialogs, and keeps lists up to date.

import { byId, element, show } from './dom.js';

/** Of EIP-1193 and EIP-1474. */
const USER_REJECTED = 4001;
const REQUEST_PENDING = -32002;

/** One message at a time, announced by screen readers. An empty text takes it away. */
export function say(text, isError = false) {
  const message = element('p', { className: isError ? 'notice trouble' : 'notice yes' }, text);
  byId('messages').replaceChildren(...(text === '' ? [] : [message]));
}

/** Resolves to the answer. Whoever is not signed in any more is told so by the event `session-ended`. */
export async function ask(path, method = 'GET', body = undefined) {
  const init = { method, headers: { 'content-type': 'application/json' }, credentials: 'same-origin' };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetch(path, init).catch(() => {
    throw new Error('The service cannot be reached. Check your connection and try again.');
  });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const error = new Error(answer.detail ?? `The service responded with status ${response.status}.`);
  error.isSessionEnd = answer.type?.endsWith('signed-out') ?? false;
  if (error.isSessionEnd) document.dispatchEvent(new Event('session-ended'));
  throw error;
}

/** Errors of a wallet have a code, and not always a message. */
function textOf({ code, message }) {
  if (code === USER_REJECTED) return 'You rejected the request in your wallet.';
  if (code === REQUEST_PENDING) return 'Your wallet already has an open request. Answer that one first.';
  return message || 'The wallet did not answer. Try again.';
}

/** Runs an action and says what went wrong. The button keeps the focus, but does nothing meanwhile. */
export async function attempt(button, work) {
  if (button.ariaDisabled === 'true') return;
  say('');
  button.ariaDisabled = 'true';
  try {
    await work();
  } catch (error) {
    if (!error.isSessionEnd) say(textOf(error), true);
  } finally {
    button.ariaDisabled = null;
  }
}

/** Handles a form by itself, with the button that submits it. */
export const onSubmit = (id, work) =>
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    attempt(form.querySelector('button:not([type="button"])'), () => work(form, new FormData(form)));
  });

export const onClick = (id, work) =>
  byId(id).addEventListener('click', ({ currentTarget }) => attempt(currentTarget, () => work(currentTarget)));

/**
 * Asks a question in a dialog of the page. Resolves to what was filled in, or to null if the user cancelled. `prepare` fills the
 * dialog before it opens. When it is closed, the browser returns the focus to where it was.
 */
export function openDialog(id, prepare) {
  const dialog = byId(id);
  const form = dialog.querySelector('form');
  form.reset();
  prepare(dialog, form);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue === 'yes' ? new FormData(form) : null);
  });
}

document.addEventListener('session-ended', () => {
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close('');
});

/** The box of a key or secret that is shown once. Its texts, and what its buttons copy, are in one order. */
function onceIn(box) {
  const parts = (selector) => [...box.querySelectorAll(selector)];
  return {
    /** The id of what it is shown of. */
    owner: () => box.dataset.owner,
    show(owner, texts) {
      box.dataset.owner = owner;
      for (const [index, code] of parts('pre code').entries()) code.textContent = texts[index];
      for (const [index, copy] of parts('[id^="copy-"]').entries()) copy.dataset.copy = texts[index];
      box.hidden = false;
      parts('[id^="copy-"]')[0].focus();
    },
    /** Removes it from the page, not only from view. */
    hide() {
      delete box.dataset.owner;
      for (const code of parts('pre code')) code.textContent = '';
      for (const copy of parts('[id^="copy-"]')) delete copy.dataset.copy;
      box.hidden = true;
    },
  };
}

const REFRESH_MS = 4000;

/**
 * A list that the service sends in pages: read again after each change, and every few seconds while somebody looks at it. `items`
 * is its name in paths, answers and ids, and `once` the box of a new item's secret. `onRead(all, answer)` is called after each
 * read, and the action of a button in it with the item that it belongs to.
 */
export function createList({ items, once, actions, onRead }) {
  const [path, more] = [`/developers/${items}`, `more-${items}`];
  /** Newest first: the first page, and those that the user has asked for. */
  let all = [];

  function take(answer, isFirst) {
    const page = answer[items];
    const oldest = page.at(-1)?.id ?? 0;
    const kept = all.filter(({ id }) => !isFirst || (answer.next !== null && id < oldest));
    all = isFirst ? [...page, ...kept] : [...kept, ...page];
    // To read the first page again leaves those after it.
    if (!isFirst || kept.length === 0) {
      byId(more).dataset.next = answer.next ?? '';
      show(more, answer.next !== null);
    }
    return onRead(all, answer);
  }

  /** One at a time, so that an earlier answer never replaces a later one. */
  let last = Promise.resolve();
  let waiting = 0;
  function refresh() {
    waiting += 1;
    last = last
      .catch(() => {})
      .then(async () => take(await ask(path), true))
      .finally(() => {
        waiting -= 1;
      });
    return last;
  }

  onClick(more, async ({ dataset }) => take(await ask(`${path}?after=${dataset.next}`), false));
  // A failure is shown when the user does something.
  const refreshIfSeen = () => {
    if (waiting === 0 && !document.hidden && !byId('signed-in').hidden) refresh().catch(() => {});
  };
  setInterval(refreshIfSeen, REFRESH_MS);
  document.addEventListener('visibilitychange', refreshIfSeen);

  byId(items).addEventListener('click', ({ target }) => {
    const button = target.closest('[data-action]');
    if (button === null) return;
    const { id } = button.closest('[data-id]').dataset;
    attempt(button, () => actions[button.dataset.action](all.find((one) => String(one.id) === id)));
  });

  const shown = onceIn(byId(once));
  onClick(`hide-${once}`, () => {
    shown.hide();
    byId(byId('signed-in').hidden ? 'sign-in-heading' : `${items}-heading`).focus();
  });
  document.addEventListener('signed-in', ({ detail: { isOther } }) => {
    if (isOther) {
      all = [];
      shown.hide();
    }
    refresh().catch((error) => say(error.message, true));
  });
  document.addEventListener('signed-out', shown.hide);

  return { refresh, once: shown, all: () => all };
}
