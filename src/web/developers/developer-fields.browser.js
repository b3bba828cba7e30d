// Fields and lists of the developer page, updated in place, and the words for times and counts in them.

import { byId } from './dom.js';

export const field = (root, name) => root.querySelector(`[data-field="${name}"]`);

/** Writes only what is new: a selection in the text survives. */
export function setFields(root, texts) {
  for (const [name, text] of Object.entries(texts)) {
    const target = field(root, name);
    if (target.textContent !== text) target.textContent = text;
  }
}

/**
 * Makes the children of a container those of the items, by `id`. New ones are made from the template. Children that stay are
 * filled again and not moved, so that they keep the focus.
 */
export function syncList(container, items, template, fill) {
  const old = new Map([...container.children].map((child) => [child.dataset.id, child]));
  const children = items.map((item) => {
    const child = old.get(String(item.id)) ?? byId(template).content.firstElementChild.cloneNode(true);
    child.dataset.id = item.id;
    fill(child, item);
    return child;
  });
  for (const child of old.values()) if (!children.includes(child)) child.remove();
  for (const [position, child] of children.entries())
    if (container.children[position] !== child) container.insertBefore(child, container.children[position] ?? null);
}

const DAY_MS = 86_400_000;
const UNITS = [
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** Times are in milliseconds. */
export const exactText = (ms) => `${exact.format(ms)} UTC`;
export const dayText = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format;

/** Such as “in 5 minutes” or “3 hours ago”; a day for what is further away. */
export function nearText(ms) {
  const distance = ms - Date.now();
  if (Math.abs(distance) >= DAY_MS) return dayText(ms);
  const [unit, length] = UNITS.find(([, one]) => Math.abs(distance) >= one) ?? [];
  if (unit === undefined) return distance > 0 ? 'in less than a minute' : 'less than a minute ago';
  return relative.format(Math.trunc(distance / length), unit);
}

export const countText = (count, what) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
