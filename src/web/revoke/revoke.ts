// Renders the page at /revoke, where an owner ends grants. The page prepares transactions; the owner's own wallet signs and
// sends them. Without JavaScript, it shows them to copy.

import { planRevocations } from '../../registry/revocation.ts';
import { ALL_VERSIONS, type Version } from '../../registry/versions.ts';
import { type FetchApi, Refusal } from '../ask-api.ts';
import { grantPaths } from '../grant/grant-query.ts';
import { grantText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { renderPage } from '../page.ts';
import { chainName, notice } from '../parts.ts';
import { fullAddress, renderOwner, renderSend, renderState } from '../sending/transactions.ts';
import { renderUnknown } from '../wallet/wallet-states.ts';
import { changesUrl, headUrl, readOtherChains } from './outgoing-grants.ts';
import { findChains, onlyChain, renderChains, renderGrants, walletForm } from './revoke-choose.ts';
import {
  type Asked,
  NEVER_ENDED,
  type OfOwner,
  renderElsewhere,
  renderKept,
  renderLeft,
  renderRevocations,
  renderStill,
} from './revoke-plan.ts';
import { isEmpty, type RevokeQuery, readRevokeQuery, revokePath } from './revoke-query.ts';
import { type Selection, selectGrants } from './revoke-selection.ts';

/** `now` in Unix seconds. */
export async function renderRevoke(
  queryText: string,
  chainIds: readonly number[],
  now: number,
  fetchApi: FetchApi,
): Promise<string> {
  const query = readRevokeQuery(queryText, chainIds);
  const faults = query.faults.map(({ parameter, detail }) => notice(`${parameter} ${detail}`));
  return renderPage(
    { title: 'Revoke access', path: '/revoke', styles: ['/revoke.css'], scripts: ['/labels.js', '/send.js'] },
    html`<h1>Revoke access</h1>${faults}${await renderContent(query, now, fetchApi)}`,
  );
}

async function renderContent(query: RevokeQuery, now: number, fetchApi: FetchApi): Promise<Html> {
  const { walletText, wallet } = query;
  if (wallet === null)
    return html`<p class="lead">Choose which wallets may no longer act for yours. You sign and send the transaction with your own wallet.</p>${walletForm(walletText)}`;
  return html`${renderOwner(wallet)}${await renderOfOwner({ ...query, wallet }, now, fetchApi)}`;
}

async function renderOfOwner(query: OfOwner, now: number, fetchApi: FetchApi): Promise<Html> {
  const { wallet, chainId, severalIds, chainIds, cursor } = query;
  // What is wrong with the query is settled before anything is prepared.
  const isGood = query.faults.length === 0;
  // The id of a grant belongs to one chain.
  const isOfSeveral = isGood && severalIds.length > 0 && query.grants.size === 0 && !isEmpty(query);
  if (chainId === null && !isOfSeveral) {
    const found = await findChains(query, chainIds, fetchApi);
    const only = isGood ? onlyChain(found) : null;
    return only === null ? renderChains(query, found) : renderOfOwner({ ...query, chainId: only }, now, fetchApi);
  }
  if (chainId === null) return renderPlans(query, severalIds, fetchApi);
  if (isEmpty(query))
    return html`${query.isSelection && notice('Nothing is selected. Tick at least one grant.')}${await renderGrants(wallet, chainId, now, fetchApi, cursor)}`;
  return renderPlans(query, [chainId], fetchApi);
}

type Prepared = Exclude<Awaited<ReturnType<typeof prepare>>, Refusal>;

/** What is to be ended on one chain, and by which transactions. */
async function prepare(asked: Asked, fetchApi: FetchApi) {
  const { wallet, chainId } = asked;
  // Before the grants are read: no change of them is missed.
  const changes = await changesUrl(wallet, chainId, fetchApi);
  const selection = await selectGrants(wallet, chainId, asked, fetchApi);
  if (selection instanceof Refusal) return selection;
  const { block, chosen, whole } = selection;
  const state = renderState({ action: 'revoke', wallet, chainId, block, changes, head: headUrl(wallet, chainId) });
  return { asked, selection, state, plan: planRevocations(wallet, chosen, whole) };
}

async function renderPlans(query: OfOwner, chosenIds: readonly number[], fetchApi: FetchApi): Promise<Html> {
  const { wallet, chainIds, everything } = query;
  const prepared: Prepared[] = [];
  const refused: Html[] = [];
  for (const chainId of chosenIds) {
    const one = await prepare({ ...query, chainId }, fetchApi);
    if (!(one instanceof Refusal)) prepared.push(one);
    else
      refused.push(
        notice(`Nothing was prepared, because the grants on ${chainName(chainId)} cannot be read: ${one.text}`),
      );
  }
  if (prepared.length === 0) return html`${refused}`;
  const losing = new Set([...query.wallets, ...[...query.grants.values()].map(({ to }) => to)]);
  for (const { selection } of prepared) for (const { to } of selection.chosen) losing.add(to);
  const others = chainIds.filter((id) => !chosenIds.includes(id));
  const elsewhere = renderElsewhere(
    query,
    await readOtherChains(wallet, everything ? 'all' : losing, others, fetchApi),
  );
  const count = prepared.reduce((sum, { plan }) => sum + plan.length, 0);
  const intro = html`${refused}${prepared.map(({ state, selection }) => html`${state}${renderAbsent(selection)}`)}`;
  const back = prepared.map(
    ({ asked: { chainId } }) =>
      html`<p><a href="${revokePath(wallet, chainId)}">All grants of this wallet on ${chainName(chainId)}</a></p>`,
  );
  const idle = prepared.filter(({ plan }) => plan.length === 0);
  const nothing = idle.map(
    ({ asked, selection }) => renderStill(asked, selection) ?? renderNothing(selection, asked.chainId),
  );
  const left = idle.map(({ asked, selection }) => renderLeft(asked, selection) ?? html``);
  if (count === 0)
    return html`${intro}${nothing}<section id="left"><h2>What is left</h2>${left}${elsewhere}</section>${back}`;
  let before = 0;
  const busy = prepared.filter(({ plan }) => plan.length > 0);
  const ends = busy.map(({ asked, selection, plan }) => {
    const { chainId } = asked;
    const cards = renderRevocations(plan, chainId, [before, count]);
    before += plan.length;
    return html`<h2>What this ends on ${chainName(chainId)}</h2><p class="soft">As of block ${selection.block}.</p>
${cards}${renderMore(selection)}${renderEquals(asked, selection)}`;
  });
  return html`${intro}${ends}
<section id="left"><h2>What this does not end</h2>
${busy.map(({ asked, selection }) => renderKept(asked, selection))}${left}${elsewhere}${NEVER_ENDED}</section>
<h2>Send it</h2>
${renderSend({ wallet: 'the wallet that owns these grants', until: 'the grants have ended', afterwards: renderUndo(busy) })}${back}`;
}

/** Leads to the page that grants again what this one ends. */
function renderUndo(prepared: readonly Prepared[]): Html {
  const links = prepared.flatMap(({ asked: { wallet, chainId }, selection }) => {
    const paths = grantPaths(wallet, chainId, selection.chosen);
    const where = prepared.length > 1 && ` on ${chainName(chainId)}`;
    return paths.map((path, position) => {
      const part = paths.length > 1 && ` part ${position + 1} of ${paths.length}`;
      return html`<a class="button plain" href="${path}">Undo${part}${where}</a>`;
    });
  });
  return html`<p>Ended by mistake? The next page grants again what this one listed, with your own wallet.</p><div class="actions">${links}</div>`;
}

/** A grant that is older than the index may be active. */
function renderNothing({ block, indexedFrom }: Selection, chainId: number): Html {
  if (indexedFrom !== null) return renderUnknown(chainId, indexedFrom);
  return html`<p class="notice yes" role="status"><strong>Nothing left to revoke.</strong> None of these grants is active on ${chainName(chainId)} as of block ${block}.</p>`;
}

function renderAbsent({ absent, block, indexedFrom }: Selection): Html | null {
  if (absent.length === 0) return null;
  const rows = absent.map((key) => html`<li>${fullAddress(key.to)} for ${grantText({ ...key, amount: null })}</li>`);
  const what =
    indexedFrom === null
      ? `Not active as of block ${block}: ended already`
      : `Not found as of block ${block}: granted before block ${indexedFrom}, ended already`;
  return html`<div class="notice"><p>${what}, or never granted.</p><ul>${rows}</ul></div>`;
}

function renderEquals({ wallet, chainId, ...choice }: Asked, { chosen, absent }: Selection): Html | null {
  const added = chosen.length - (choice.grants.size - absent.length);
  if (!choice.equals || added <= 0) return null;
  return html`<p class="soft">The same was granted more than once, so all of it ends. <a href="${revokePath(wallet, chainId, { ...choice, equals: false })}">Revoke only what you chose</a></p>`;
}

function renderMore({ more }: Selection): Html {
  const rest: { readonly [V in Version]: string } = {
    1: `This page lists 1,000 grants at most: ${more[1]} more in registry v1 are not listed. Those of a wallet whose v1 grants all end are ended too.`,
    2: `${more[2]} more grants in registry v2 are not part of these transactions. Come back for them afterwards.`,
  };
  return html`${ALL_VERSIONS.filter((version) => more[version] > 0).map((version) => notice(rest[version]))}`;
}
