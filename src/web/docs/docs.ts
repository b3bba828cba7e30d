// /docs: the API reference as one page: text on the left, code on the right. Reading needs no script.

import { EXAMPLES } from '../../api/examples.ts';
import type { OperationBase, ParamUse } from '../../api/operation.ts';
import { Html, html, prose } from '../html.ts';
import { renderPage } from '../page.ts';
import { highlight } from './highlight.ts';
import { type AnswerOf, apiReference, type Chapter, INTRODUCTION, parametersOf, type Section } from './reference.ts';
import { indentedJson, SAMPLE_LANGUAGES, sampleOf } from './samples.ts';

/** Folded on a phone. */
function navigation(chapters: readonly Chapter[]): Html {
  const lists = chapters.map(({ title, isRegistry, sections }) => {
    const lead = isRegistry ? `${title}/` : title;
    const nameOf = (section: Section) => section.operation?.path.replace(lead, '') ?? section.title;
    const links = sections.map((section) => html`<li><a href="#${section.id}">${prose(nameOf(section))}</a></li>`);
    return html`<strong>${lead}</strong><ul class="links">${links}</ul>\n`;
  });
  return html`<details class="contents"><summary>On this page</summary>\n${lists}</details>`;
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

function renderExample({ example, answer }: NonNullable<Section['examples']>[number], level: 3 | 4): Html {
  const tag = new Html(`h${level}`);
  const samples = SAMPLE_LANGUAGES.flatMap(({ id }) => {
    const text = sampleOf(id, example);
    return text === null ? [] : [html`<pre data-language="${id}"><code>${highlight(id, text)}</code></pre>`];
  });
  // A sample in one language alone is shown whatever was chosen.
  const only = samples.length === 1 ? ' only' : '';
  return html`<div class="example"><${tag} class="about">${example.summary}</${tag}><div class="copied sample${only}">${samples}<button type="button" class="copy" data-copy="">Copy</button></div>${answerBlock(answer)}</div>
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
<button>Send</button></form></details>`;
}

function renderSection({ id: sectionId, title, paragraphs, table, examples = [], operation }: Section): Html {
  const tag = new Html(operation === undefined ? 'h2' : 'h3');
  const rows = table?.rows.map(({ id, cells }) => html`<tr${id && html` id="${id}"`}>${cellsOf(cells)}</tr>`);
  const text = html`<div class="text"><${tag}>${prose(title)}</${tag}>
${operation && html`<p class="path"><span class="method">${operation.method}</span>${operation.path}</p>`}
${paragraphs.map((one) => html`<p>${prose(one)}</p>\n`)}${table && tableOf(table.head, rows ?? [])}
${operation && html`${parameterTable(operation)}${operationForm(operation)}`}</div>`;
  if (examples.length === 0) return html`<section id="${sectionId}">${text}</section>\n`;
  const shown = examples.map((example) => renderExample(example, operation === undefined ? 3 : 4));
  return html`<section id="${sectionId}" class="two">${text}<div class="code">${operation && html`<div class="result" hidden></div>`}${shown}</div></section>\n`;
}

/** The whole page, with a mark for the origin. */
export function docsText(answerOf?: AnswerOf): string {
  const chapters = apiReference(answerOf);
  const content = chapters.map(
    ({ title, isRegistry, sections }) => html`${isRegistry && html`<h2>${title}</h2>\n`}${sections.map(renderSection)}`,
  );
  return renderPage(
    {
      title: INTRODUCTION.title,
      path: '/docs',
      navigation: navigation(chapters),
      styles: ['/docs.css'],
      scripts: ['/docs-reading.js', '/docs-run.js', '/docs-search.js'],
    },
    html`<h1>${INTRODUCTION.title}</h1>\n<p>${prose(INTRODUCTION.text)}</p>\n${TOOLS}${content}`,
  );
}
