// /docs: the API reference as one page: text on the left, code on the right. Reading needs no script.

import { REGISTRY_SEGMENTS } from '../../api/registries.ts';
import { Html, html, prose } from '../html.ts';
import { renderPage } from '../page.ts';
import { operationForm } from './docs-form.ts';
import { GUIDE } from './guide.ts';
import { highlight } from './highlight.ts';
import {
  type AnswerOf,
  APPENDIX,
  anchorOf,
  apiReference,
  type Block,
  operationsOf,
  type Parameter,
  type Section,
  type ShownExample,
} from './reference.ts';
import { SAMPLE_LANGUAGES, sampleOf } from './samples.ts';

/** Folded on a phone. */
function navigation(): Html {
  const links = (items: readonly (readonly [string, string])[]) =>
    html`<ul>${items.map(([anchor, text]) => html`<li><a href="#${anchor}">${prose(text)}</a></li>`)}</ul>`;
  const registries = REGISTRY_SEGMENTS.map((segment) => {
    const lead = `/registry/${segment}/`;
    const operations = operationsOf(segment).map((one) => [anchorOf(one), one.path.replace(lead, '')] as const);
    return html`<strong>${lead}</strong>${links(operations)}
`;
  });
  return html`<details class="contents"><summary>On this page</summary>
<strong>Guide</strong>${links(GUIDE.map(({ id, title }) => [id, title]))}
${registries}<strong>More</strong>${links(APPENDIX.map(({ id, title }) => [id, title]))}</details>`;
}

/** The language is chosen before the examples are shown, so that they do not move. */
const TOOLS = html`<div class="flow tools">
<form class="search needs-script" role="search"><label class="spoken" for="docs-search">Search the reference</label><input type="search" id="docs-search" placeholder="Search operations, parameters, problems" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"><kbd>/</kbd><ul id="docs-found" hidden></ul><p class="spoken" role="status"></p></form>
<fieldset class="languages"><legend class="spoken">Language of the examples</legend>${SAMPLE_LANGUAGES.map(
  ({ id, name }, index) =>
    html`<label><input type="radio" name="language" value="${id}"${index === 0 && html` checked`}>${name}</label>`,
)}</fieldset>
</div><script src="/docs-language.js"></script>
`;

function parameterRow({ name, isRequired, default: otherwise, text }: Parameter): Html {
  const given = otherwise !== null && html`<br>default <code>${otherwise}</code>`;
  const note = isRequired ? html` <span class="required">required</span>` : given;
  return html`<tr><td><code>${name}</code>${note}</td><td>${prose(text)}</td></tr>`;
}

const table = (head: readonly string[], rows: readonly Html[]) =>
  html`<div class="scroll"><table><thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;

/** More lines than this are scrolled, also by keyboard. */
const MAX_LINES = 24;

const answerBlock = (text: string): Html => {
  const isLong = text.split('\n').length > MAX_LINES;
  return html`<pre class="answer"${isLong && html` tabindex="0" role="group" aria-label="Answer"`}><code>${highlight('json', text)}</code></pre>`;
};

function renderExample({ example, answer }: ShownExample, level: 3 | 4): Html {
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

function renderSection({ id, blocks, examples, operation }: Section): Html {
  const text = html`<div class="text">${blocks.map(renderBlock)}${operation && operationForm(operation)}</div>`;
  if (examples.length === 0) return html`<section id="${id}">${text}</section>\n`;
  const shown = examples.map((example) => renderExample(example, operation === undefined ? 3 : 4));
  return html`<section id="${id}" class="two">${text}<div class="code">${operation && html`<div class="result" hidden></div>`}${shown}</div></section>\n`;
}

function renderBlock(block: Block): Html {
  switch (block.kind) {
    case 'heading': {
      const tag = new Html(`h${block.level}`);
      return html`<${tag}>${prose(block.text)}</${tag}>\n`;
    }
    case 'paragraph':
      return html`<p>${prose(block.text)}</p>\n`;
    case 'path':
      return html`<p class="path"><span class="method">${block.method}</span>${block.path}</p>\n`;
    case 'parameters':
      return table(['Parameter', 'Meaning'], block.rows.map(parameterRow));
    case 'table':
      return table(
        block.head,
        block.rows.map(
          ({ id, cells }) =>
            html`<tr${id !== undefined && html` id="${id}"`}>${cells.map((cell) => html`<td>${prose(cell)}</td>`)}</tr>`,
        ),
      );
    case 'section':
      return renderSection(block);
  }
}

/** The whole page, with a mark for the origin. */
export const docsText = (answerOf?: AnswerOf): string => {
  const [title, introduction, ...rest] = apiReference(answerOf).map(renderBlock);
  return renderPage(
    {
      title: 'API reference',
      path: '/docs',
      navigation: navigation(),
      styles: ['/docs.css'],
      scripts: ['/docs-reading.js', '/docs-run.js', '/docs-search.js'],
    },
    html`${title}${introduction}${TOOLS}${rest}`,
  );
};
