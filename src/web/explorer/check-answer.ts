// Renders the answer to a check between two wallets: the verdict, why, and a command that gives the same answer.

import { HISTORY } from '../../api/any-operations.ts';
import type { ResponseOf } from '../../api/operation.ts';
import { type Explanation, isGranted } from '../../api/responses.ts';
import { anyUrl, type CheckOptions, checkUrl, type UncheckedQuestion } from '../../api/url.ts';
import { checksummed } from '../../registry/checksum.ts';
import { type Address, MAX_UINT256 } from '../../registry/delegation.ts';
import { isRightsParam, TEXT_PREFIX } from '../../registry/rights.ts';
import { SCOPES, type ScopeOf } from '../../registry/scopes.ts';
import { addressFault } from '../address-input.ts';
import { askUrl, type FetchApi, Refusal } from '../ask-api.ts';
import { delegationOf } from '../grant-id.ts';
import { grantText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { tokenName, walletName } from '../names/name-slots.ts';
import { copyButton, notice, shortAddress } from '../parts.ts';
import { FIELD_NAMES } from '../problem-words.ts';
import { dateText } from '../time-text.ts';
import { chosenChain, isScope, SCOPE_TEXTS } from './explorer-forms.ts';
import { type ExplorerQuery, entered, pointInTime, pointInTimeFault, pointInTimeText } from './explorer-query.ts';
import { renderProve } from './prove-answer.ts';

export async function renderAnswer(query: ExplorerQuery, fetchApi: FetchApi): Promise<Html | null> {
  const isAsked = entered(query, 'from') !== '' || entered(query, 'to') !== '';
  // A misspelt parameter would be left out, and another question answered.
  if (!isAsked || query.faults.length > 0) return null;
  const type = entered(query, 'type') || 'all';
  if (!isScope(type)) return notice(`type must be one of ${Object.keys(SCOPE_TEXTS).join(', ')}`);
  const dateFault = pointInTimeFault(entered(query, 'at'), query.now);
  const faults = [...addressFaults(query, type), ...(dateFault === null ? [] : [dateFault])];
  if (faults.length > 0) return html`${faults.map(notice)}`;
  const question = questionOf(query, type);
  const options = { chainId: chosenChain(query), ...pointInTime(entered(query, 'at')) };
  const command = commandOf(`${query.origin}${checkUrl(question, options)}`);
  const url = checkUrl(question, { ...options, explain: 'true', numbers: 'string' });
  const explained = await askUrl<Explanation>(fetchApi, url);
  if (explained instanceof Refusal) return html`${notice(explained.text)}${command}`;
  const mayAct = isGranted(explained);
  const why = mayAct ? renderWhy(explained) : await renderInstead(question, options, fetchApi);
  return html`<section class="verdict ${mayAct ? 'yes' : 'no'}" aria-label="Answer">
<p class="said" data-announce="verdict"><strong>${mayAct ? 'Yes' : 'No'}.</strong> ${verdictText(question, explained, isPast(options))}</p>
<dl class="wallets"><dt>Hot wallet</dt><dd>${fullLink(question.to)}</dd><dt>Cold wallet</dt><dd>${fullLink(question.from)}</dd>${contractLine(question, options.chainId)}</dl>
${why}
${renderWhen(query, explained, options)}</section>
<h2>The same answer from the API</h2>${command}
${renderProve(query, question, options.chainId, explained)}`;
}

/** What is wrong with the addresses that the question needs. */
const addressFaults = (query: ExplorerQuery, type: ScopeOf<2>): string[] =>
  (['to', 'from', 'contract'] as const).flatMap((name) => {
    if (name === 'contract' && !SCOPES[type].needsContract) return [];
    const text = entered(query, name);
    const fault = text === '' ? 'Enter an address.' : addressFault(text);
    return fault === null ? [] : [`${FIELD_NAMES[name]}: ${fault}`];
  });

function questionOf(query: ExplorerQuery, scope: ScopeOf<2>): UncheckedQuestion {
  const { needsContract, needsTokenId } = SCOPES[scope];
  const rights = entered(query, 'rights');
  const address = (name: 'to' | 'from' | 'contract') => checksummed(entered(query, name).toLowerCase() as Address);
  return {
    version: 'any',
    scope,
    to: address('to'),
    from: address('from'),
    contract: needsContract ? address('contract') : undefined,
    tokenId: needsTokenId ? entered(query, 'tokenId') : undefined,
    rights: rights === '' ? undefined : isRightsParam(rights) ? rights : `${TEXT_PREFIX}${rights}`,
  };
}

const fullLink = (address: string): Html =>
  html`<a class="address" href="/?wallet=${address}">${address}</a> ${walletName(address)}`;

const contractLine = ({ contract }: UncheckedQuestion, chainId: string): Html | null =>
  contract === undefined
    ? null
    : html`<dt>Contract</dt><dd><span class="address">${contract}</span> ${tokenName(Number(chainId), contract)}</dd>`;

const isPast = ({ block, timestamp }: CheckOptions) => block !== undefined || timestamp !== undefined;

function commandOf(url: string): Html {
  const command = `curl '${url}'`;
  return html`<div class="copied"><pre><code>${command}</code></pre>${copyButton(command, 'the command')}</div>`;
}

/** What the check has found, in a sentence. */
function verdictText(question: UncheckedQuestion, explained: Explanation, isOfPast: boolean): string {
  const verb = `${isOfPast ? 'could' : 'may'}${isGranted(explained) ? '' : ' not'} act`;
  const { to, from, rights } = question;
  const right = rights === undefined ? '' : `, with the right “${rights.replace(TEXT_PREFIX, '')}”`;
  return `${shortAddress(to)} ${verb} for ${shortAddress(from)} ${objectText(question, explained)}${right}.`;
}

/** What it may use, with the amount that is granted. */
function objectText({ scope, contract = '', tokenId }: UncheckedQuestion, explained: Explanation): string {
  const { needsContract, needsTokenId, answersBalance } = SCOPES[scope];
  if (!needsContract) return 'with the whole wallet';
  const token = needsTokenId ? `token ${tokenId} of ` : '';
  const most = String(explained.result) === String(MAX_UINT256) ? 'any amount' : `up to ${explained.result}`;
  const amount = answersBalance && isGranted(explained) ? `${most} of ` : '';
  return `with ${amount}${token}contract ${shortAddress(contract)}`;
}

function renderWhy({ delegations }: Explanation): Html {
  const grants = delegations.map(
    (one) =>
      html`<li>${grantText(delegationOf(one), false)}, granted on ${dateText(one.since.timestamp)} (block ${one.since.block})</li>`,
  );
  const isOnlyV1 = delegations.every((one) => 'version' in one && one.version === 1);
  return html`<ul>${grants}</ul>${isOnlyV1 && html`<p>Contracts that ask only registry v2 do not see it.</p>`}`;
}

type History = ResponseOf<typeof HISTORY>;
type Grants = History['grants'];

/** Grants that are read of the cold wallet. Of one with more, nothing is said. */
const MAX_GRANTS = 1000;
/** Ends of grants at which the question is asked again. */
const MAX_ENDS = 5;

/** After a "no": until when the answer was yes, and what the wallet may use instead. */
async function renderInstead(question: UncheckedQuestion, options: CheckOptions, fetchApi: FetchApi): Promise<Html> {
  const grants = await grantsOfPair(question, options, fetchApi);
  const live = grants.filter(({ until }) => until === null);
  const end = await lastYes(question, options, grants, fetchApi);
  const items = live.map((one) => html`<li>${grantText(delegationOf(one), false)}</li>`);
  return html`<p>No delegation in either registry grants this.</p>
${end !== null && html`<p>It was “yes” until ${dateText(end.timestamp)} (block ${end.block}).</p>`}
${items.length > 0 && html`<p>It is granted only:</p><ul>${items}</ul>`}`;
}

async function grantsOfPair({ from, to }: UncheckedQuestion, options: CheckOptions, fetchApi: FetchApi) {
  const values = { wallet: from, direction: 'outgoing', limit: MAX_GRANTS, numbers: 'string', ...options };
  const answer = await askUrl<History>(fetchApi, anyUrl(HISTORY, values));
  if (answer instanceof Refusal || answer.next !== null) return [];
  return answer.grants.filter((one) => one.to.toLowerCase() === to.toLowerCase());
}

/** The newest end of a grant before which the answer was yes. The API itself is asked, so that it decides what grants what. */
async function lastYes(question: UncheckedQuestion, { chainId }: CheckOptions, grants: Grants, fetchApi: FetchApi) {
  const ends = grants.flatMap(({ until }) => until ?? []).sort((a, b) => b.block - a.block);
  for (const end of ends.slice(0, MAX_ENDS)) {
    const asked = { chainId, block: String(end.block - 1), explain: 'true', numbers: 'string' } as const;
    const answer = await askUrl<Explanation>(fetchApi, checkUrl(question, asked));
    if (!(answer instanceof Refusal) && isGranted(answer)) return end;
  }
  return null;
}

/** Names the block, and links to the answer as of it, or to the answer now. */
function renderWhen(query: ExplorerQuery, { block }: Explanation, options: CheckOptions): Html {
  const time = block.timestamp !== null && `, ${dateText(block.timestamp)}`;
  const linkAt = (at: string) =>
    `/?${new URLSearchParams([...new Map([...query.values, ['at', at]])].filter(([, value]) => value !== ''))}`;
  const link = linkAt(String(block.number));
  const other = isPast(options)
    ? html`<a href="${linkAt('')}">Ask about now</a>`
    : html`<a href="${link}">Link to this answer</a>`;
  const when =
    options.timestamp === undefined
      ? html`As of block ${block.number}`
      : html`As of ${pointInTimeText(String(options.timestamp))}: block ${block.number}`;
  return html`<p class="soft">${when}${time}. ${other} <button type="button" class="copy" data-copy="${query.origin}${link}">Copy link</button></p>`;
}
