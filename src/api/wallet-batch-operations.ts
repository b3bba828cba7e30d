// POST /registry/any/vaults, delegates and holders: the same question about many wallets, as of one block.

import { COUNTERPARTS, HOLDERS_OPERATION } from './any-operations.ts';
import { type OperationBase, type ParamUse, withDefault } from './operation.ts';
import * as p from './params.ts';
import { BODY_PROBLEMS, ofRegistry } from './registry-operation.ts';
import { BLOCK, REFUSED } from './responses.ts';
import { anyOf, arrayOf, boolean, checksumAddress, described, integer, object } from './shape.ts';

export const MAX_WALLETS = 1000;
/** A wallet takes 45 bytes. */
export const MAX_WALLETS_BYTES = 64 * 1024;

type Single = (typeof COUNTERPARTS)['vaults' | 'delegates'] | typeof HOLDERS_OPERATION;

/** What is asked about all of them, on one chain: of another, the block would be that of each answer. */
function sharedParams({ params }: Single) {
  const {
    wallet: _,
    limit: _limit,
    cursor: _cursor,
    delegationChainId: _chains,
    ...shared
  } = params as Readonly<Record<string, ParamUse>>;
  return { ...shared, chainId: withDefault(p.chainId, 1) };
}

const defineWalletBatch = <S extends Single>(single: S, summary: string) =>
  ({
    ...single,
    method: 'POST',
    kind: 'wallet-batch',
    path: single.path.replace('/{wallet}', ''),
    id: `${single.id as S['id']}Batch`,
    summary,
    description: `Asks \`${single.path}\` about up to ${MAX_WALLETS.toLocaleString('en')} wallets of a chain, all as of one block, which the answer names. The answers are in the order of the wallets, and each is the first page of that wallet's, or has a problem: look at each. A reorg that replaces the block meanwhile cuts the response off: it is then no JSON. Without a key, each wallet counts as a request.`,
    params: sharedParams(single),
    requestBody: {
      description: 'An object with `wallets`, a list of addresses.',
      content: { 'application/json': object({ wallets: arrayOf(checksumAddress, { maxItems: MAX_WALLETS }) }) },
    },
    answer: {
      description: 'The answers.',
      body: object({
        chainId: integer,
        block: BLOCK,
        answers: arrayOf(anyOf(single.answer.body, described(REFUSED, 'Of a wallet that cannot be answered now.'))),
        complete: described(boolean, 'Whether every wallet was answered.'),
      }),
      headers: [],
      hasETag: false,
    },
    problems: [
      ...ofRegistry('any').problems,
      'block-not-kept',
      ...BODY_PROBLEMS,
      ...(single.kind === 'holders' ? ['ownership-off' as const] : []),
    ],
  }) as const satisfies OperationBase;

export const WALLET_BATCHES = [
  defineWalletBatch(COUNTERPARTS.vaults, 'List the wallets that each of many wallets may act for'),
  defineWalletBatch(COUNTERPARTS.delegates, 'List the wallets that may act for each of many wallets'),
  defineWalletBatch(
    HOLDERS_OPERATION,
    'Check whether each of many wallets, or a wallet that it may act for, owns a token',
  ),
] as const;
export type WalletBatchOperation = (typeof WALLET_BATCHES)[number];
