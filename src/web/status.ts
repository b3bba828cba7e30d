// Renders the status page at /status: the state of every chain.

import { NETWORKS_OPERATION } from '../api/operations.ts';
import { problemText } from '../api/problems.ts';
import type { NetworkRecord } from '../api/responses.ts';
import { urlFor } from '../api/url.ts';
import { dateText } from './delegation.ts';
import type { FetchApi } from './explorer-query.ts';
import { type Html, html } from './html.ts';
import { renderPage } from './page.ts';

export async function renderStatus(fetchApi: FetchApi): Promise<string> {
  const response = await fetchApi(urlFor(NETWORKS_OPERATION, {}));
  if (!response.ok) {
    const trouble = html`<p class="notice trouble" role="status">${await problemText(response)}</p>`;
    return renderPage(
      { title: 'Status', path: '/status', live: true },
      html`<h1>Status</h1><div data-part="chains">${trouble}</div>`,
    );
  }
  const networks = (await response.json()) as NetworkRecord[];
  const ready = networks.filter((one) => one.ready).length;
  return renderPage(
    { title: 'Status', path: '/status', live: true },
    html`<h1>Status</h1>
<div data-part="chains"><p class="lead">${networks.length === 0 ? 'This service follows no chains yet.' : `${ready} of ${networks.length} chains ready.`}</p>
<div class="cards">${networks.map(card)}</div></div>`,
  );
}

function card(network: NetworkRecord): Html {
  const {
    chainId,
    name,
    ready,
    head,
    chainBlock,
    finalizedBlock,
    lagSeconds,
    maxLagSeconds,
    clockBehindSeconds,
    halt,
    partial,
    firstBlock,
    progress,
  } = network;
  const share = progress?.share ?? (ready ? 1 : 0);
  const percent = Math.floor(share * 1000) / 10;
  const state = ready
    ? html`<span class="badge good">ready</span>`
    : html`<span class="badge bad">${halt === null ? 'not ready' : 'halted'}</span>`;
  const row = (label: string, value: Html | string) => html`<dt>${label}</dt><dd>${value}</dd>`;
  const left =
    progress?.secondsLeft == null || share >= 1 ? '' : `, about ${Math.ceil(progress.secondsLeft / 60)} min left`;
  return html`<section class="card" aria-label="${name ?? String(chainId)}"><h2>${name ?? String(chainId)} <span class="soft">${chainId}</span> ${state}</h2>
<label class="progress">Backfill <progress max="100" value="${percent}">${percent} %</progress> <span>${percent} %${left}</span></label>
${halt === null ? '' : html`<p class="notice trouble"><strong>${halt.code}</strong> since ${dateText(halt.since)}. ${halt.cause} ${halt.help}</p>`}
${clockBehindSeconds === 0 ? '' : html`<p class="notice trouble">This machine's clock is ${String(clockBehindSeconds)} seconds behind the chain: check NTP.</p>`}
<dl>${row('Indexed block', head === null ? '–' : html`${head.number} <span class="soft">${dateText(head.timestamp)}</span>`)}
${row('Chain head', chainBlock === null ? '–' : String(chainBlock))}
${row('Finalized block', finalizedBlock === null ? '–' : String(finalizedBlock))}
${row('Confirmed by a second provider', confirmedText(network))}
${row('Lag', lagSeconds === null ? '–' : `${Math.round(lagSeconds)} s (maximum ${maxLagSeconds} s)`)}
${partial ? row('Indexed from', `block ${firstBlock}; earlier delegations are unknown`) : ''}
${progress === null ? '' : row('Providers', html`${progress.providers.map(({ name: node, healthy, cause }) => html`<span class="badge ${healthy ? 'good' : 'bad'}">${node} ${healthy ? 'healthy' : `unhealthy: ${cause}`}</span> `)}`)}
${progress === null ? '' : row('Audit', `${progress.audited} final blocks and ${progress.compared} registry answers compared since start`)}</dl></section>`;
}

/** How much of the final history two providers agree on. */
function confirmedText({ firstBlock, finalizedBlock, confirmedBlock, progress }: NetworkRecord): string {
  if (firstBlock === null || finalizedBlock === null) return 'no final block yet';
  if (confirmedBlock === null)
    return progress?.providers.length === 1 ? 'no: only one provider is configured' : 'not yet';
  const percent = Math.floor((100 * (confirmedBlock - firstBlock + 1)) / (finalizedBlock - firstBlock + 1));
  return `${percent >= 100 ? 'all' : `${percent} %`} of final history, up to block ${confirmedBlock}`;
}
