// A card for each wallet that may act for this one: what it can do at worst, since when, and the way to end all of it. Grants of the
// same power in both registries, or on several chains, are one.

import { expiryText } from '../../registry/expiry-text.ts';
import { oldBadge, riskOf } from '../grant-risk.ts';
import { type Html, html } from '../html.ts';
import { chainName, copyButton, countText, shortAddress, shortened } from '../parts.ts';
import { revokePath } from '../revoke/revoke-query.ts';
import { durationText } from '../time-text.ts';
import { type Grant, isToItself } from './grant.ts';
import { scopeText } from './graph.ts';
import type { Side } from './wallet-reader.ts';
import type { WalletView } from './wallet-view.ts';

/** The others are in the table. */
const MOST_CARDS = 6;

export function renderHotWallets(view: WalletView, { grants, next }: Side): Html | null {
  if (view.asOf !== '') return null;
  const others = grants.filter((grant) => !isToItself(grant));
  const wallets = [...Map.groupBy(others, ({ to }) => to)].map(([to, its]) => summaryOf(to, its));
  // In a list that was not read to its end, what was not read can be worse than all but the worst.
  const known = next === null ? wallets : wallets.filter(({ risk }) => risk === 0);
  if (known.length === 0) return null;
  const shown = known.toSorted((a, b) => a.risk - b.risk || b.newest - a.newest).slice(0, MOST_CARDS);
  const more = known.length - shown.length;
  return html`<h2>Who may act for it</h2><ul class="cards hots">${shown.map((one) => renderCard(view, one))}</ul>
${more > 0 && html`<p class="soft">${countText(more, 'more wallet')}, none more dangerous than these, ${more === 1 ? 'is' : 'are'} in the table below.</p>`}
${next !== null && html`<p class="soft">Only wallets without any limit have a card: this wallet has very many grants.</p>`}`;
}

function summaryOf(to: string, grants: readonly Grant[]) {
  const riskIn = (grant: Grant) => riskOf(grant, grant.type);
  const risk = Math.min(...grants.map(riskIn));
  const times = grants.map(({ since }) => since.timestamp);
  const worst = grants.filter((grant) => riskIn(grant) === risk);
  return { to, risk, worst, grants, newest: Math.max(...times), oldest: Math.min(...times) };
}

type HotWallet = ReturnType<typeof summaryOf>;

/** Powers that are named. */
const MOST_NAMED = 2;

function renderCard(view: WalletView, { to, risk, worst, grants, oldest }: HotWallet): Html {
  const chains = [...new Set(grants.map(({ chainId }) => chainId))];
  const byRisk = grants.toSorted((a, b) => riskOf(a, a.type) - riskOf(b, b.type));
  const powers = [...new Set(byRisk.map((grant) => powerText(grant, view.now)))];
  // The sentence says the whole wallet already.
  const named = powers.slice(risk === 0 ? 1 : 0);
  const more = named.length - MOST_NAMED;
  const lines = named.slice(0, MOST_NAMED).map((one) => html`<li>${one}</li>`);
  const short = shortAddress(to);
  const chainId = chains.length === 1 ? (chains[0] as number) : null;
  const end = revokePath(view.wallet, chainId, { wallets: new Set([to]) });
  return html`<li class="card${risk === 0 && ' dangerous'}" data-key="hot.${to}"><p><a class="address" href="/?wallet=${to}">${shortened(to, short)}</a> ${copyButton(to, `address ${short}`)} ${powerSentence(view, risk, worst)}.</p>
${named.length > 0 && html`<p class="soft">${risk === 0 ? 'Also granted' : 'It may act for'}:</p><ul>${lines}${more > 0 && html`<li>and ${more} more</li>`}</ul>`}
${oldBadge(oldest, view.now)}<p><a class="button danger small" href="${end}" aria-label="Revoke all of it: ${short}">Revoke all of it</a></p></li>`;
}

/** The same in both registries has the same text. */
const powerText = (grant: Grant, now: number) =>
  `${scopeText(grant)}${grant.expires === null ? '' : `, ${expiryText(grant.expires, now)}`}`;

/** What it can do at worst, where, and since when: "can do everything, in both registries, for 29 days now". */
function powerSentence(view: WalletView, risk: number, worst: readonly Grant[]): Html {
  const of = new Set(worst.map(({ chainId, contract }) => `${chainId}.${contract}`)).size;
  const power = [
    'can do everything',
    `can use any amount of ${of === 1 ? 'a token' : `${of} tokens`}`,
    `can do everything in ${of === 1 ? 'a contract' : `${of} contracts`}`,
    `has ${countText(worst.length, 'limited grant')}`,
  ][risk];
  const versions = [...new Set(worst.map(({ version }) => version))];
  const registries =
    versions.length === 1
      ? `in registry v${versions[0]}`
      : versions.length === 2
        ? 'in both registries'
        : 'in all registries';
  const chains = [...new Set(worst.map(({ chainId }) => chainId))];
  const where =
    chains.length > MOST_CHAINS ? `on ${chains.length} chains` : `on ${chains.map(chainName).join(' and ')}`;
  const since = Math.min(...worst.map(({ since: { timestamp } }) => timestamp));
  const time = view.now - since < 60 ? 'less than a minute' : durationText(view.now - since);
  return html`<strong${risk === 0 && html` class="danger"`}>${power}</strong>, ${registries}${view.allChainIds.length > 1 && ` ${where}`}, for ${time} now`;
}

const MOST_CHAINS = 2;
