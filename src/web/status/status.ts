// Renders the status page at /status: one sentence about all chains, and the state of each, with details for the operator.

import { NETWORKS_OPERATION } from '../../api/operations.ts';
import type { NetworkRecord } from '../../api/responses.ts';
import { askApi, type FetchApi, Refusal } from '../ask-api.ts';
import { type Html, html } from '../html.ts';
import { renderPage } from '../page.ts';
import { dateText, durationText } from '../time-text.ts';
import { backfillPercent, confirmedText, healthOf, networkName, provenText, summaryOf } from './chain-health.ts';
import { renderLag } from './lag-line.ts';

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
<div class="cards">${networks.map(renderChain)}</div>
${networks.some(({ lagHistory }) => lagHistory !== null) && html`<p class="soft">The dashed lines are the limits of the lag. A bar is an hour: high if the lag was above the limit in it, flat if it was not measured.</p>`}`;

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

function renderChain(network: NetworkRecord): Html {
  const { chainId, ready, head, lagSeconds, partial, firstBlock } = network;
  const { badge, detail } = healthOf(network);
  const name = networkName(network);
  const percent = backfillPercent(network);
  const age = lagSeconds !== null && html` <span class="soft">${durationText(lagSeconds)} ago</span>`;
  return html`<section class="card chain" id="chain-${chainId}" aria-labelledby="chain-${chainId}-name">
<h2><span id="chain-${chainId}-name">${name}</span> <span class="soft">chain ${chainId}</span> <span class="badge ${ready ? 'good' : 'bad'}">${badge}</span></h2>
${detail !== '' && html`<p class="notice trouble">${detail}</p>`}
${percent !== null && html`<label class="backfill">Indexed <progress max="100" value="${percent}">${percent} %</progress></label>`}
${partial && html`<p class="notice">Indexed from block ${String(firstBlock)}. What was delegated before is unknown, and missing in its answers.</p>`}
<dl>${row('Newest indexed block', head === null ? 'None yet' : html`${head.number}${age}`)}
${row('Proven', provenText(network))}
${row('Confirmed by a second provider', confirmedText(network))}</dl>
${renderLag(network)}
${operatorDetails(network)}</section>`;
}

const row = (label: string, value: Html | string) => html`<dt>${label}</dt><dd>${value}</dd>`;

function operatorDetails(network: NetworkRecord): Html {
  const { chainId, head, chainBlock, finalizedBlock, firstBlock, lagSeconds, maxLagSeconds, progress } = network;
  const block = (number: number | null) => (number === null ? 'Unknown' : String(number));
  const lag = lagSeconds === null ? 'Unknown' : durationText(lagSeconds);
  return html`<details id="chain-${chainId}-operator"><summary>Details for the operator</summary>
${operatorTrouble(network)}
<dl>${row('Lag', `${lag} (answers are refused above ${durationText(maxLagSeconds)})`)}
${row('Block time', head === null ? 'Unknown' : dateText(head.timestamp))}
${row('Chain head', block(chainBlock))}
${row('Finalized block', block(finalizedBlock))}
${row('First block', block(firstBlock))}
${progress === null ? row('Follower', 'This process has no status of a follower') : followerRows(progress)}</dl></details>`;
}

const operatorTrouble = ({ halt, clockBehindSeconds }: NetworkRecord): Html =>
  html`${halt !== null && html`<p><strong>${halt.code}</strong> since ${dateText(halt.since)}. ${halt.cause} ${halt.help}</p>`}
${clockBehindSeconds !== 0 && html`<p>This machine's clock is ${durationText(clockBehindSeconds)} behind the chain: check NTP.</p>`}`;

type Progress = NonNullable<NetworkRecord['progress']>;

const failingText = ({ cause, since, ticks }: NonNullable<Progress['failing']>) =>
  `${cause}: ${ticks === 1 ? 'one step' : `${ticks} steps`} since ${dateText(since)}`;
const followerRows = ({ failing, providers, audited, compared, logsPerSecond }: Progress) => html`
${failing !== null && row('Follower fails', failingText(failing))}
${row('Providers', html`${providers.map(({ name, healthy, cause }) => html`<span class="badge ${healthy ? 'good' : 'bad'}">${name} ${healthy ? 'healthy' : `unhealthy: ${cause}`}</span> `)}`)}
${row('Indexing', `${logsPerSecond} logs a second`)}
${row('Audit', `${audited} final blocks and ${compared} registry answers compared since start`)}`;
