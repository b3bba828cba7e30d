// Renders a message about the request or its answer.

import { type Html, html } from './html.ts';

export const notice = (text: string, kind: 'no' | 'trouble' = 'trouble'): Html =>
  html`<p class="notice ${kind}" role="status">${text}</p>`;
