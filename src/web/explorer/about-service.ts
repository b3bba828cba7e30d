// Says on the first screen which service this is, what it reads, what it never does, and whether its chains are up to date.

import { API_INFO } from '../../api/openapi.ts';
import type { NetworkRecord } from '../../api/responses.ts';
import { Refusal } from '../ask-api.ts';
import { type Html, html } from '../html.ts';
import { copyButton, explorerUrl } from '../parts.ts';
import { networkName } from '../status/chain-health.ts';
import type { ExplorerQuery } from './explorer-query.ts';

type Networks = readonly NetworkRecord[] | Refusal;

/** A warning unless every chain is up to date. */
export function renderFollowing(networks: Networks): Html {
  const [text, isGood] = followingText(networks);
  return html`<p class="following ${isGood ? 'soft' : 'notice trouble'}" data-part="following">${text} <a href="/status">Status</a></p>`;
}

function followingText(networks: Networks): readonly [text: string, isGood: boolean] {
  if (networks instanceof Refusal) return ['The state of the chains is not known now.', false];
  const [only] = networks;
  if (only === undefined) return ['This service follows no chain at the moment.', false];
  const ready = networks.filter((one) => one.ready).length;
  const isGood = ready === networks.length;
  if (networks.length > 1)
    return [`${isGood ? `All ${ready}` : `${ready} of ${networks.length}`} chains are up to date.`, isGood];
  const name = networkName(only);
  return isGood && only.head !== null
    ? [`${name} is up to date, at block ${only.head.number}.`, true]
    : [`${name} is not up to date.`, false];
}

export const renderTrust = (
  { origin, sandbox }: ExplorerQuery,
  networks: Networks,
): Html => html`<section class="trust" aria-labelledby="trust">
<h2 id="trust">About this service</h2>
<dl><dt>Service</dt><dd>${origin}${origin !== '' && ', '}version ${API_INFO.version}</dd>
${networks instanceof Refusal ? null : renderRegistries(networks, sandbox)}</dl>
<p>It never asks for a seed phrase or a private key, and it never moves anything: revocations are sent by the owner's own wallet.</p></section>`;

/** An address can be that of many chains. */
const renderRegistries = (networks: readonly NetworkRecord[], sandbox: boolean): readonly Html[] =>
  (['v2', 'v1'] as const).flatMap((version) => {
    const byAddress = Map.groupBy(networks, ({ registries }) => registries[version]);
    return [...byAddress].flatMap(([address, on]) =>
      address === null
        ? []
        : [
            html`<dt>Registry ${version}</dt><dd><span class="address">${address}</span> ${copyButton(address, `the address of registry ${version}`)} ${renderChains(address, on, sandbox)}</dd>`,
          ],
    );
  });

/** More would push what follows off the first screen. */
const MOST_CHAINS = 5;

function renderChains(address: string, on: readonly NetworkRecord[], sandbox: boolean): Html {
  const links = on.slice(0, MOST_CHAINS).map((network, index) => {
    const url = explorerUrl(sandbox, network.chainId, `address/${address}`);
    const name = networkName(network);
    const link = url === null ? name : html`<a href="${url}" rel="noreferrer noopener">${name} ↗</a>`;
    return html`${index > 0 && ', '}${link}`;
  });
  const others = on.length - links.length;
  return html`on ${links}${others > 0 && html` and <a href="/networks">${others} more</a>`}`;
}
