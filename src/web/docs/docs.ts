// /docs: the API reference: text on the left, code on the right. Reading needs no script.

import { EXAMPLES } from '../../api/examples.ts';
import type { OperationBase, ParamUse } from '../../api/operation.ts';
import { Html, html, prose } from '../html.ts';
import { renderPage } from '../page.ts';
import { navigationLink } from '../parts.ts';
import { type DocsPage, docsPages, FRONT, hrefOf } from './docs-pages.ts';
import { highlight } from './highlight.ts';
import { type AnswerOf, apiReference, INTRODUCTION, parametersOf, type Section } from './reference.ts';
import { indentedJson, SAMPLE_LANGUAGES, sampleOf } from './samples.ts';

/** All pages, and the sections of this one. Folded on a phone. */
function navigation(page: DocsPage, pages: readonly DocsPage[]): Html {
  const sections = page.path === FRONT ? [STEPS, INDEX, ...page.sections] : page.sections;
  const links = sections.map(({ id, title }) => html`<li><a href="#${id}">${prose(title)}</a></li>`);
  const lists = pages.map(
    (one) =>
      html`<strong>${navigationLink(one.path, one.title, one === page)}</strong>${one === page && html`<ul class="links">${links}</ul>`}\n`,
  );
  return html`<details class="contents"><summary>Contents</summary>\n${lists}</details>`;
}

/** The language is chosen before the examples are shown, so that they do not move. */
const TOOLS = html`<div class="flow tools">
<form class="search needs-script" role="search"><label class="spoken" for="docs-search">Search the reference</label><input type="search" id="docs-search" placeholder="Search operations, parameters, problems" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"><kbd>/</kbd><ul id="docs-found" class="links" hidden></ul><p class="spoken" role="status"></p></form>
<fieldset class="languages"><legend class="spoken">Language of the examples</legend>${SAMPLE_LANGUAGES.map(
  ({ id, name }, index) =>
    html`<label><input type="radio" name="language" value="${id}"${index === 0 && html` checked`}>${name}</label>`,
)}</fieldset>
</div><script src="/docs-language.js"></script>
`;

const tableOf = (head: readonly string[], rows: readonly Html[]) =>
  html`<div class="scroll"><table><thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;

const cellsOf = (cells: readonly string[]) => cells.map((cell) => html`<td>${prose(cell)}</td>`);

function parameterTable(operation: OperationBase): Html {
  const rows = parametersOf(operation).map(({ name, isRequired, default: otherwise, text }) => {
    const given = otherwise !== null && html`<br>default <code>${otherwise}</code>`;
    const note = isRequired ? html` <span class="soft right">required</span>` : given;
    return html`<tr><td><code>${name}</code>${note}</td><td>${prose(text)}</td></tr>`;
  });
  return tableOf(['Parameter', 'Meaning'], rows);
}

/** More lines than this are scrolled, also by keyboard. */
const MAX_LINES = 24;

const answerBlock = (text: string): Html => {
  const isLong = text.split('\n').length > MAX_LINES;
  return html`<pre class="answer"${isLong && html` tabindex="0" role="group" aria-label="Answer"`}><code>${highlight('json', text)}</code></pre>`;
};

/** The form of an operation is between its first sample and the answer, which the answer to the form replaces. */
function renderExample({ example, answer }: NonNullable<Section['examples']>[number], form: Html | null): Html {
  const samples = SAMPLE_LANGUAGES.flatMap(({ id }) => {
    const text = sampleOf(id, example);
    return text === null ? [] : [html`<pre data-language="${id}"><code>${highlight(id, text)}</code></pre>`];
  });
  // A sample in one language alone is shown whatever was chosen.
  const only = samples.length === 1 ? ' only' : '';
  return html`<div class="example"><h3 class="about">${example.summary}</h3><div class="copied sample${only}">${samples}<button type="button" class="copy" data-copy="">Copy</button></div>${form}${answerBlock(answer)}</div>
`;
}

type Named = readonly [name: string, use: ParamUse];

/** The choices of a parameter that has few. */
const choicesOf = ({ param }: ParamUse): readonly string[] => (param.schema as { enum?: readonly string[] }).enum ?? [];

function field([name, use]: Named, isShown: boolean): Html {
  const attributes = html` name="${name}"${use.in === 'path' && html` data-path`}${isShown && html` required`}`;
  const choices = choicesOf(use);
  if (choices.length > 0 && !isShown)
    return html`<label>${name}<select${attributes}><option></option>${choices.map((one) => html`<option>${one}</option>`)}</select></label>`;
  const value = isShown && html` value="${use.param.example}"`;
  return html`<label>${name}<input${attributes}${value} autocomplete="off" spellcheck="false"></label>`;
}

/** A password field, so that no browser offers it again. It has no name: a form without a script does not send it. */
const KEY_FIELD = html`<label>X-API-KEY<input type="password" data-key autocomplete="off" placeholder="optional, not stored"></label>`;

function bodyField({ id }: OperationBase): Html {
  const text = indentedJson(EXAMPLES.find(({ operation }) => operation === id)?.body);
  return html`<label class="body">Body<textarea data-body rows="12" required spellcheck="false" autocomplete="off">${text}</textarea></label>`;
}

/**
 * A script sends the form and shows the answer beside it. Without a script, the browser sends those that are plain queries: a form
 * cannot send JSON, and a path with a parameter cannot be its action.
 */
function operationForm(operation: OperationBase): Html {
  const { path, params, method, budget } = operation;
  const needsScript = path.includes('{') || method !== 'GET';
  const all = Object.entries(params);
  const isShown = ([name, use]: Named) => use.required || name === 'chainId';
  const shown = all.filter(isShown).map((one) => field(one, true));
  const others = all.filter((one) => !isShown(one)).map((one) => field(one, false));
  const target = !needsScript && html` action="${path}"`;
  return html`<details class="run${needsScript ? ' needs-script' : ''}"><summary>Try it</summary>
<form${target} method="get" data-run="${path}"><div class="stack fields">${method !== 'GET' && bodyField(operation)}${shown}</div>
<details class="needs-script"><summary>More parameters</summary><fieldset disabled><legend class="spoken">More parameters</legend><div class="stack fields">${others}${budget === 'keyed' && KEY_FIELD}</div></fieldset></details>
<button>Send</button></form></details><div class="result" hidden></div>`;
}

const renderPath = ({ method, path }: OperationBase): Html =>
  html`<span class="path"><span class="method">${method}</span>${path}</span>`;

function renderSection({ id: sectionId, title, paragraphs, table, examples = [], operation }: Section): Html {
  const rows = table?.rows.map(({ id, cells }) => html`<tr${id && html` id="${id}"`}>${cellsOf(cells)}</tr>`);
  const text = html`<div class="text"><h2>${prose(title)}</h2>
${operation && html`<p>${renderPath(operation)}</p>`}
${paragraphs.map((one) => html`<p>${prose(one)}</p>\n`)}${table && tableOf(table.head, rows ?? [])}
${operation && parameterTable(operation)}</div>`;
  if (operation === undefined) return html`<section id="${sectionId}">${text}</section>\n`;
  const form = operationForm(operation);
  const shown = examples.map((example, index) => renderExample(example, index === 0 ? form : null));
  return html`<section id="${sectionId}" class="two">${text}<div class="code">${shown}</div></section>\n`;
}

const STEPS = { id: 'steps', title: 'Three steps to start' };
const STEP_TEXTS = [
  'Ask whether the hot wallet `to` may act for the cold wallet `from`. Copy the command, or [fill in a form](#checkContractAny). It needs no key.',
  'Read the answer: `true` or `false`, as of the block in `X-Block-Number`. Anything but a 200 means unknown, not no: the [problem](#problems) says why, and `Retry-After` when to ask again.',
  'Choose from the [operations](#operations) below what your program asks. A [key](/developers) lifts the [limit](#limits), and `delegations-client` is a typed client for TypeScript.',
];

const renderSteps = (examples: Section['examples'] = []): Html =>
  html`<section id="${STEPS.id}" class="two"><div class="text"><h2>${STEPS.title}</h2>
<ol>${STEP_TEXTS.map((one) => html`<li>${prose(one)}</li>\n`)}</ol></div><div class="code">${examples.map((example) => renderExample(example, null))}</div></section>
`;

const INDEX = { id: 'operations', title: 'Operations' };

/** Links from the time when all operations were on this page lead to its entries. */
function renderIndex(groups: readonly DocsPage[]): Html {
  const entry = ({ id, title, operation }: Section) =>
    html`<li id="${id}"><a href="#${id}">${prose(title)}</a> ${operation && renderPath(operation)}</li>\n`;
  const lists = groups.map(
    ({ path, title, about, sections }) =>
      html`<h3><a href="${path}">${title}</a></h3><p>${prose(about)}</p><ul class="index">${sections.map(entry)}</ul>\n`,
  );
  return html`<section id="${INDEX.id}"><h2>${INDEX.title}</h2>${lists}</section>\n`;
}

/** The page at a path, with a mark for the origin. */
export function docsText(path: string, answerOf?: AnswerOf): string {
  const pages = docsPages(apiReference(answerOf));
  const [front, ...groups] = pages;
  const page = pages.find((one) => one.path === path) ?? front;
  const isFront = page === front;
  const title = isFront ? INTRODUCTION.title : page.title;
  const top = isFront
    ? html`${renderSteps(front.sections.find(({ examples }) => examples !== undefined)?.examples)}${renderIndex(groups)}`
    : null;
  const content = html`<h1>${title}</h1>\n<p>${prose(isFront ? INTRODUCTION.text : page.about)}</p>\n${TOOLS}${top}${page.sections.map(renderSection)}`;
  // A link names a section, whatever page it is on.
  const linked = content.text.replace(/href="#([\w-]+)"/g, (_, id: string) => `href="${hrefOf(id, page, pages)}"`);
  return renderPage(
    {
      title: isFront ? title : `${title} · ${INTRODUCTION.title}`,
      path: FRONT,
      navigation: navigation(page, pages),
      styles: ['/docs.css'],
      scripts: ['/docs-reading.js', '/docs-run.js', '/docs-search.js'],
    },
    new Html(linked),
  );
}
