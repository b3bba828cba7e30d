// The form of an operation on /docs. A script sends it and shows the answer beside it. Without a script, the browser sends those
// that are plain queries.

import { EXAMPLES } from '../../api/examples.ts';
import type { OperationBase, ParamUse } from '../../api/operation.ts';
import { type Html, html } from '../html.ts';
import { indentedJson } from './samples.ts';

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

/** A form cannot send JSON, and a path with a parameter cannot be its action. */
export function operationForm(operation: OperationBase): Html {
  const { path, params, method, budget } = operation;
  const needsScript = path.includes('{') || method !== 'GET';
  const all = Object.entries(params);
  const isShown = ([name, use]: Named) => use.required || name === 'chainId';
  const shown = all.filter(isShown).map((one) => field(one, true));
  const others = all.filter((one) => !isShown(one)).map((one) => field(one, false));
  const target = !needsScript && html` action="${path}"`;
  return html`<details class="run${needsScript ? ' needs-script' : ''}"><summary>Try it</summary>
<form${target} method="get" data-run="${path}"><div class="fields">${method !== 'GET' && bodyField(operation)}${shown}</div>
<details class="needs-script"><summary>More parameters</summary><fieldset disabled><legend class="spoken">More parameters</legend><div class="fields">${others}${budget === 'keyed' && KEY_FIELD}</div></fieldset></details>
<button>Send</button></form></details>`;
}
