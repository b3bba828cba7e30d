// The part of the page at /developers where a wallet manages its webhooks. A script fills it.

import { html } from '../html.ts';

/** Stays in view if the session ends, because the secret cannot be shown again. */
export const NEW_SECRET = html`<section id="new-secret" class="notice yes stack once" aria-labelledby="new-secret-heading" hidden>
<h2 id="new-secret-heading">The secret of <span data-field="url"></span></h2>
<p>Your server verifies the signatures with it. Copy it now: it will not be shown again. When your server has it, press Confirm below.</p>
<pre><code id="new-secret-text"></code></pre>
<p class="actions"><button type="button" id="copy-secret">Copy the secret</button>
<button id="hide-new-secret" class="plain" type="button">Done with the secret</button></p></section>`;

const CREATE = html`<form id="create-webhook" class="panel create"><div class="flow ask"><label>URL<input name="url" type="url" required maxlength="2048" placeholder="https://example.com/webhook" autocomplete="off"></label>
<label>Deliver<select name="at"><option value="final">when a block is final</option><option value="head">at once, with undo after a reorg</option></select></label>
<button>Create a webhook</button></div>
<details><summary>Only some changes</summary>
<label>Chain ids<input name="chainId" placeholder="all: or 1,8453" autocomplete="off"></label>
<label>Wallet<input name="wallet" placeholder="from or to this address" autocomplete="off"></label>
<label>From<input name="from" placeholder="cold wallet" autocomplete="off"></label>
<label>To<input name="to" placeholder="hot wallet" autocomplete="off"></label>
<label>Contract<input name="contract" placeholder="0x…" autocomplete="off"></label></details></form>`;

const CARD = html`<template id="webhook-card"><section class="card"><h3><code data-field="url"></code> <span class="badge" data-field="state"></span></h3>
<p class="notice trouble" data-field="reason" hidden></p>
<dl><dt>Delivers</dt><dd data-field="delivers"></dd><dt>Waiting</dt><dd data-field="pending"></dd><dt>Created</dt><dd data-field="created"></dd>
<dt data-field="secret-title">Old secret</dt><dd data-field="secret"></dd></dl>
<p class="actions"><button type="button" class="plain" data-action="test">Send a test</button> <button type="button" class="plain" data-action="pause">Pause</button> <button type="button" class="plain" data-action="resume">Resume</button> <button type="button" class="plain" data-action="replay">Replay</button> <button type="button" class="plain" data-action="rotate">Rotate secret</button> <button type="button" class="plain" data-action="remove">Remove</button></p>
<details data-part="attempts"><summary>Last deliveries</summary><div data-field="failed" hidden><h4 data-field="failed-title"></h4><h4>Payload</h4><pre><code data-field="payload"></code></pre>
<h4>Response</h4><p data-field="response"></p></div>
<p class="soft" data-field="no-attempts">Nothing was sent yet.</p><div class="scroll" tabindex="0" role="region" hidden>
<table><thead><tr><th>Time</th><th>Outcome</th><th>Sent</th><th>Took</th><th>Delivery</th></tr></thead><tbody></tbody></table></div></details></section></template>
<template id="attempt-row"><tr><td data-field="at"></td><td data-field="outcome"></td><td data-field="sent"></td><td data-field="took"></td><td><code data-field="delivery"></code></td></tr></template>`;

const DIALOGS = html`<dialog id="webhook-remove-dialog" aria-labelledby="webhook-remove-title"><form method="dialog">
<h2 id="webhook-remove-title">Remove this webhook?</h2>
<p>Nothing is delivered to <code data-field="url"></code> any more, and its list of deliveries is deleted. This cannot be undone. To stop for a while, pause it.</p>
<p class="actions"><button class="danger" value="yes">Remove the webhook</button> <button class="plain" value="" autofocus>Cancel</button></p></form></dialog>
<dialog id="webhook-rotate-dialog" aria-labelledby="webhook-rotate-title"><form method="dialog">
<h2 id="webhook-rotate-title">Rotate the secret?</h2>
<p>You get a new secret for <code data-field="url"></code>. For 24 hours, deliveries are signed with both secrets, so that your server accepts them before and after you replace it.</p>
<p class="actions"><button value="yes">Rotate the secret</button> <button class="plain" value="">Cancel</button></p></form></dialog>
<dialog id="webhook-replay-dialog" aria-labelledby="webhook-replay-title"><form method="dialog">
<h2 id="webhook-replay-title">Replay deliveries?</h2>
<p>Changes are delivered again to <code data-field="url"></code>, in order, and then everything after them. Your server must ignore what it has seen before.</p>
<label class="choice"><input type="radio" name="from" value="block" checked><span>From a block of one chain</span></label>
<div class="row"><label>Chain id<input name="chainId" inputmode="numeric" pattern="[0-9]+" autocomplete="off"></label>
<label>First block<input name="block" inputmode="numeric" pattern="[0-9]+" autocomplete="off"></label></div>
<label class="choice"><input type="radio" name="from" value="start"><span>All history of every chain of this webhook</span></label>
<p class="actions"><button value="yes">Start the replay</button> <button class="plain" value="" formnovalidate>Cancel</button></p></form></dialog>`;

/** Hidden until the keys above it are there, so that nothing moves. */
export const WEBHOOKS_SECTION = html`<section id="webhooks-section" aria-labelledby="webhooks-heading" hidden><h2 id="webhooks-heading" tabindex="-1">Your webhooks</h2>
<p>A webhook calls your server when a delegation is granted or revoked: signed as <a href="https://www.standardwebhooks.com/">Standard Webhooks</a>
specifies, retried for three days, in order. It works while you have an active key. First, your server
confirms that it wants deliveries: it answers the type <code>webhook.challenge</code> with <code>data.challenge</code> as the body.</p>
${CREATE}
<p id="no-webhooks" class="empty" hidden>You have no webhooks yet. Create one to end a session, clear a cache or warn a user as soon as a delegation changes, without asking again and again.</p>
<div id="webhooks" class="stack"></div>
<p><button id="more-webhooks" class="plain" type="button" hidden>Show more webhooks</button></p></section>
${CARD}
${DIALOGS}`;
