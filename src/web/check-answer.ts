// Renders the answer to a check between two wallets.

import { problemText } from '../api/problems.ts';
import { type Explanation, isGranted } from '../api/responses.ts';
import { type CheckOptions, checkUrl, type UncheckedQuestion } from '../api/url.ts';
import { isRightsParam, rightsLabel, rightsOf } from '../registry/rights.ts';
import { SCOPES, type Scope, type ScopeOf } from '../registry/scopes.ts';
import { dateText, describeScope } from './delegation.ts';
import { SCOPE_TEXTS } from './explorer-forms.ts';
import { type ExplorerQuery, type FetchApi, pointInTime } from './explorer-query.ts';
import { type Html, html } from './html.ts';
import { notice } from './notice.ts';

export async function renderAnswer(query: ExplorerQuery, fetchApi: FetchApi): Promise<Html> {
  const { values, origin } = query;
  const value = (name: string) => values.get(name)?.trim() ?? '';
  if (value('from') === '' && value('to') === '') return html``;
  const type = value('type');
  const scope = Object.hasOwn(SCOPE_TEXTS, type) ? (type as ScopeOf<2>) : 'all';
  const { needsContract, needsTokenId } = SCOPES[scope];
  const rights = value('rights');
  const question: UncheckedQuestion = {
    version: 2,
    scope,
    to: value('to'),
    from: value('from'),
    contract: needsContract ? value('contract') : undefined,
    tokenId: needsTokenId ? value('tokenId') : undefined,
    // The API refuses an invalid right.
    rights: rights === '' ? undefined : isRightsParam(rights) ? rights : (rightsOf(rights) ?? rights),
  };
  const options = { chainId: value('chainId') || undefined, ...pointInTime(value('at')) };
  const line = html`<pre><code>curl '${origin}${checkUrl(question, options)}'</code></pre>`;
  const response = await fetchApi(checkUrl(question, { ...options, explain: 'true', numbers: 'string' }));
  if (!response.ok) return html`${notice(await problemText(response))}${line}`;
  const explained = (await response.json()) as Explanation;
  const { result, delegations, block } = explained;
  const older = await checkV1(question, options, fetchApi);
  const mayAct = isGranted(explained) || older;
  const when = `at block ${block.number}${block.timestamp === null ? '' : `, ${dateText(block.timestamp)}`}`;
  const amount = result === ANY_AMOUNT ? 'any amount' : `up to ${result} base units`;
  const said = !mayAct ? 'No' : typeof result === 'string' && result !== '0' ? `Yes, ${amount}` : 'Yes';
  const grants = delegations.map((one) => {
    const right = rightsLabel(one.rights, dateText);
    return html`<li>${describeScope(one)}${right === null ? '' : html`, only for “${right}”`}, since ${dateText(one.since.timestamp)} (block ${one.since.block})</li>`;
  });
  const old = older ? html`<li>Granted in registry v1. Contracts that check only v2 do not see it.</li>` : html``;
  const why = mayAct ? html`<ul>${grants}${old}</ul>` : html`<p>No delegation in either registry grants this.</p>`;
  return html`<div class="notice ${mayAct ? 'yes' : 'no'}" role="status"><strong>${said}</strong>, ${when}.${why}</div>${line}`;
}

const ANY_AMOUNT = String(2n ** 256n - 1n);
/** The v1 check that answers what a check of v2 asks. */
const OLDER: Readonly<Partial<Record<Scope, ScopeOf<1>>>> = { all: 'all', contract: 'contract', erc721: 'token' };

/** Whether the v1 registry grants it. It has no rights, so a question with one is not asked. */
async function checkV1(question: UncheckedQuestion, options: CheckOptions, fetchApi: FetchApi): Promise<boolean> {
  const scope = OLDER[question.scope];
  if (scope === undefined || question.rights !== undefined) return false;
  const response = await fetchApi(checkUrl({ ...question, version: 1, scope }, options));
  return response.ok && (await response.text()) === 'true';
}
