// Renders a button that copies a text. Its script is loaded on every page.

import { type Html, html } from './html.ts';

export const copyButton = (text: string, what: string): Html =>
  html`<button type="button" class="copy" data-copy="${text}" aria-label="Copy ${what}">Copy</button>`;
