// The part of the page at /developers where a wallet manages its API keys. A script fills it.

import { html } from '../html.ts';

/** Stays in view if the session ends, because the key cannot be shown again. */
export const NEW_KEY = html`<section id="new-key" class="notice yes stack once" aria-labelledby="new-key-heading" hidden>
<h2 id="new-key-heading">Your new key for <span data-field="label"></span></h2>
<p>Copy it now: it will not be shown again.</p>
<pre><code id="new-key-text"></code></pre>
<p class="actions"><button type="button" id="copy-key">Copy the key</button></p>
<p>Try it: which delegations does your own wallet have?</p>
<pre><code id="new-key-curl"></code></pre>
<p class="actions"><button type="button" class="plain" id="copy-curl">Copy the command</button>
<button id="hide-new-key" class="plain" type="button">Done</button></p></section>`;

const CREATE = html`<form id="create" class="panel create flow ask"><label>Label<input name="label" required maxlength="100" placeholder="mint site" autocomplete="off"></label>
<label>Expires<select name="days"><option value="">never</option><option value="30">in 30 days</option><option value="365">in a year</option></select></label>
<button>Create a key</button></form>`;

/** Each button gets the name of its key, which tells apart the two keys of a rotation. */
const TEMPLATES = html`<template id="key-group"><section class="card"><h3 data-field="label"></h3><ul class="lines"></ul></section></template>
<template id="key-row"><li><div class="flow key"><code data-field="shown"></code> <span class="badge" data-field="state"></span>
<span class="actions"><button type="button" class="plain" data-action="rotate">Rotate</button> <button type="button" class="plain" data-action="revoke">Revoke</button></span></div>
<p class="soft" data-field="facts"></p>
<figure class="uses" hidden><svg viewBox="0 0 300 48" role="img" preserveAspectRatio="none"><path/></svg><figcaption>Requests per day, last 30 days</figcaption></figure></li></template>
<template id="ended-row"><tr><td data-field="label"></td><td><code data-field="shown"></code></td><td data-field="ended"></td><td data-field="used"></td></tr></template>`;

const DIALOGS = html`<dialog id="rotate-dialog" aria-labelledby="rotate-title"><form method="dialog">
<h2 id="rotate-title">Rotate <span data-field="name"></span>?</h2>
<p>You get a new key with the same label, limit and expiry. What about the old key, <code data-field="shown"></code>?</p>
<label class="choice"><input type="radio" name="overlap" value="keep" checked><span>It works for another 24 hours, until <span data-field="until"></span>, so that you can replace it without an interruption.</span></label>
<label class="choice"><input type="radio" name="overlap" value="end"><span>It ends at once: requests with it are refused within two seconds.</span></label>
<p class="soft" data-field="full" hidden>You have as many active keys as you can have, so there is no room for both.</p>
<p class="actions"><button value="yes">Rotate the key</button> <button class="plain" value="" formnovalidate>Cancel</button></p></form></dialog>
<dialog id="revoke-dialog" aria-labelledby="revoke-title"><form method="dialog">
<h2 id="revoke-title">Revoke <span data-field="name"></span>?</h2>
<p>Requests with the key <code data-field="shown"></code> are refused within two seconds. This cannot be undone.</p>
<p data-field="other"></p>
<p class="actions"><button class="danger" value="yes">Revoke the key</button> <button class="plain" value="" autofocus>Cancel</button></p></form></dialog>`;

export const KEYS_SECTION = html`<section aria-labelledby="keys-heading"><div class="flow heading"><h2 id="keys-heading" tabindex="-1">Your keys</h2><p id="quota" class="soft"></p></div>
${CREATE}
<p id="no-keys" class="empty" hidden>You have no keys yet. Create one for each program that asks, so that you can revoke it alone.</p>
<div id="keys" class="stack"></div>
<details id="ended" hidden><summary>Keys that have ended</summary><div class="scroll" tabindex="0" role="region" aria-label="Keys that have ended">
<table><thead><tr><th>Label</th><th>Key</th><th>Ended</th><th>Last used</th></tr></thead><tbody id="ended-keys"></tbody></table></div></details>
<p><button id="more-keys" class="plain" type="button" hidden>Show more keys</button></p></section>
${TEMPLATES}
${DIALOGS}`;
