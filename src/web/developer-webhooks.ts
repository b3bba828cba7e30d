// The section of the page at /developers where a wallet manages its webhooks. A script of its own fills it.

import { html } from './html.ts';

export const WEBHOOKS_SECTION = html`<h2>Your webhooks</h2>
<p>A webhook sends each change of a delegation to your server, signed as
<a href="https://www.standardwebhooks.com/">Standard Webhooks</a> specifies. It works while you have an active key.</p>
<div id="new-secret" class="notice yes" hidden><strong>The secret of your webhook.</strong> Your server verifies signatures with it. Copy it now: it will not be shown again.<pre><code id="new-secret-text"></code></pre>
<button id="copy-secret" type="button">Copy secret</button> <button id="hide-secret" class="plain" type="button">Done with the secret</button></div>
<form id="create-webhook" class="panel"><label>URL<input name="url" type="url" required maxlength="2048" placeholder="https://example.com/webhook" autocomplete="off"></label>
<label>Deliver<select name="at"><option value="final">when a block is final</option><option value="head">at once, with undo after a reorg</option></select></label>
<details><summary>Filters</summary>
<label>Chain ids<input name="chainId" placeholder="all: or 1,8453" autocomplete="off"></label>
<label>Wallet<input name="wallet" placeholder="from or to this address" autocomplete="off"></label>
<label>From<input name="from" placeholder="cold wallet" autocomplete="off"></label>
<label>To<input name="to" placeholder="hot wallet" autocomplete="off"></label>
<label>Contract<input name="contract" placeholder="0x…" autocomplete="off"></label></details>
<button>Create a webhook</button></form>
<p id="no-webhooks" class="empty" hidden>You have no webhooks yet.</p>
<div id="webhooks" class="cards wide"></div>
<p><button id="more-webhooks" class="plain" type="button" hidden>Show more webhooks</button></p>
<template id="webhook-card"><section class="card"><h3><code data-field="url"></code> <span class="badge" data-field="state"></span></h3>
<p class="notice trouble" data-field="reason" hidden></p>
<dl><dt>Delivers</dt><dd data-field="delivers"></dd><dt>Created</dt><dd data-field="created"></dd><dt>Pending</dt><dd data-field="pending"></dd></dl>
<p class="actions"><button type="button" class="plain" data-action="test">Send a test</button> <button type="button" class="plain" data-action="pause">Pause</button> <button type="button" class="plain" data-action="resume">Resume</button> <button type="button" class="plain" data-action="rotate">Rotate secret</button> <button type="button" class="plain" data-action="remove">Remove</button></p>
<details data-part="replay"><summary>Replay</summary><form><label>Chain id<input name="chainId" inputmode="numeric" pattern="[0-9]+" autocomplete="off"></label>
<label>First block<input name="block" inputmode="numeric" pattern="[0-9]+" placeholder="empty: all history" autocomplete="off"></label>
<button class="plain">Replay</button></form></details>
<details data-part="attempts"><summary>Last deliveries</summary><div class="scroll" tabindex="0" role="region" aria-label="Last deliveries"></div></details></section></template>`;
