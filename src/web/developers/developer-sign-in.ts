// The part of the page at /developers where a wallet signs in: with a wallet of the browser, or with a signature made elsewhere.

import { NETWORKS } from '../../registry/network.ts';
import { type Html, html } from '../html.ts';

interface SignInOptions {
  readonly chainIds: readonly number[];
  readonly testWallet: string | null;
}

/** A message for Ethereum is always accepted: only contract wallets need another chain. */
const ETHEREUM = 1;

export function renderSignIn({ chainIds, testWallet }: SignInOptions): Html {
  const chains = [ETHEREUM, ...chainIds.filter((one) => one !== ETHEREUM)];
  return html`<section class="panel sign-in" aria-labelledby="sign-in-heading"><h2 id="sign-in-heading" tabindex="-1">Sign in</h2>
<p>Your wallet signs a message that names this service. That is free, and no transaction is sent.</p>
<div class="found"><div id="wallets" class="actions"></div>
<p id="no-wallet" hidden>No wallet found in this browser. Install one, open this page in your wallet’s own browser, or sign the message elsewhere.</p></div>
${testWallet === null ? '' : renderTestWallet(testWallet)}
<details id="elsewhere"><summary>Sign the message elsewhere</summary>
<p>With a hardware wallet, on another device, with a contract wallet, or on the command line.</p>
<form id="make-message"><label>Address<input name="wallet" required placeholder="0x…" autocomplete="off" spellcheck="false"></label>
<label>Chain<select name="chainId">${chains.map((id) => html`<option value="${id}">${NETWORKS.get(id)?.name ?? id}</option>`)}</select></label>
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
