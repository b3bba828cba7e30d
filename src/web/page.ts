// Renders the frame of every page, and serves pages and their assets with the right headers.

import { textResponse } from '../api/sized-response.ts';
import developerWebhooks from './developer-webhooks.browser.js' with { type: 'text' };
import developers from './developers.browser.js' with { type: 'text' };
import { Html, html } from './html.ts';
import icon from './icon.svg' with { type: 'text' };
import live from './live.browser.js' with { type: 'text' };
import style from './style.css' with { type: 'text' };

/** Only our own scripts, styles and images, and forms only to this origin. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const CACHE = 'public, max-age=300';

/** The headers of a text that browsers need not render. */
export const textHeaders = (type: string, cache = CACHE) => ({
  'content-type': `${type}; charset=utf-8`,
  'x-content-type-options': 'nosniff',
  'cache-control': cache,
});

const pageHeaders = (type: string, cache: string) => ({
  ...textHeaders(type, cache),
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
});

const STYLE_PATH = '/style.css';
const ICON_PATH = '/icon.svg';
const LIVE_PATH = '/live.js';
export const DEVELOPERS_SCRIPT = '/developers.js';
export const WEBHOOKS_SCRIPT = '/developer-webhooks.js';

const asset = (text: string, type: string) => () => textResponse(text, { headers: pageHeaders(type, CACHE) });

/** The files that pages load, by path. */
export const ASSETS: ReadonlyMap<string, () => Response> = new Map([
  [STYLE_PATH, asset(style, 'text/css')],
  [ICON_PATH, asset(icon, 'image/svg+xml')],
  [LIVE_PATH, asset(live, 'text/javascript')],
  [DEVELOPERS_SCRIPT, asset(developers, 'text/javascript')],
  [WEBHOOKS_SCRIPT, asset(developerWebhooks, 'text/javascript')],
]);

const SITE = [
  ['/', 'Explorer'],
  ['/status', 'Status'],
  ['/developers', 'Developers'],
  ['/docs', 'API'],
] as const;

const BODY = new Html('<body>');
const BANNER = html`<p class="sandbox" role="note"><strong>Sandbox.</strong> A local chain with invented wallets. Nothing here is real.</p>`;

export interface PageOptions {
  readonly title: string;
  /** The page's path, to mark it in the navigation. */
  readonly path: string;
  /** Table of contents. */
  readonly navigation?: Html;
  /** Whether the content refreshes itself. */
  readonly live?: boolean;
  /** Paths of the page's own style sheets and scripts, in order. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
}

export function renderPage(
  { title, path, navigation, live: isLive = false, styles = [], scripts = [] }: PageOptions,
  content: Html,
): string {
  const links = SITE.map(
    ([href, name]) => html`<a href="${href}"${href === path ? new Html(' aria-current="page"') : ''}>${name}</a>`,
  );
  const main = html`<main id="content"${isLive ? new Html(' data-live aria-live="off"') : ''}>${content}</main>`;
  const columns =
    navigation === undefined
      ? html`<div class="single">${main}</div>`
      : html`<div class="columns"><nav aria-label="On this page">${navigation}</nav>${main}</div>`;
  return html`${new Html('<!doctype html>')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · delegations</title>
${[STYLE_PATH, ...styles].map((sheet) => html`<link rel="stylesheet" href="${sheet}">`)}
<link rel="icon" href="${ICON_PATH}">
${[...(isLive ? [LIVE_PATH] : []), ...scripts].map((source) => html`<script src="${source}" defer></script>`)}
</head>
${BODY}
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="/">delegations</a><div class="site" role="navigation" aria-label="Site">${links}</div></header>
${columns}
</body>
</html>
`.text;
}

interface ResponseOptions {
  readonly sandbox?: boolean | undefined;
  readonly cache?: string;
}

/** In a sandbox, every page has a banner. */
export const pageResponse = (text: string, { sandbox = false, cache = CACHE }: ResponseOptions = {}): Response =>
  textResponse(sandbox ? text.replace(BODY.text, `${BODY.text}\n${BANNER.text}`) : text, {
    headers: pageHeaders('text/html', cache),
  });
