// Renders the offer to prove the answer to a check: the browser verifies the proof (prove.browser.js). Without a script, the form
// leads to the answer of the API with its proof.

import type { Explanation } from '../../api/responses.ts';
import { checkUrl, type UncheckedQuestion } from '../../api/url.ts';
import { type Html, html } from '../html.ts';
import { explorerUrl } from '../parts.ts';
import type { ExplorerQuery } from './explorer-query.ts';

export function renderProve(
  { sandbox, proves }: ExplorerQuery,
  question: UncheckedQuestion,
  chainId: string,
  { result, block }: Explanation,
): Html | null {
  if (!proves) return null;
  const { scope, ...asked } = question;
  const at = String(block.number);
  const url = checkUrl(question, { chainId, block: at, proof: 'true', numbers: 'string' });
  const [path, search] = url.split('?');
  const fields = [...new URLSearchParams(search)].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const explorer = explorerUrl(sandbox, Number(chainId), `block/${at}`);
  // As `delegations check --prove` writes it.
  const inFile = JSON.stringify({ chainId: Number(chainId), check: scope, ...asked });
  return html`<h2>Prove this answer</h2>
<p>You need not take this service's word for it: your browser can verify that the answer follows from the hash of block ${at}.</p>
<form action="${path}" method="get" data-prove="${inFile}" data-block="${at}" data-hash="${block.hash}" data-result="${String(result)}" data-explorer="${explorer}">${fields}<button class="plain">Prove this answer</button></form>`;
}
