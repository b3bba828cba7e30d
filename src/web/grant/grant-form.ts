// Renders the form of a grant. Each field says what it is for, and what is wrong with it.

import { checksummed } from '../../registry/checksum.ts';
import { SCOPE_TEXTS } from '../explorer/explorer-forms.ts';
import { type Html, html } from '../html.ts';
import { type Choice, chainChoices, countText } from '../parts.ts';
import { ANY, FIELDS, type Field, type GrantQuery, KIND_NAMES } from './grant-query.ts';

export function renderForm(query: GrantQuery): Html {
  const { values, wrong, wallet, chainIds } = query;
  const of = (name: Field) => values.get(name)?.trim() ?? '';
  const first = FIELDS.find((name) => wrong.has(name));
  /** A screen reader reads what is wrong and what the field is for with its name. */
  const field = (name: Field, label: string, hint: string, control: (attributes: Html) => Html) => {
    const fault = wrong.get(name);
    const described = [...(fault === undefined ? [] : [`${name}-fault`]), ...(hint === '' ? [] : [`${name}-hint`])];
    const attributes = html` id="${name}" name="${name}"${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}${fault !== undefined && html` aria-invalid="true"`}${name === first && html` autofocus`}`;
    return html`<div class="field of-${name}"><label for="${name}">${label}</label>${control(attributes)}
${fault !== undefined && html`<p class="fault" id="${name}-fault">${fault}</p>`}${hint !== '' && html`<p class="soft" id="${name}-hint">${hint}</p>`}</div>`;
  };
  const text = (name: Field, label: string, hint: string, sample: string) =>
    field(
      name,
      label,
      hint,
      (attributes) =>
        html`<input${attributes} value="${name === 'wallet' && wallet !== null ? checksummed(wallet) : of(name)}" placeholder="${sample}" autocomplete="off" autocapitalize="off" spellcheck="false">`,
    );
  const select = (name: Field, label: string, choices: readonly Choice[]) =>
    field(name, label, '', (attributes) => {
      const options = choices.map(
        ([value, words]) => html`<option value="${value}"${value === of(name) && html` selected`}>${words}</option>`,
      );
      return html`<select${attributes}>${options}</select>`;
    });
  const kinds = Object.entries(SCOPE_TEXTS).filter(([name]) => name in KIND_NAMES);
  return html`${wrong.size > 0 && html`<p class="notice trouble" role="status">Nothing was prepared: ${countText(wrong.size, 'field')} must be corrected.</p>`}
<form class="panel" action="/grant" method="get">
${text('wallet', 'Your wallet: the one that grants', '', '0x…')}
${text('to', 'Hot wallet: the one that will act', 'Copy it from the wallet itself. A wrong address could act for you.', '0x…')}
${select('chain', 'Chain', chainChoices(chainIds))}
${select('kind', 'What it may act for', kinds)}
${text('contract', 'Contract', 'Of what you hold, only what is in this contract.', '0x…')}
${text('tokenId', 'Token id', '', '42')}
${text('amount', 'How much at most', `In the smallest units of the token, without a point. Enter ${ANY} for no limit.`, '1000000')}
${text('right', 'Only with the right', 'A name that an app has told you, such as vote. Empty: any right. Apps that ask for no right do not count a grant with one.', 'any right')}
${field('until', 'Until the end of this day, UTC', 'Empty: until you revoke it. Only apps that read expiries count a grant with one; all others never do. The registry itself never ends a grant.', (attributes) => html`<input type="date"${attributes} value="${of('until')}">`)}
<button name="review" value="yes">Review</button></form>
<p class="soft">Nothing is sent yet: the next page says what the wallet will be able to do.</p>`;
}
