// Answers one question about many wallets, as of one block: each as the operation for a single wallet would.

import { badRequest, Problem } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { MAX_WALLETS, MAX_WALLETS_BYTES, type WalletBatchOperation } from '../../api/wallet-batch-operations.ts';
import { blockText } from '../../feed/delegation-json.ts';
import {
  type AsOf,
  chainReorganizing,
  type PinnedBlock,
  pinIndexed,
  reorganizing,
  retryRewritten,
} from '../context/as-of.ts';
import { requireServed } from '../context/served-chains.ts';
import type { Call } from '../context/service.ts';
import { CORS, JSON_TYPE } from '../wire/answer.ts';
import { readJsonBody } from '../wire/body.ts';
import { streamParts } from '../wire/stream-parts.ts';
import { ownershipOff } from './holders.ts';

/** Longer than any address. */
const MAX_WALLET_LENGTH = 64;

export async function answerWalletBatch(operation: WalletBatchOperation, call: Call): Promise<Response> {
  const { request, query, service, ask } = call;
  const { chainId, block, timestamp } = readRequest(operation, {}, query) as { readonly chainId: number } & AsOf;
  if (operation.id === 'holdersBatch' && service.tokens === undefined) throw ownershipOff();
  const caller = call.caller();
  const received = service.longLists.receive(caller);
  try {
    const wallets = readWallets(await readJsonBody(request, MAX_WALLETS_BYTES, service.answerTimeout, received.add));
    await call.count(wallets.length);
    requireServed(chainId, 'any', service.chainIds);
    const pin = () => pinIndexed(chainId, { block, timestamp }, service);
    const pinned = blockOf(await retryRewritten(pin, () => chainReorganizing(chainId)));
    const asked = new URLSearchParams(query);
    asked.delete('timestamp');
    asked.set('block', pinned.number);
    const urls = wallets.map((wallet) => `${operation.path}/${encodeURIComponent(wallet)}?${asked}`);
    // Not before the body is there: a caller that sends nothing must not keep others from theirs.
    const { end } = service.longLists.begin(caller);
    const headers = { ...CORS, 'content-type': JSON_TYPE, 'cache-control': 'no-store', vary: 'X-API-KEY' };
    return streamParts(answersOf(urls, pinned, chainId, ask), { headers }, end, service);
  } finally {
    received.end();
  }
}

function readWallets(body: unknown): readonly string[] {
  const refuse = (detail: string) => badRequest([{ parameter: 'wallets', detail }]);
  if (body === undefined) throw new Problem('bad-request', 'The body is not JSON.');
  const wallets = (body as { readonly wallets?: unknown } | null)?.wallets;
  if (!Array.isArray(wallets) || wallets.length === 0) throw refuse('must be a list of addresses in the body');
  if (wallets.length > MAX_WALLETS) throw refuse(`must have at most ${MAX_WALLETS} addresses, not ${wallets.length}`);
  const strange = wallets.findIndex((wallet) => typeof wallet !== 'string' || wallet.length > MAX_WALLET_LENGTH);
  if (strange >= 0) throw refuse(`has something else than an address at position ${strange}`);
  return wallets as string[];
}

/** A block whose hash is not known must be final: otherwise a reorg would not be noticed. */
function blockOf({ block, chain: { chainId, verified } }: PinnedBlock) {
  const { number, hash } = block;
  const isFinal = number <= (verified ?? -1);
  if (hash === null && !isFinal)
    throw new Problem(
      'block-not-kept',
      `The index of chain ${chainId} has no hash of block ${number}, which is not final, so a reorg would not be noticed. Use block=latest or block=finalized.`,
      { fields: { chainId, block: number } },
    );
  // Once a block is final, its hash need not be kept, and it is not replaced.
  return { number: String(number), hash: isFinal ? null : hash, text: blockText(block) };
}

type Block = ReturnType<typeof blockOf>;

async function* answersOf(urls: readonly string[], block: Block, chainId: number, ask: Call['ask']) {
  let isComplete = true;
  for (const [position, url] of urls.entries()) {
    const response = await ask(url);
    const text = await response.text();
    if (response.status === 500) throw new Error(`A wallet of a batch was not answered: ${text}`);
    // The answer names its block.
    if (response.ok && block.hash !== null && !text.includes(block.hash))
      throw reorganizing(`A reorg replaced block ${block.number} of chain ${chainId}. Send the wallets again.`);
    isComplete &&= response.ok;
    const lead = position === 0 ? `{"chainId":${chainId},"block":${block.text},"answers":[` : ',';
    yield lead + (response.ok ? text : `{"problem":${text}}`);
  }
  yield `],"complete":${isComplete}}`;
}
