// Names on pages: one that a visitor entered in place of an address, and those beside the addresses that a page shows. No answer of the
// API has or takes a name.

import { shorten } from '../../api/query.ts';
import { looksLikeName } from '../../chain/names/ens.ts';
import type { Resolved } from '../../chain/names/name-reader.ts';
import { checksummed } from '../../registry/checksum.ts';
import { findAddress } from '../../web/address-input.ts';
import { type Html, html } from '../../web/html.ts';
import { askedNames, withNames } from '../../web/names/name-slots.ts';
import { notice } from '../../web/parts.ts';
import type { Call } from '../context/service.ts';
import { countedAs } from '../limits/shares.ts';

/** The fields of pages that take an address. */
const FIELDS = ['wallet', 'from', 'to', 'contract'] as const;

/** The page with the names that are known by the time. */
export async function pageWithNames(page: string, { service: { names }, caller }: Call): Promise<string> {
  if (names === undefined) return page;
  const asked = askedNames(page);
  if (asked.wallets.length + asked.tokens.length === 0) return page;
  return withNames(page, await names.find(asked, countedAs(caller())));
}

/**
 * Where to go if names were entered: to the page of their addresses, which from then on are what counts. If one has no address, what to
 * say about it.
 */
export async function resolveEntered(path: string, call: Call): Promise<Response | Html> {
  const { query, service, caller } = call;
  const { names } = service;
  const values = new URLSearchParams(query);
  const entered = FIELDS.map((field) => [field, findAddress(values.get(field)?.trim() ?? '')] as const).filter(
    ([, text]) => looksLikeName(text),
  );
  if (names === undefined || entered.length === 0) return html``;
  const found = await Promise.all(
    entered.map(async ([field, text]) => [field, text, await names.resolve(text, countedAs(caller()))] as const),
  );
  const notices: Html[] = [];
  for (const [field, text, resolved] of found) {
    if (resolved.type === 'address') values.set(field, checksummed(resolved.address));
    else notices.push(notice(whyNot(shorten(text), resolved.type)));
  }
  if (notices.length > 0) return html`${notices}`;
  // A name can get another address at any time.
  const headers = { location: `${path}?${values}`, 'cache-control': 'no-store' };
  return new Response(null, { status: 302, headers });
}

const whyNot = (name: string, type: Exclude<Resolved['type'], 'address'>): string =>
  ({
    invalid: `“${name}” is not a name that anybody can have. Paste the address.`,
    unknown: `No address was found for “${name}”. Paste the address.`,
    unavailable: `“${name}” could not be looked up: no provider of Ethereum answered in time. Try again, or paste the address.`,
  })[type];
