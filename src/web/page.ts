// Renders the frame of every page, and serves pages and their assets with the right headers.

import verify from '../../client/src/verify.js' with { type: 'text' };
import { atFirstUse, compressibleResponse, fixedResponse } from '../api/compressed-response.ts';
import copy from './copy.browser.js' with { type: 'text' };
import developerFields from './developers/developer-fields.browser.js' with { type: 'text' };
import developerKeys from './developers/developer-keys.browser.js' with { type: 'text' };
import developerSignIn from './developers/developer-sign-in.browser.js' with { type: 'text' };
import developerWebhooks from './developers/developer-webhooks.browser.js' with { type: 'text' };
import developers from './developers/developers.browser.js' with { type: 'text' };
import developersStyle from './developers/developers.css' with { type: 'text' };
import docsStyle from './docs/docs.css' with { type: 'text' };
import docsLanguage from './docs/docs-language.browser.js' with { type: 'text' };
import docsReading from './docs/docs-reading.browser.js' with { type: 'text' };
import docsRun from './docs/docs-run.browser.js' with { type: 'text' };
import docsSearch from './docs/docs-search.browser.js' with { type: 'text' };
import dom from './dom.browser.js' with { type: 'text' };
import explorerStyle from './explorer/explorer.css' with { type: 'text' };
import ownAddress from './explorer/own-address.browser.js' with { type: 'text' };
import prove from './explorer/prove.browser.js' with { type: 'text' };
import recentWallets from './explorer/recent-wallets.browser.js' with { type: 'text' };
import font from './geist.woff2' with { type: 'file' };
import { Html, html } from './html.ts';
import icon from './icon.svg' with { type: 'text' };
import live from './live.browser.js' with { type: 'text' };
import labels from './names/labels.browser.js' with { type: 'text' };
import { navigationLink } from './parts.ts';
import revokeStyle from './revoke/revoke.css' with { type: 'text' };
import send from './sending/send.browser.js' with { type: 'text' };
import statusStyle from './status/status.css' with { type: 'text' };
import style from './style.css' with { type: 'text' };
import walletStyle from './wallet/wallet.css' with { type: 'text' };
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

/** For what a browser opens by itself. */
const pageHeaders = (type: string, cache: string) => ({
  ...textHeaders(type, cache),
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
});

const FONT_PATH = '/geist.woff2';
/** The letters never change under this name. A browser may keep an older file, with more of them. */
const FONT_HEADERS = { 'content-type': 'font/woff2', 'cache-control': 'public, max-age=31536000, immutable' };

/** The texts that pages load. Scripts are modules, which import each other. */
const TEXTS = {
  '/style.css': style,
  '/icon.svg': icon,
  '/copy.js': copy,
  '/live.js': live,
  '/dom.js': dom,
  '/labels.js': labels,
  '/wallets.js': wallets,
  '/explorer.css': explorerStyle,
  '/own-address.js': ownAddress,
  '/recent-wallets.js': recentWallets,
  '/prove.js': prove,
  // The compiler knows it as a module.
  '/verify.js': verify as unknown as string,
  '/wallet.css': walletStyle,
  '/status.css': statusStyle,
  '/revoke.css': revokeStyle,
  '/send.js': send,
  '/developers.css': developersStyle,
  '/developers.js': developers,
  '/developer-fields.js': developerFields,
  '/developer-sign-in.js': developerSignIn,
  '/developer-keys.js': developerKeys,
  '/developer-webhooks.js': developerWebhooks,
  '/docs.css': docsStyle,
  '/docs-language.js': docsLanguage,
  '/docs-reading.js': docsReading,
  '/docs-run.js': docsRun,
  '/docs-search.js': docsSearch,
} as const;

const SHORT_JS = new Bun.Transpiler({ loader: 'js', target: 'browser', minifyWhitespace: true });

interface TextKind {
  readonly headers: Record<string, string>;
  /** The text without what is only for those who read it. */
  readonly shorten: (text: string) => string;
}

const KINDS: Readonly<Record<string, TextKind>> = {
  css: {
    headers: textHeaders('text/css'),
    shorten: (text) => text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\s*\n\s*/g, '\n'),
  },
  js: { headers: textHeaders('text/javascript'), shorten: (text) => SHORT_JS.transformSync(text) },
  svg: { headers: pageHeaders('image/svg+xml', CACHE), shorten: (text) => text },
};

/** The files that pages load, by path. */
export const ASSETS: ReadonlyMap<string, () => Response> = new Map<string, () => Response>([
  [FONT_PATH, () => new Response(Bun.file(font), { headers: FONT_HEADERS })],
  ...Object.entries(TEXTS).map(([path, text]) => {
    const { headers, shorten } = KINDS[path.split('.')[1] ?? ''] as TextKind;
    const short = atFirstUse(() => shorten(text));
    return [path, () => fixedResponse(short(), { headers })] as const;
  }),
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

interface PageOptions {
  readonly title: string;
  /** The page's path, to mark it in the navigation. */
  readonly path: string;
  /** The contents of several pages, or of this one. */
  readonly navigation?: Html;
  /** Whether the content refreshes itself. */
  readonly live?: boolean;
  /** The page's own style sheets and scripts, in order. */
  readonly styles?: readonly (keyof typeof TEXTS)[];
  readonly scripts?: readonly (keyof typeof TEXTS)[];
}

export function renderPage(
  { title, path, navigation, live: isLive = false, styles = [], scripts = [] }: PageOptions,
  content: Html,
): string {
  const links = SITE.map(([href, name]) => navigationLink(href, name, href === path));
  const main = html`<main id="content" tabindex="-1">${content}</main>`;
  const columns =
    navigation === undefined
      ? html`<div class="single">${main}</div>`
      : html`<div class="columns"><nav aria-label="Contents">${navigation}</nav>${main}</div>`;
  return html`${new Html('<!doctype html>')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · delegations</title>
${['/style.css', ...styles].map((sheet) => html`<link rel="stylesheet" href="${sheet}">`)}
<link rel="preload" href="${FONT_PATH}" as="font" type="font/woff2" crossorigin>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
${['/copy.js', ...(isLive ? ['/live.js'] : []), ...scripts].map((source) => html`<script type="module" src="${source}"></script>`)}
</head>
${BODY}
<a class="skip" href="#content">Skip to content</a>
<header class="flow top"><a class="flow brand" href="/">${MARK}delegations</a><div class="flow site" role="navigation" aria-label="Site">${links}</div></header>
${columns}
<p id="announcements" class="spoken" role="status"></p>
${isLive && html`<p id="live-state" class="live-state" role="status" hidden></p>`}
<footer class="flow bottom"><span>Reads the public delegation registries. It never signs or sends anything.</span><a href="/docs">API</a><a href="/status">Status</a><a href="/llms.txt">llms.txt</a></footer>
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
export function pageResponse(text: string, { status = 200, sandbox = false, cache = CACHE }: ResponseOptions = {}) {
  const shown = sandbox ? text.replace(BODY.text, `${BODY.text}\n${BANNER.text}`) : text;
  const respond = cache === CACHE ? fixedResponse : compressibleResponse;
  return respond(shown, { status, headers: pageHeaders('text/html', cache) });
}
