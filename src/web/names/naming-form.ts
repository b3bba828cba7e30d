// The form in which a reader gives a wallet a label. Its script shows it: without one, there is nowhere to keep a label.

import { type Html, html } from '../html.ts';

export const namingForm = (address: string): Html =>
  html`<details class="naming"><summary>Your label</summary><noscript>A label needs JavaScript.</noscript>
<form id="naming" class="flow" data-address="${address}" hidden><label>Only in this browser<input name="label" maxlength="32" autocomplete="off" placeholder="such as my phone"></label><button class="plain small">Save</button><span id="naming-state" class="soft" role="status"></span></form></details>`;
