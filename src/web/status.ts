// /status: how every chain stands, for people.

import { NETWORKS_OPERATION } from '../api/operations.ts';
import { problemText } from '../api/problems.ts';
import type { NetworkRecord } from '../api/responses.ts';
import { urlFor } from '../api/url.ts';
import { dateText } from './delegation.ts';
import type { Ask } from './explorer.ts';
import { type Html, html } from './html.ts';
import { pageText } from './page.ts';

export async function statusText(ask: Ask): Promise<string> {
  const response = await ask(urlFor(NETWORKS_OPERATION, {}));
  if (!response.ok) {
    const trouble = html`<p class="notice trouble" role="status">${await problemText(response)}</p>`;
    return pageText(
      { title: 'Status', path: '/status', live: true },
      html`<h1>Status</h1><div data-part="chains">${trouble}</div>`,
    );
  }
  const networks = (await response.json()) as NetworkRecord[];
  const ready = networks.filter((one) => one.ready).length;
  return pageText(
    { title: 'Status', path: '/status', live: true },
    html`<h1>Status</h1>
<div data-part="chains"><p class="lead">${networks.length === 0 ? 'No chain is followed yet.' : `${ready} of ${networks.length} ${networks.length === 1 ? 'chain' : 'chains'} answer${ready === 1 ? 's' : ''} at the newest block.`}</p>
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
    ? html`<span class="badge good">answers</span>`
    : html`<span class="badge bad">${halt === null ? 'not up to date' : 'halted'}</span>`;
  const row = (label: string, value: Html | string) => html`<dt>${label}</dt><dd>${value}</dd>`;
  const left =
    progress?.secondsLeft == null || share >= 1 ? '' : `, about ${Math.ceil(progress.secondsLeft / 60)} min left`;
  return html`<section class="card" aria-label="${name ?? String(chainId)}"><h2>${name ?? String(chainId)} <span class="soft">${chainId}</span> ${state}</h2>
<label class="progress">History read <progress max="100" value="${percent}">${percent} %</progress> <span>${percent} %${left}</span></label>
${halt === null ? '' : html`<p class="notice trouble"><strong>${halt.code}</strong> since ${dateText(halt.since)}. ${halt.cause} ${halt.help}</p>`}
${clockBehindSeconds === 0 ? '' : html`<p class="notice trouble">The clock of this machine is ${String(clockBehindSeconds)} seconds behind the chain: check NTP.</p>`}
<dl>${row('Newest block', head === null ? '–' : html`${head.number} <span class="soft">${dateText(head.timestamp)}</span>`)}
${row('Of the chain', chainBlock === null ? '–' : String(chainBlock))}
${row('Final', finalizedBlock === null ? '–' : String(finalizedBlock))}
${row('Confirmed by a second node', confirmedText(network))}
${row('Age', lagSeconds === null ? '–' : `${Math.round(lagSeconds)} s, at most ${maxLagSeconds} s`)}
${partial ? row('Indexed from', `block ${firstBlock}: what was granted before is unknown`) : ''}
${progress === null ? '' : row('Nodes', html`${progress.providers.map(({ name: node, healthy }) => html`<span class="badge ${healthy ? 'good' : 'bad'}">${node} ${healthy ? 'well' : 'ailing'}</span> `)}`)}
${progress === null ? '' : row('Audit', `${progress.audited} final blocks and ${progress.compared} answers of the registry compared since the start`)}</dl></section>`;
}

/** How much of the final history two nodes have told alike. */
function confirmedText({ firstBlock, finalizedBlock, confirmedBlock, progress }: NetworkRecord): string {
  if (firstBlock === null || finalizedBlock === null) return 'nothing is final yet';
  if (confirmedBlock === null)
    return progress?.providers.length === 1 ? 'no: there is only one node to ask' : 'nothing yet';
  const percent = Math.floor((100 * (confirmedBlock - firstBlock + 1)) / (finalizedBlock - firstBlock + 1));
  return `${percent >= 100 ? 'all' : `${percent} %`} of the final history, up to block ${confirmedBlock}`;
}
