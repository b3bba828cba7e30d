// Renders the page at /developers, where a wallet signs in and manages its API keys and webhooks. Its scripts do the rest.

import { ANY_LIST } from '../../api/any-operations.ts';
import { type Html, html } from '../html.ts';
import { renderPage } from '../page.ts';
import { chainChoices, selectField } from '../parts.ts';
import { KEYS_SECTION, NEW_KEY } from './developer-keys.ts';
import { NEW_SECRET, WEBHOOKS_SECTION } from './developer-webhooks.ts';

interface Limit {
  readonly most: number;
  readonly seconds: number;
}

export interface DeveloperPage {
  /** The limits with and without a key; null for none. */
  readonly keyLimit: Limit | null;
  readonly anonymousLimit: Limit | null;
  /** Null if the operator hands out the keys. */
  readonly selfService: SelfService | null;
}

/** Who is signed in. */
export interface SessionJson {
  /** The wallet with its checksum; null if nobody is signed in. */
  readonly wallet: string | null;
  /** The chain of a contract wallet. Other wallets are the same on every chain. */
  readonly chainId: number | null;
}

interface SelfService {
  readonly session: SessionJson;
  /** The chains that a contract wallet can be on. */
  readonly chainIds: readonly number[];
  readonly webhooks: boolean;
  /** In a sandbox: the address of a wallet that everybody may sign in with. */
  readonly testWallet: string | null;
}

const SCRIPTS = ['/developer-sign-in.js', '/developer-keys.js'] as const;

export const renderDevelopers = ({ keyLimit, anonymousLimit, selfService }: DeveloperPage): string =>
  renderPage(
    {
      title: 'Developers',
      path: '/developers',
      styles: ['/developers.css'],
      scripts: selfService === null ? [] : selfService.webhooks ? [...SCRIPTS, '/developer-webhooks.js'] : SCRIPTS,
    },
    html`<h1>API keys${selfService?.webhooks ? ' and webhooks' : ''}</h1>
<p class="lead">${describeLimits(anonymousLimit, keyLimit)} <a href="/docs">API reference</a></p>
${selfService === null ? OPERATOR_MANAGED : renderSelfService(selfService)}`,
  );

const limitText = (limit: Limit | null, of = '') =>
  limit === null
    ? 'requests are not limited'
    : `you can send ${limit.most} requests in any ${limit.seconds} seconds${of}`;

const describeLimits = (anonymous: Limit | null, key: Limit | null): Html =>
  html`Without a key, ${limitText(anonymous)}. With a key in the <code>X-API-KEY</code> header, ${limitText(key, ', all your keys together')}; v1 takes no keys.`;

const OPERATOR_MANAGED = html`<section class="panel"><h2>How to get a key</h2>
<p>The operator of this service hands out its keys. Ask them for one, and tell them what you will use it for and how many
requests you expect. Send it with each request:</p>
<pre><code>curl -H 'X-API-KEY: dk_…' …</code></pre></section>`;

const hiddenIf = (isHidden: boolean) => isHidden && html` hidden`;

function renderSelfService(page: SelfService): Html {
  const { wallet, chainId } = page.session;
  return html`<noscript><p class="notice trouble">Signing in with a wallet requires JavaScript.</p></noscript>
<div id="signed-out"${hiddenIf(wallet !== null)}>${renderSignIn(page)}</div>
${NEW_KEY}
${page.webhooks && NEW_SECRET}
<div id="signed-in" data-wallet="${wallet ?? ''}" data-chain="${chainId ?? ''}" data-example="${ANY_LIST.path}"${hiddenIf(wallet === null)}>
<p class="flow who">Signed in as <code id="wallet">${wallet ?? ''}</code> <span id="wallet-chain" class="soft"></span>
<button id="sign-out" class="plain" type="button">Sign out</button></p>
${KEYS_SECTION}
${page.webhooks && WEBHOOKS_SECTION}</div>
<div id="messages" role="status"></div>`;
}

/** A message for Ethereum is always accepted: only contract wallets need another chain. */
const ETHEREUM = 1;

/** With a wallet of the browser, or with a signature made elsewhere. */
function renderSignIn({ chainIds, testWallet }: SelfService): Html {
  const chains = chainChoices([ETHEREUM, ...chainIds.filter((one) => one !== ETHEREUM)]);
  return html`<section class="panel sign-in" aria-labelledby="sign-in-heading"><h2 id="sign-in-heading" tabindex="-1">Sign in</h2>
<p>Your wallet signs a message that names this service. That is free, and no transaction is sent.</p>
<div class="found"><div id="wallets" class="actions"></div>
<p id="no-wallet" hidden>No wallet found in this browser. Install one, open this page in your wallet’s own browser, or sign the message elsewhere.</p></div>
${testWallet !== null && renderTestWallet(testWallet)}
<details id="elsewhere"><summary>Sign the message elsewhere</summary>
<p>With a hardware wallet, on another device, with a contract wallet, or on the command line.</p>
<form id="make-message"><label>Address<input name="wallet" required placeholder="0x…" autocomplete="off" spellcheck="false"></label>
${selectField('Chain', 'chainId', '', chains)}
<p class="soft">The chain matters only for a contract wallet.</p>
<button class="plain">Show the message</button></form>
<form id="paste" hidden><p id="paste-intro" tabindex="-1">Sign exactly this text (<code>personal_sign</code>) within ten minutes:</p>
<pre><code id="message-text"></code></pre>
<p class="actions"><button type="button" class="plain" id="copy-message">Copy the message</button>
<button type="button" class="plain" id="copy-cast">Copy as a command of cast</button></p>
<label>Signature<textarea name="signature" required rows="3" placeholder="0x…" autocomplete="off" spellcheck="false"></textarea></label>
<button>Sign in</button></form></details></section>`;
}

const renderTestWallet = (
  address: string,
) => html`<p class="flow"><button type="button" id="test-wallet" data-address="${address}">Use the sandbox’s test wallet</button>
<span class="soft">No wallet needed: the sandbox signs for <code>${address}</code>.</span></p>`;
