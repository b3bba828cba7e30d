// After a "no": until when the answer was yes, and what the wallet may use instead.

import { HISTORY } from '../../api/any-operations.ts';
import type { ResponseOf } from '../../api/operation.ts';
import { isGranted } from '../../api/responses.ts';
import { anyUrl, type CheckOptions, checkUrl, type UncheckedQuestion } from '../../api/url.ts';
import { dateText, describeGrant } from '../delegation.ts';
import type { FetchApi } from '../fetch-api.ts';
import { type Html, html } from '../html.ts';

type Grants = ResponseOf<typeof HISTORY>['grants'];
type Grant = Grants[number];

/** Grants that are read of the cold wallet. Of one with more, nothing is said. */
const MAX_GRANTS = 1000;
/** Ends of grants at which the question is asked again. */
const MAX_ENDS = 5;

export async function renderInstead(
  question: UncheckedQuestion,
  options: CheckOptions,
  fetchApi: FetchApi,
): Promise<Html> {
  const grants = await grantsOfPair(question, options, fetchApi);
  const live = grants.filter(({ until }) => until === null);
  const end = await lastYes(question, options, grants, fetchApi);
  const was = end === null ? '' : html`<p>It was “yes” until ${dateText(end.timestamp)} (block ${end.block}).</p>`;
  if (live.length === 0) return html`<p>No delegation in either registry grants this.</p>${was}`;
  const items = live.map((one) => html`<li>${describeGrant(one)}, in registry v${one.version}</li>`);
  return html`<p>No delegation in either registry grants this.</p>${was}<p>It is granted only:</p><ul>${items}</ul>`;
}

async function grantsOfPair(
  { from, to }: UncheckedQuestion,
  options: CheckOptions,
  fetchApi: FetchApi,
): Promise<Grants> {
  const values = { wallet: from, direction: 'outgoing', limit: MAX_GRANTS, numbers: 'string', ...options };
  const response = await fetchApi(anyUrl(HISTORY, values));
  if (!response.ok) return [];
  const { grants, next } = (await response.json()) as ResponseOf<typeof HISTORY>;
  if (next !== null) return [];
  return grants.filter((one) => one.to.toLowerCase() === to.toLowerCase());
}

/** The newest end of a grant before which the answer was yes. The API itself is asked, so that it decides what grants what. */
async function lastYes(
  question: UncheckedQuestion,
  { chainId }: CheckOptions,
  grants: Grants,
  fetchApi: FetchApi,
): Promise<NonNullable<Grant['until']> | null> {
  const ends = grants.flatMap(({ until }) => (until === null ? [] : [until])).sort((a, b) => b.block - a.block);
  for (const end of ends.slice(0, MAX_ENDS)) {
    const asked = { chainId, block: String(end.block - 1), explain: 'true', numbers: 'string' } as const;
    const response = await fetchApi(checkUrl(question, asked));
    if (response.ok && isGranted((await response.json()) as { result: boolean | string })) return end;
  }
  return null;
}
