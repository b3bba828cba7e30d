// /docs: the API reference, derived from the declarations of the operations. One page without scripts or external resources.

import { BATCH_OPERATION, MAX_BATCH_BYTES, MAX_QUESTIONS, QUESTION_SCHEMA } from '../api/batch-operation.ts';
import { EXAMPLES, type Example } from '../api/examples.ts';
import { describeParam } from '../api/openapi.ts';
import type { OperationBase, RequestBody } from '../api/operation.ts';
import { OPERATIONS } from '../api/operations.ts';
import { PROBLEMS } from '../api/problems.ts';
import { REGISTRY_SEGMENTS } from '../api/registries.ts';
import { type Html, html, prose } from './html.ts';
import { renderPage } from './page.ts';

const GUIDE = [
  ['start', 'Requests'],
  ['limits', 'Rate limit and keys'],
  ['time', 'Points in time'],
  ['fresh', 'Freshness and caching'],
  ['lists', 'Long lists'],
  ['batch', 'Many questions at once'],
  ['numbers', 'Large numbers'],
] as const;

function guide(): Html {
  return html`<h1>API reference</h1>
<p>May this hot wallet act for that cold wallet, now or at block N? Every request is a <code>GET</code>, but for the
<a href="#batch">batch</a>. Every answer is
JSON, and true for the block that its headers name. <a href="/openapi.json">OpenAPI 3.1</a> ·
<a href="/networks">Networks</a></p>
<h2 id="start">Requests</h2>
<p>${prose('In every operation `from` (or `vault`) is the cold wallet that issued the delegation, and `to` (or `delegate`) is the hot wallet that wants to act. A check answers with the bare value: `true`, `false`, or a balance.')}</p>
<p>${prose('A broader delegation satisfies a narrower check. A delegation of the whole wallet counts for its contracts and tokens, and one of a contract counts for its tokens.')}</p>
<p>${prose('To decide whether a wallet may act, use a check, not a list: a listed delegation may be limited to a right such as “vote”, which only `detail=full` shows. `unrestricted=true` leaves these out.')}</p>
<p>${prose('`rights` takes a right as bytes32 or as text, `text:vote`. In full detail, `rightsText` is the right as text. `rightsName` and `expires` are those of a right that has 24 bytes of name and a 40-bit expiry, which the registry does not enforce.')}</p>
<p>${prose('The query is validated strictly. An unknown, misspelled, repeated or malformed parameter is a 400 that names it, so `chainid=137` is never answered for mainnet. Only `_` and `utm_…` are ignored, and `contract` and `tokenId` on a check that does not need them.')}</p>
<h2 id="limits">Rate limit and keys</h2>
<p>${prose('Without a key the limit is 25 requests in any 10 seconds, v1 and v2 together, unless the operator set another. `RateLimit-Policy` and `RateLimit` on every answer say how many are left, and a 429 has `Retry-After`. On v2 an API key in `X-API-KEY` removes the limit, unless the operator limits keys too. An unknown, malformed, expired or revoked key is a 401.')}</p>
<h2 id="time">Points in time</h2>
<p>${prose('Every operation takes `block=<number>`, `block=finalized` or `timestamp=<Unix seconds, or ISO 8601 with a time zone>` (a date alone is midnight UTC), and answers as of the end of that block, or of the last block up to that time. A point that is not indexed yet is a 503, and one before the first indexed block is a 404. Neither is ever `false`.')}</p>
<h2 id="fresh">Freshness and caching</h2>
<p>${prose('`X-Block-Number`, `X-Block-Hash` and `X-Block-Timestamp` name the block of the answer. If a chain is stale, requests for its head are a 503 with `Retry-After`; finalized blocks are still answered. Send the `ETag` back in `If-None-Match`, and an unchanged answer is a 304.')}</p>
<h2 id="lists">Long lists</h2>
<p>${prose('Anyone can delegate to anyone, so a list can be very long. It is streamed whole, or comes in pages of `limit` delegations with `Link: <…>; rel="next"`. All pages are as of one block. If a reorg replaces that block, the next page is a 409, and a streamed list ends without its closing bracket.')}</p>
<h2 id="batch">Many questions at once</h2>
<p>${prose(`\`POST ${BATCH_OPERATION.path}\` answers up to ${MAX_QUESTIONS.toLocaleString('en')} questions of any kind, version and chain, in order. All questions of a chain are answered as of one block. A question that cannot be answered has a \`problem\` instead of a \`result\`, and \`complete\` is then \`false\`. With \`Accept: application/x-ndjson\` the answers are streamed as lines: the last line is \`{"complete":…}\`, or \`{"error":…}\` if a reorg replaced the block meanwhile. A response without either is cut off. Without a key, each question counts as a request.`)}</p>
<h2 id="numbers">Large numbers</h2>
<p>${prose('Token ids and balances are JSON integers with every digit, up to 2^256-1. JavaScript’s `JSON.parse` rounds integers above 2^53: use `numbers=string` there.')}</p>`;
}

const anchorOf = ({ id }: OperationBase) => `operation-${id}`;
const operationsOf = (segment: string) => OPERATIONS.filter(({ tag }) => tag === segment);

function navigation(): Html {
  const links = (items: readonly (readonly [string, string])[]) =>
    html`<ul>${items.map(([anchor, text]) => html`<li><a href="#${anchor}">${prose(text)}</a></li>`)}</ul>`;
  const registries = REGISTRY_SEGMENTS.map((segment) => {
    const lead = `/registry/${segment}/`;
    const operations = operationsOf(segment).map((one) => [anchorOf(one), one.path.replace(lead, '')] as const);
    return html`<strong>${lead}</strong>${links(operations)}
`;
  });
  return html`<strong>Guide</strong>${links(GUIDE)}
${registries}<strong>More</strong>${links([
    ['other', 'Other paths'],
    ['problems', 'Problems'],
    ['parser', 'HTTP errors'],
  ])}`;
}

/** A longer one, such as a bytes32, would make the table wider than a phone. */
const MAX_DEFAULT_LENGTH = 20;

function parameters(operation: OperationBase): Html {
  const rows = Object.entries(operation.params).map(([name, use]) => {
    const note = use.required
      ? html` <span class="required">required</span>`
      : use.default === undefined || String(use.default).length > MAX_DEFAULT_LENGTH
        ? html``
        : html`<br>default <code>${String(use.default)}</code>`;
    return html`<tr><td><code>${name}</code>${note}</td><td>${prose(describeParam(operation, use))}</td></tr>`;
  });
  return table(['Parameter', 'Meaning'], rows);
}

/** The fields of a question in a body. */
function questionFields({ description }: RequestBody): Html {
  const rows = Object.entries(QUESTION_SCHEMA.properties).map(
    ([name, field]) => html`<tr><td><code>${name}</code></td><td>${prose(field.description)}</td></tr>`,
  );
  return html`<p>${prose(description)}</p>${table(['Field of a question', 'Meaning'], rows)}`;
}

/** The service's default address. */
const HERE = 'http://localhost:8080';

const indented = (value: unknown) => JSON.stringify(value, null, typeof value === 'object' ? 2 : undefined);

function example({ summary, request, body, answer }: Example): Html {
  const sent = body === undefined ? '' : ` -H 'Content-Type: application/json' -d '${indented(body)}'`;
  return html`<h4>${summary}</h4><pre><code>curl '${HERE}${request}'${sent}</code></pre><pre><code>${indented(answer)}</code></pre>`;
}

/** A form with the required parameters. A form cannot send JSON, and a path with a parameter cannot be its action. */
function form({ path, params, method }: OperationBase): Html {
  if (path.includes('{') || method !== 'GET') return html``;
  const fields = Object.entries(params)
    .filter(([name, use]) => use.required || name === 'chainId')
    .map(
      ([name, { param }]) =>
        html`<label>${name}<input name="${name}" value="${param.example}" required autocomplete="off" spellcheck="false"></label>`,
    );
  return html`<details><summary>Try it</summary>
<form action="${path}" method="get">${fields}<button>Send</button></form></details>`;
}

function section(operation: OperationBase): Html {
  return html`<section id="${anchorOf(operation)}"><h3>${prose(operation.summary)}</h3>
<p class="path"><span class="method">${operation.method}</span>${operation.path}</p>
<p>${prose(operation.description)}</p>
${operation.requestBody === undefined ? html`` : questionFields(operation.requestBody)}
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
<p>${prose('Errors are `application/problem+json` (RFC 9457) with `type`, `title`, `status` and `detail`. If parameters are rejected, `errors` lists all of them. A 429 or 503 has `Retry-After`.')}</p>
${table(['Status and type', 'Meaning'], rows)}`;
}

/** What the HTTP server answers before the API. A test sends each of them. */
const PARSER: readonly (readonly [string, string])[] = [
  ['400', 'Malformed HTTP: a broken request line or header, an invalid length, HTTP/1.1 without a Host.'],
  ['413', `A body of more than ${MAX_BATCH_BYTES / 1024 / 1024} MiB.`],
  ['431', 'More than 16 KiB of headers (with the URL), or more than 200 headers.'],
  ['505', 'A version other than HTTP/1.0 or 1.1, or a space in the URL.'],
  ['closed', 'An unknown method, or headers that are not complete within about ten seconds.'],
];

function otherPaths(): Html {
  const rows = OPERATIONS.filter(({ tag }) => tag === 'status').map(
    ({ path, summary, description }) =>
      html`<tr><td><code>${path}</code></td><td>${prose(`${summary}. ${description}`)}</td></tr>`,
  );
  return html`<h2 id="other">Other paths</h2>
${table(['Path', 'Meaning'], rows)}`;
}

function parser(): Html {
  const rows = PARSER.map(([status, meaning]) => html`<tr><td>${status}</td><td>${meaning}</td></tr>`);
  return html`<h2 id="parser">HTTP errors</h2>
<p>Malformed HTTP does not reach the API. The response has an empty body, and the connection is closed.</p>
${table(['Status', 'Meaning'], rows)}`;
}

/** The whole page, made once. */
export const docsText = (): string =>
  renderPage(
    { title: 'API reference', path: '/docs', navigation: navigation() },
    html`${guide()}
${REGISTRY_SEGMENTS.map((segment) => html`<h2>${segment}</h2>${operationsOf(segment).map(section)}`)}
${otherPaths()}${problems()}${parser()}`,
  );
