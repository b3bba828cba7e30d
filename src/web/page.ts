// The frame of every page, and the headers under which pages go out.

import { Html, html } from './html.ts';
import icon from './icon.svg' with { type: 'text' };
import style from './style.css' with { type: 'text' };

/** Nothing from elsewhere, no script, and forms only to ourselves. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const pageHeaders = (type: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'public, max-age=300',
});

const STYLE_PATH = '/style.css';
const ICON_PATH = '/icon.svg';

/** What pages load besides themselves, by path. */
export const ASSETS: ReadonlyMap<string, () => Response> = new Map([
  [STYLE_PATH, () => new Response(style, { headers: pageHeaders('text/css') })],
  [ICON_PATH, () => new Response(icon, { headers: pageHeaders('image/svg+xml') })],
]);

const BODY = new Html('<body>');
const BANNER = html`<p class="sandbox" role="note"><strong>Sandbox.</strong> A local chain with made-up wallets: nothing here is real.</p>`;

export function pageText(title: string, navigation: Html, content: Html): string {
  return html`${new Html('<!doctype html>')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${STYLE_PATH}">
<link rel="icon" href="${ICON_PATH}">
</head>
${BODY}
<a class="skip" href="#content">Skip to the content</a>
<header><a href="/docs">delegations</a></header>
<div class="columns">
<nav aria-label="On this page">${navigation}</nav>
<main id="content">${content}</main>
</div>
</body>
</html>
`.text;
}

/** In a sandbox every page says so. */
export const pageResponse = (text: string, sandbox = false): Response =>
  new Response(sandbox ? text.replace(BODY.text, `${BODY.text}\n${BANNER.text}`) : text, {
    headers: pageHeaders('text/html'),
  });
