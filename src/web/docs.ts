// /docs: the API reference as one page, without scripts or external resources.

import type { OperationBase } from '../api/operation.ts';
import { REGISTRY_SEGMENTS } from '../api/registries.ts';
import { Html, html, prose } from './html.ts';
import { renderPage } from './page.ts';
import { APPENDIX, anchorOf, apiReference, type Block, GUIDE, operationsOf, type Parameter } from './reference.ts';

function navigation(): Html {
  const links = (items: readonly (readonly [string, string])[]) =>
    html`<ul>${items.map(([anchor, text]) => html`<li><a href="#${anchor}">${prose(text)}</a></li>`)}</ul>`;
  const registries = REGISTRY_SEGMENTS.map((segment) => {
    const lead = `/registry/${segment}/`;
    const operations = operationsOf(segment).map((one) => [anchorOf(one), one.path.replace(lead, '')] as const);
    return html`<strong>${lead}</strong>${links(operations)}
`;
  });
  return html`<strong>Guide</strong>${links(GUIDE.map(({ id, title }) => [id, title]))}
${registries}<strong>More</strong>${links(APPENDIX)}`;
}

function parameterRow({ name, isRequired, default: otherwise, text }: Parameter): Html {
  const given = otherwise === null ? html`` : html`<br>default <code>${otherwise}</code>`;
  const note = isRequired ? html` <span class="required">required</span>` : given;
  return html`<tr><td><code>${name}</code>${note}</td><td>${prose(text)}</td></tr>`;
}

const table = (head: readonly string[], rows: readonly Html[]) =>
  html`<div class="scroll"><table><thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;

const attribute = (id: string | undefined) => (id === undefined ? html`` : html` id="${id}"`);

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

function renderBlock(block: Block): Html {
  switch (block.kind) {
    case 'heading': {
      const tag = new Html(`h${block.level}`);
      return html`<${tag}${attribute(block.id)}>${prose(block.text)}</${tag}>
`;
    }
    case 'paragraph':
      return html`<p>${prose(block.text)}</p>
`;
    case 'path':
      return html`<p class="path"><span class="method">${block.method}</span>${block.path}</p>
`;
    case 'parameters':
      return table(['Parameter', 'Meaning'], block.rows.map(parameterRow));
    case 'table':
      return table(
        block.head,
        block.rows.map(
          ({ id, cells }) => html`<tr${attribute(id)}>${cells.map((cell) => html`<td>${prose(cell)}</td>`)}</tr>`,
        ),
      );
    case 'code':
      return html`<pre><code>${block.text}</code></pre>`;
    case 'form':
      return form(block.operation);
    case 'section':
      return html`<section id="${block.id}">${block.blocks.map(renderBlock)}</section>
`;
  }
}

/** The whole page, made once. */
export const docsText = (): string =>
  renderPage(
    { title: 'API reference', path: '/docs', navigation: navigation() },
    html`${apiReference().map(renderBlock)}`,
  );
