// Renders the frame of every page, and serves pages and their assets with the right headers.

import { compressibleResponse, fixedResponse } from '../api/compressed-response.ts';
import copy from './copy.browser.js' with { type: 'text' };
import { KEYS_SCRIPT_TEXT, WEBHOOKS_SCRIPT_TEXT } from './developers/developer-scripts.ts';
import developersStyle from './developers/developers.css' with { type: 'text' };
import docsStyle from './docs/docs.css' with { type: 'text' };
import docsCodeStyle from './docs/docs-code.css' with { type: 'text' };
import docsLanguage from './docs/docs-language.browser.js' with { type: 'text' };
import docsReading from './docs/docs-reading.browser.js' with { type: 'text' };
import docsRun from './docs/docs-run.browser.js' with { type: 'text' };
import docsSearch from './docs/docs-search.browser.js' with { type: 'text' };
import explorer from './explorer/explorer.css' with { type: 'text' };
import font from './geist.woff2' with { type: 'file' };
import { Html, html } from './html.ts';
import icon from './icon.svg' with { type: 'text' };
import live from './live.browser.js' with { type: 'text' };
import problem from './problem.css' with { type: 'text' };
import revoke from './revoke/revoke.browser.js' with { type: 'text' };
import revokeStyle from './revoke/revoke.css' with { type: 'text' };
import revokeIndex from './revoke/revoke-index.browser.js' with { type: 'text' };
import status from './status/status.css' with { type: 'text' };
import style from './style.css' with { type: 'text' };
import wallet from './wallet/wallet.css' with { type: 'text' };
import wallets from './wallets.browser.js' with { type: 'text' };

/** Only our own scripts, styles and images, and forms only to this origin. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const CACHE = 'public, max-age=300';

/** The headers of a text that browsers need not render. */
export const textHeaders = (type: string, cache = CACHE) => ({
  'content-type': `${type}; charset=utf-8`,
  'cache-control': cache,
});

const pageHeaders = (type: string, cache: string) => ({
  ...textHeaders(type, cache),
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
});

const STYLE_PATH = '/style.css';
export const WALLET_STYLE = '/wallet.css';
const ICON_PATH = '/icon.svg';
const FONT_PATH = '/geist.woff2';
const LIVE_PATH = '/live.js';
const COPY_PATH = '/copy.js';
export const EXPLORER_STYLE = '/explorer.css';
export const PROBLEM_STYLE = '/problem.css';
export const STATUS_STYLE = '/status.css';
export const DEVELOPERS_SCRIPT = '/developers.js';
export const DEVELOPERS_STYLE = '/developers.css';
export const WEBHOOKS_SCRIPT = '/developer-webhooks.js';
export const DOCS_STYLES = ['/docs.css', '/docs-code.css'] as const;
export const DOCS_LANGUAGE_SCRIPT = '/docs-language.js';
export const DOCS_SCRIPTS = ['/docs-reading.js', '/docs-run.js', '/docs-search.js'] as const;
export const WALLETS_SCRIPT = '/wallets.js';
export const REVOKE_SCRIPTS = ['/revoke-index.js', '/revoke.js'] as const;
export const REVOKE_STYLE = '/revoke.css';

const asset = (text: string, type: string) => () => fixedResponse(text, { headers: pageHeaders(type, CACHE) });

/** The typeface never changes under its name. */
const FONT_HEADERS = { 'content-type': 'font/woff2', 'cache-control': 'public, max-age=31536000, immutable' };

/** The files that pages load, by path. */
export const ASSETS: ReadonlyMap<string, () => Response> = new Map([
  [STYLE_PATH, asset(style, 'text/css')],
  [WALLET_STYLE, asset(wallet, 'text/css')],
  [ICON_PATH, asset(icon, 'image/svg+xml')],
  [FONT_PATH, () => new Response(Bun.file(font), { headers: FONT_HEADERS })],
  [EXPLORER_STYLE, asset(explorer, 'text/css')],
  [PROBLEM_STYLE, asset(problem, 'text/css')],
  [STATUS_STYLE, asset(status, 'text/css')],
  [LIVE_PATH, asset(live, 'text/javascript')],
  [COPY_PATH, asset(copy, 'text/javascript')],
  [DEVELOPERS_STYLE, asset(developersStyle, 'text/css')],
  [DEVELOPERS_SCRIPT, asset(KEYS_SCRIPT_TEXT, 'text/javascript')],
  [WEBHOOKS_SCRIPT, asset(WEBHOOKS_SCRIPT_TEXT, 'text/javascript')],
  [DOCS_STYLES[0], asset(docsStyle, 'text/css')],
  [DOCS_STYLES[1], asset(docsCodeStyle, 'text/css')],
  [DOCS_LANGUAGE_SCRIPT, asset(docsLanguage, 'text/javascript')],
  [DOCS_SCRIPTS[0], asset(docsReading, 'text/javascript')],
  [DOCS_SCRIPTS[1], asset(docsRun, 'text/javascript')],
  [DOCS_SCRIPTS[2], asset(docsSearch, 'text/javascript')],
  [WALLETS_SCRIPT, asset(wallets, 'text/javascript')],
  [REVOKE_SCRIPTS[0], asset(revokeIndex, 'text/javascript')],
  [REVOKE_SCRIPTS[1], asset(revoke, 'text/javascript')],
  [REVOKE_STYLE, asset(revokeStyle, 'text/css')],
]);

const SITE = [
  ['/', 'Wallets'],
  ['/status', 'Status'],
  ['/developers', 'Keys'],
  ['/docs', 'API'],
] as const;

/** A `d` with a dot: a wallet, and the one that holds it. */
const MARK = new Html(
  '<svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true"><path d="M22 5v22" stroke="currentColor" stroke-width="4" stroke-linecap="round"/><circle cx="14.5" cy="19" r="7.5" fill="none" stroke="currentColor" stroke-width="4"/><circle cx="14.5" cy="19" r="2.2" fill="currentColor"/></svg>',
);

const BODY = new Html('<body>');
const BANNER = html`<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox.</strong> A local chain with invented wallets. Nothing here is real.</aside>`;

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
  const main = html`<main id="content" tabindex="-1">${content}</main>`;
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
<link rel="preload" href="${FONT_PATH}" as="font" type="font/woff2" crossorigin>
<link rel="icon" href="${ICON_PATH}" type="image/svg+xml">
${[COPY_PATH, ...(isLive ? [LIVE_PATH] : []), ...scripts].map((source) => html`<script src="${source}" defer></script>`)}
</head>
${BODY}
<a class="skip" href="#content">Skip to content</a>
<header class="top"><a class="brand" href="/">${MARK}delegations</a><div class="site" role="navigation" aria-label="Site">${links}</div></header>
${columns}
<p id="announcements" class="spoken" role="status"></p>
${isLive ? new Html('<p id="live-state" class="live-state" role="status" hidden></p>') : ''}
<footer class="bottom"><span>Reads the public delegation registries. It never signs or sends anything.</span><a href="/docs">API</a><a href="/status">Status</a><a href="/llms.txt">llms.txt</a></footer>
</body>
</html>
`.text;
}

interface ResponseOptions {
  readonly status?: number;
  readonly sandbox?: boolean | undefined;
  readonly cache?: string;
}

/** In a sandbox, every page has a banner. A page must not hold a secret, because it is compressed. */
export function pageResponse(
  text: string,
  { status = 200, sandbox = false, cache = CACHE }: ResponseOptions = {},
): Response {
  const shown = sandbox ? text.replace(BODY.text, `${BODY.text}\n${BANNER.text}`) : text;
  const respond = cache === CACHE ? fixedResponse : compressibleResponse;
  return respond(shown, { status, headers: pageHeaders('text/html', cache) });
}
