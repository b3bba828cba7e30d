// After a "no": until when the answer was yes, and what the wallet may use instead.

import { HISTORY } from '../../api/any-operations.ts';
import type { ResponseOf } from '../../api/operation.ts';
import { type Explanation, isGranted } from '../../api/responses.ts';
import { anyUrl, type CheckOptions, checkUrl, type UncheckedQuestion } from '../../api/url.ts';
import { askUrl, type FetchApi, Refusal } from '../ask-api.ts';
import { describeGrant } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { dateText } from '../time-text.ts';

type History = ResponseOf<typeof HISTORY>;
type Grants = History['grants'];

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
  const items = live.map((one) => html`<li>${describeGrant(one)}, in registry v${one.version}</li>`);
  return html`<p>No delegation in either registry grants this.</p>
${end !== null && html`<p>It was “yes” until ${dateText(end.timestamp)} (block ${end.block}).</p>`}
${items.length > 0 && html`<p>It is granted only:</p><ul>${items}</ul>`}`;
}

async function grantsOfPair(
  { from, to }: UncheckedQuestion,
  options: CheckOptions,
  fetchApi: FetchApi,
): Promise<Grants> {
  const values = { wallet: from, direction: 'outgoing', limit: MAX_GRANTS, numbers: 'string', ...options };
  const answer = await askUrl<History>(fetchApi, anyUrl(HISTORY, values));
  if (answer instanceof Refusal || answer.next !== null) return [];
  return answer.grants.filter((one) => one.to.toLowerCase() === to.toLowerCase());
}

/** The newest end of a grant before which the answer was yes. The API itself is asked, so that it decides what grants what. */
async function lastYes(
  question: UncheckedQuestion,
  { chainId }: CheckOptions,
  grants: Grants,
  fetchApi: FetchApi,
): Promise<Grants[number]['until']> {
  const ends = grants.flatMap(({ until }) => until ?? []).sort((a, b) => b.block - a.block);
  for (const end of ends.slice(0, MAX_ENDS)) {
    const asked = { chainId, block: String(end.block - 1), explain: 'true', numbers: 'string' } as const;
    const answer = await askUrl<Explanation>(fetchApi, checkUrl(question, asked));
    if (!(answer instanceof Refusal) && isGranted(answer)) return end;
  }
  return null;
}
