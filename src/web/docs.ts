// /docs: the API reference, from the same tables as the API itself. One page, no script, nothing from elsewhere.

import { EXAMPLES, type Example } from '../api/examples.ts';
import { OPERATIONS, type Operation } from '../api/operations.ts';
import * as p from '../api/params.ts';
import { PROBLEMS } from '../api/problems.ts';
import { type Html, html, prose } from './html.ts';
import { renderPage } from './page.ts';

const GUIDE = [
  ['start', 'Asking'],
  ['limits', 'Limits and keys'],
  ['time', 'Points in time'],
  ['fresh', 'Freshness and caching'],
  ['lists', 'Long lists'],
  ['numbers', 'Large numbers'],
] as const;

function guide(): Html {
  return html`<h1>API reference</h1>
<p>May this hot wallet act for that cold wallet, here, now or at block N? Every question is a <code>GET</code>; every
answer is JSON and true for the block that its headers name. <a href="/openapi.json">OpenAPI 3.1</a> ·
<a href="/networks">Networks</a></p>
<h2 id="start">Asking</h2>
<p>${prose('`from` (or `vault`) is the cold wallet that issued the delegation, `to` (or `delegate`) the hot wallet that wants to act, in every operation. A check answers the bare value: `true`, `false`, or a balance.')}</p>
<p>${prose('A broader delegation satisfies a narrower check: one for the whole wallet also counts for its contracts and tokens, one for a contract also for its tokens.')}</p>
<p>${prose('Decide by checks, not by reading lists: a listed delegation may be limited to a right such as “vote”, and only `detail=full` shows it.')}</p>
<p>${prose('The query is read strictly. What is unknown, misspelt, given twice or out of form is refused by name: a mistyped `chainid=137` must not be answered for mainnet. Only `_` and `utm_…` are let through.')}</p>
<h2 id="limits">Limits and keys</h2>
<p>${prose('Without a key, 25 requests are answered in any 10 seconds, v1 and v2 together, unless the operator chose otherwise; `RateLimit-Policy` and `RateLimit` on every answer say how many are left, and a 429 has `Retry-After`. On v2, a key in `X-API-KEY` removes the limit; one that is unknown, malformed, expired or revoked is a 401.')}</p>
<h2 id="time">Points in time</h2>
<p>${prose('`block=<number>`, `block=finalized` or `timestamp=<unix seconds or ISO 8601 with a zone>` on every operation gives the exact answer as of the end of that block, or of the last block up to that time. What is not indexed yet is a 503, what lies before the first indexed block a 404: neither is ever a `false`.')}</p>
<h2 id="fresh">Freshness and caching</h2>
<p>${prose('`X-Block-Number`, `X-Block-Hash` and `X-Block-Timestamp` name the block of the answer. When a chain’s newest block is too old, its questions are refused with 503 and `Retry-After`; blocks up to the finalized one are still answered. Send the `ETag` back in `If-None-Match` and an unchanged answer is a 304.')}</p>
<h2 id="lists">Long lists</h2>
<p>${prose('Anyone can delegate to anyone, so a wallet’s list can be very long. It is streamed whole, or comes in pages of `limit` delegations with `Link: <…>; rel="next"`. All pages are of one block; should the chain be reorganised below it, the next page is a 409, and a list that is being streamed breaks off without its closing bracket.')}</p>
<h2 id="numbers">Large numbers</h2>
<p>${prose('Token ids and balances are JSON integers with every digit, up to 2^256-1. JavaScript’s own `JSON.parse` rounds beyond 2^53: ask for `numbers=string` there.')}</p>`;
}

const anchorOf = ({ id }: Operation) => `operation-${id}`;

function navigation(): Html {
  const links = (items: readonly (readonly [string, string])[]) =>
    html`<ul>${items.map(([anchor, text]) => html`<li><a href="#${anchor}">${prose(text)}</a></li>`)}</ul>`;
  const operations = (version: 1 | 2) =>
    links(
      OPERATIONS.filter((one) => one.version === version).map((one) => [
        anchorOf(one),
        one.path.replace(`/registry/v${version}/`, ''),
      ]),
    );
  return html`<strong>Guide</strong>${links(GUIDE)}
<strong>/registry/v2/</strong>${operations(2)}
<strong>/registry/v1/</strong>${operations(1)}
<strong>More</strong>${links([
    ['other', 'Other paths'],
    ['problems', 'Problems'],
    ['parser', 'Before the API'],
  ])}`;
}

function parameters(operation: Operation): Html {
  const rows = [...operation.required, ...operation.optional].map((param) => {
    const needed = operation.required.includes(param) ? html` <span class="required">required</span>` : html``;
    return html`<tr><td><code>${param.name}</code>${needed}</td><td>${prose(param.description)}</td></tr>`;
  });
  return table(['Parameter', 'Meaning'], rows);
}

/** Where the service listens unless it is told otherwise. */
const HERE = 'http://localhost:8080';

function example({ summary, request, answer }: Example): Html {
  const body = JSON.stringify(answer, null, typeof answer === 'object' ? 2 : undefined);
  return html`<h4>${summary}</h4><pre><code>curl '${HERE}${request}'</code></pre><pre><code>${body}</code></pre>`;
}

/** A plain form: its fields are the parameters that must be given. */
function form(operation: Operation): Html {
  if (operation.kind === 'list') return html``;
  const fields = [...operation.required, p.chainId].map(
    ({ name, example }) =>
      html`<label>${name}<input name="${name}" value="${example}" required autocomplete="off" spellcheck="false"></label>`,
  );
  return html`<details><summary>Try it</summary>
<form action="${operation.path}" method="get">${fields}<button>Ask</button></form></details>`;
}

function section(operation: Operation): Html {
  const pair =
    operation.version === 2 && operation.kind === 'check'
      ? html`<p>${prose('`delegate` and `vault` may stand for `to` and `from`.')}</p>`
      : html``;
  return html`<section id="${anchorOf(operation)}"><h3>${prose(operation.summary)}</h3>
<p class="path"><span class="method">GET</span>${operation.path}</p>
<p>${prose(operation.description)}</p>${pair}
${parameters(operation)}
${EXAMPLES.filter((one) => one.operation === operation.id).map(example)}
${form(operation)}</section>`;
}

const table = (head: readonly string[], rows: readonly Html[]) =>
  html`<div class="scroll"><table><thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;

function problems(): Html {
  const rows = Object.entries(PROBLEMS).map(
    ([type, { status, title, help }]) =>
      html`<tr id="problem-${type}"><td>${status} <code>${type}</code></td><td>${title}. ${prose(help)}</td></tr>`,
  );
  return html`<h2 id="problems">Problems</h2>
<p>${prose('A refusal is `application/problem+json` (RFC 9457) with `type`, `title`, `status` and `detail`; where parameters are at fault, `errors` names all of them at once. A 429 or 503 has `Retry-After`.')}</p>
${table(['Status and type', 'Meaning'], rows)}`;
}

/** What the HTTP parser answers by itself. A test sends each of them. */
const PARSER: readonly (readonly [string, string])[] = [
  ['400', 'A request that is not HTTP: a broken request line or header, a bad length, HTTP/1.1 without a Host.'],
  ['413', 'A body of more than 16 KiB. No operation takes one.'],
  ['431', 'Headers (the address among them) of more than 16 KiB, or more than 200 of them.'],
  ['505', 'Another version than HTTP/1.0 or 1.1, or a space in the address.'],
  ['closed', 'A method that HTTP does not know, or headers that are not whole within some ten seconds.'],
];

function otherPaths(): Html {
  return html`<h2 id="other">Other paths</h2>
${table(
  ['Path', 'What'],
  [
    html`<tr><td><code>/networks</code></td><td>The served chains: head, lag, how far each is.</td></tr>`,
    html`<tr><td><code>/health</code></td><td>200 while the process is alive.</td></tr>`,
    html`<tr><td><code>/ready</code></td><td>200 while the store and at least one chain answer; otherwise 503.</td></tr>`,
    html`<tr><td><code>/openapi.json</code></td><td>This page for programs.</td></tr>`,
  ],
)}`;
}

function parser(): Html {
  const rows = PARSER.map(([status, meaning]) => html`<tr><td>${status}</td><td>${meaning}</td></tr>`);
  return html`<h2 id="parser">Before the API</h2>
<p>What is no proper HTTP does not reach the API. It is answered with an empty body, and the connection ends.</p>
${table(['Status', 'Meaning'], rows)}`;
}

/** The whole page, made once. */
export const docsText = (): string =>
  renderPage(
    { title: 'API reference', path: '/docs', navigation: navigation() },
    html`${guide()}
<h2>v2</h2>${OPERATIONS.filter(({ version }) => version === 2).map(section)}
<h2>v1</h2>${OPERATIONS.filter(({ version }) => version === 1).map(section)}
${otherPaths()}${problems()}${parser()}`,
  );
