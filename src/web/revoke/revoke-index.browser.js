// Asks the service what the index shows of the grants on the revoke page.

import { byId } from './dom.js';

/** Empty on a page without transactions. */
export const REVOCATION = byId('revocation')?.dataset ?? {};
export const NETWORK = REVOCATION.network;
const EVERY_MS = 1000;
export const sleep = () => new Promise((resolve) => setTimeout(resolve, EVERY_MS));

/** What stopped it, in words for the owner. */
export class Stopped extends Error {}

/** The amounts of the grants in a part of a page, by id. */
export const grantsIn = (element) =>
  new Map([...element.querySelectorAll('[data-grant]')].map(({ dataset }) => [dataset.grant, dataset.amount]));

/** The newest block of the index. Caches may keep the answer until the next block is due. */
export async function readHead() {
  const response = await fetch(REVOCATION.head, { cache: 'no-store' });
  const body = await response.json();
  if (!response.ok) throw new Stopped(`This service cannot answer for ${NETWORK} now: ${body.detail}`);
  return body.chains[0].block;
}

/** Which grants of this page are active now, and the block; null if the service cannot say. */
export async function readActive() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => null);
  if (!response?.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const block = page.getElementById('revocation')?.dataset.block;
  return block === undefined ? null : { block: Number(block), grants: grantsIn(page) };
}

/** Calls `show` with what is active after every change of the owner's grants. */
export function watchGrants(show) {
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
