// Refreshes the marked parts of the page every few seconds. It changes only what is different, and nothing that the user
// has selected or that has the focus. Text with `data-announce` is announced when it changes.

const EVERY_MS = 4000;
/** One lost refresh is not worth a warning. */
const STALE_MS = 10_000;
/** Attributes that the user changes. */
const OF_USER = new Set(['open']);
let updatedAt = Date.now();

const keyOf = (node) => (node instanceof Element ? node.id || node.dataset.key || null : null);

/** Whether the user would notice that it is moved or removed. */
function isInUse(node) {
  const active = document.activeElement;
  if (active !== null && active !== document.body && node.contains(active)) return true;
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(node, true);
}

const isAlike = (old, fresh) =>
  old.nodeType === fresh.nodeType && old.nodeName === fresh.nodeName && keyOf(old) === keyOf(fresh);

function updateAttributes(old, fresh) {
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !OF_USER.has(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value && !OF_USER.has(name)) old.setAttribute(name, value);
}

/** Both are alike. */
function update(old, fresh) {
  if (old.isEqualNode(fresh) || old === document.activeElement) return;
  if (old instanceof Element) {
    // A button that says "Copied" is about to change back by itself.
    if (old.dataset.name !== undefined && old.dataset.copy === fresh.dataset.copy) return;
    updateAttributes(old, fresh);
    updateChildren(old, fresh);
  } else if (!isInUse(old)) old.data = fresh.data;
}

function updateChildren(old, fresh) {
  const rest = new Set(old.childNodes);
  let previous = null;
  for (const next of [...fresh.childNodes]) {
    const found = [...rest].find((one) => isAlike(one, next)) ?? null;
    const place = previous === null ? old.firstChild : previous.nextSibling;
    if (found === null) {
      old.insertBefore(next, place);
      previous = next;
      continue;
    }
    rest.delete(found);
    update(found, next);
    // A moved element loses the focus.
    if (found !== place && !isInUse(found)) old.insertBefore(found, place);
    previous = found;
  }
  for (const one of rest) {
    if (!isInUse(one)) one.remove();
    else if (one instanceof HTMLElement) one.dataset.gone = '';
  }
}

const announced = () =>
  new Map([...document.querySelectorAll('[data-announce]')].map((one) => [one.dataset.announce, one.textContent]));

function updateParts(fresh) {
  const before = announced();
  for (const part of fresh.querySelectorAll('[data-part]')) {
    const old = document.querySelector(`main [data-part="${part.dataset.part}"]`);
    if (old !== null) update(old, part);
  }
  const news = [...announced()].filter(([name, text]) => before.get(name) !== text).map(([, text]) => text);
  if (news.length > 0) document.getElementById('announcements').textContent = `Updated. ${news.join(' ')}`;
}

async function refresh() {
  if (document.hidden) return;
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    updateParts(new DOMParser().parseFromString(await response.text(), 'text/html'));
    updatedAt = Date.now();
  } catch {
    // The service is unreachable or busy: try again next time.
  }
  const state = document.getElementById('live-state');
  state.hidden = Date.now() - updatedAt < STALE_MS;
  const text = `Not updated since ${new Date(updatedAt).toLocaleTimeString()}`;
  if (!state.hidden && state.textContent !== text) state.textContent = text;
}

if (document.querySelector('main [data-part]') !== null) {
  // The next one waits for the one before.
  const refreshAndWait = () => refresh().finally(() => setTimeout(refreshAndWait, EVERY_MS));
  setTimeout(refreshAndWait, EVERY_MS);
  document.addEventListener('visibilitychange', refresh);
}
