// Renders the page at /developers, where a wallet signs in and manages its API keys and webhooks. Its script does the signing.

import { WEBHOOKS_SECTION } from './developer-webhooks.ts';
import { type Html, html } from './html.ts';
import { DEVELOPERS_SCRIPT, renderPage, WEBHOOKS_SCRIPT } from './page.ts';

interface KeyLimit {
  readonly most: number;
  readonly seconds: number;
}

export interface DeveloperPage {
  /** Whether a wallet can create its own keys. */
  readonly selfService: boolean;
  readonly webhooks: boolean;
  /** Null if requests with a key are not limited. */
  readonly keyLimit: KeyLimit | null;
}

export const renderDevelopers = ({ selfService, webhooks, keyLimit }: DeveloperPage): string =>
  renderPage(
    {
      title: 'Developers',
      path: '/developers',
      scripts: selfService ? [DEVELOPERS_SCRIPT, ...(webhooks ? [WEBHOOKS_SCRIPT] : [])] : [],
    },
    html`<h1>API keys</h1>
<p class="lead">Without a key, the default limit is 25 requests per 10 seconds. With a key in the
<code>X-API-KEY</code> header, ${
      keyLimit === null
        ? 'requests to v2 are not limited'
        : `the limit for v2 is ${keyLimit.most} requests per ${keyLimit.seconds} seconds, shared by all your keys`
    }. <a href="/docs">API reference</a></p>
${selfService ? renderSelfService(webhooks ? WEBHOOKS_SECTION : html``) : html`<p class="empty">Self-service is switched off. Ask the operator of this service for a key.</p>`}`,
  );

const renderSelfService = (
  webhooks: Html,
) => html`<noscript><p class="notice trouble">Signing in with a wallet requires JavaScript.</p></noscript>
<p id="message" class="notice" role="status" aria-live="polite" hidden></p>
<section id="signed-out" hidden><h2>Sign in</h2>
<p>Your wallet signs a message that names this service. No transaction is sent, and it is free.</p>
<div id="wallets"></div><p id="no-wallet" class="empty" hidden>No wallet found in this browser. Install one, or open this page in your wallet's browser.</p></section>
<section id="signed-in" hidden><h2>Your keys</h2>
<p>Signed in as <code id="wallet"></code> <button id="sign-out" class="plain" type="button">Sign out</button></p>
<div id="new-key" class="notice yes" hidden><strong>Your new key.</strong> Copy it now: it will not be shown again.<pre><code id="new-key-text"></code></pre>
<button id="copy" type="button">Copy</button> <button id="hide" class="plain" type="button">Done</button></div>
<form id="create" class="panel"><label>Label<input name="label" required maxlength="100" placeholder="mint site" autocomplete="off"></label>
<label>Expires<select name="days"><option value="">never</option><option value="30">in 30 days</option><option value="365">in a year</option></select></label>
<button>Create a key</button></form>
<p id="no-keys" class="empty" hidden>You have no keys yet.</p>
<div id="keys" class="cards"></div>
<p><button id="more" class="plain" type="button" hidden>Show more keys</button></p>
${webhooks}</section>
<template id="key-card"><section class="card"><h3><span data-field="label"></span> <span class="badge" data-field="state"></span></h3>
<dl><dt>Key</dt><dd><code data-field="shown"></code></dd><dt>Created</dt><dd data-field="created"></dd><dt>Last used</dt><dd data-field="used"></dd><dt>Limit</dt><dd data-field="limit"></dd></dl>
<figure class="uses"><svg viewBox="0 0 300 48" role="img" preserveAspectRatio="none"></svg><figcaption data-field="total"></figcaption></figure>
<p class="actions"><button type="button" class="plain" data-action="rotate">Rotate</button> <button type="button" class="plain" data-action="revoke">Revoke</button></p></section></template>`;
