// Renders the status page at /status: one sentence about all chains, and the state of each.

import { NETWORKS_OPERATION } from '../../api/operations.ts';
import type { NetworkRecord } from '../../api/responses.ts';
import { askApi, type FetchApi, Refusal } from '../ask-api.ts';
import { type Html, html } from '../html.ts';
import { renderPage } from '../page.ts';
import { renderChain } from './chain-card.ts';
import { summaryOf } from './chain-health.ts';

export async function renderStatus(fetchApi: FetchApi): Promise<string> {
  const networks = await askApi(fetchApi, NETWORKS_OPERATION, {});
  return renderPage(
    { title: 'Status', path: '/status', live: true, styles: ['/status.css'] },
    html`<h1>Status</h1>
<div data-part="chains">${networks instanceof Refusal ? unknown(networks.text) : renderChains(networks)}</div>`,
  );
}

const renderChains = (networks: readonly NetworkRecord[]): Html =>
  html`${summary(summaryOf(networks), toneOf(networks))}
<div class="cards">${networks.map(renderChain)}</div>`;

const unknown = (problem: string) =>
  summary(`The state of the chains is not known now. ${problem} Answers are refused until this is resolved.`, 'no');

/** Nothing can be asked of a service without a chain that is up to date. */
function toneOf(networks: readonly NetworkRecord[]): Tone {
  const ready = networks.filter((one) => one.ready).length;
  if (ready === 0) return 'no';
  return ready === networks.length ? 'yes' : 'trouble';
}

type Tone = 'yes' | 'trouble' | 'no';

const summary = (text: string, tone: Tone) =>
  html`<p class="said notice ${tone} summary" id="summary" data-announce="summary">${text}</p>`;
