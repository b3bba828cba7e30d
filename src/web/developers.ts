// /developers: the page where developers get keys. Everything in it that needs a wallet is done by its script.

import { html } from './html.ts';
import { DEVELOPERS_SCRIPT, pageText } from './page.ts';

export const developersText = (selfService: boolean): string =>
  pageText(
    { title: 'Developers', path: '/developers', ...(selfService ? { script: DEVELOPERS_SCRIPT } : {}) },
    html`<h1>API keys</h1>
<p class="lead">Without a key, 25 requests are answered in any 10 seconds unless the operator chose otherwise. With a key in
<code>X-API-KEY</code>, v2 has no limit. <a href="/docs">API reference</a></p>
${selfService ? SELF_SERVICE : html`<p class="empty">On this service keys are given out by its operator: ask them for one.</p>`}`,
  );

const SELF_SERVICE = html`<noscript><p class="notice trouble">Signing in with a wallet needs JavaScript.</p></noscript>
<p id="message" class="notice" role="status" aria-live="polite" hidden></p>
<section id="signed-out" hidden><h2>Sign in</h2>
<p>Your wallet signs a message that names this service, once. Nothing is sent to a chain, and it costs nothing.</p>
<div id="wallets"></div><p id="no-wallet" class="empty" hidden>No wallet was found in this browser. Install one, or open this page in the browser of your wallet.</p></section>
<section id="signed-in" hidden><h2>Your keys</h2>
<p>Signed in as <code id="wallet"></code> <button id="sign-out" class="plain" type="button">Sign out</button></p>
<div id="new-key" class="notice yes" hidden><strong>Your new key</strong> is shown this once: copy it now.<pre><code id="new-key-text"></code></pre>
<button id="copy" type="button">Copy</button> <button id="hide" class="plain" type="button">I have it</button></div>
<form id="create" class="panel"><label>Label<input name="label" required maxlength="100" placeholder="mint site" autocomplete="off"></label>
<label>Expires<select name="days"><option value="">never</option><option value="30">in 30 days</option><option value="365">in a year</option></select></label>
<button>Create a key</button></form>
<p id="no-keys" class="empty" hidden>You have no keys yet.</p>
<div id="keys" class="cards"></div></section>
<template id="key-card"><section class="card"><h3><span data-field="label"></span> <span class="badge" data-field="state"></span></h3>
<dl><dt>Key</dt><dd><code data-field="shown"></code></dd><dt>Created</dt><dd data-field="created"></dd><dt>Last used</dt><dd data-field="used"></dd></dl>
<figure class="uses"><svg viewBox="0 0 300 48" role="img" preserveAspectRatio="none"></svg><figcaption data-field="total"></figcaption></figure>
<p class="actions"><button type="button" class="plain" data-action="rotate">Rotate</button> <button type="button" class="plain" data-action="revoke">Revoke</button></p></section></template>`;
