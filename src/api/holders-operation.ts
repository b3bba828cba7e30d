// The token gate: whether a wallet, or a wallet that it may act for, owns a token, at the block of the index.

import { NO_RIGHTS } from '../registry/delegation.ts';
import { BLOCK_HEADERS } from './headers.ts';
import { inPath, type OperationBase, optional, required, withDefault } from './operation.ts';
import * as p from './params.ts';
import { AS_OF_PARAMS, NUMBERS, ONE_POINT_IN_TIME, ofRegistry } from './registry-operation.ts';
import { BALANCE, BLOCK, DETAILED_DELEGATION, NEXT } from './responses.ts';
import { arrayOf, boolean, checksumAddress, described, integer, named, nullable, object } from './shape.ts';

export const HOLDER = object({
  owner: checksumAddress,
  balance: described(
    BALANCE,
    'What the owner holds, at most what it delegated. 1 for an ERC-721 token; without `tokenId`, the number of its tokens.',
  ),
  delegations: described(
    arrayOf(DETAILED_DELEGATION.any),
    'The delegations by which the wallet may act for this owner. Empty if the wallet is the owner.',
  ),
});

export const HOLDERS = named(
  'Holders',
  object({
    wallet: checksumAddress,
    holds: nullable(
      described(
        boolean,
        'Whether this page has a holder. Null if it has none and there is a next page: the answer is not known yet.',
      ),
    ),
    chainId: integer,
    block: BLOCK,
    holders: arrayOf(HOLDER),
    next: NEXT,
  }),
);

export const HOLDERS_OPERATION = {
  ...ofRegistry('any'),
  kind: 'holders',
  path: '/registry/any/holders/{wallet}',
  id: 'holders',
  summary: 'Check whether a wallet, or a wallet that it may act for, owns a token',
  description:
    'The token gate in one call. Ownership is read from the chain at the same block as the delegations. With the `tokenId` of an ERC-721 token: its owner, if that is the wallet or has delegated the token to it in either registry. Otherwise the balances of the wallet and of the wallets that it may act for, in pages. If ownership cannot be read at that block, the answer is 503, never `false`.',
  params: {
    wallet: inPath(p.hotWallet),
    contract: required(p.contract),
    tokenId: optional(p.tokenId),
    standard: optional(p.tokenStandard),
    rights: withDefault(p.rights, NO_RIGHTS),
    chainId: withDefault(p.chainId, 1),
    ...AS_OF_PARAMS,
    ...NUMBERS,
    limit: withDefault(p.holdersLimit, p.MAX_HOLDERS),
    cursor: optional(p.pageCursor),
  },
  rules: [ONE_POINT_IN_TIME],
  answer: {
    description: 'The holders.',
    body: HOLDERS,
    headers: [...BLOCK_HEADERS, 'Link'],
    hasETag: true,
  },
  problems: [
    ...ofRegistry('any').problems,
    'cursor-gone',
    'ownership-off',
    'block-not-kept',
    'not-a-token',
    'ownership-unavailable',
  ],
} as const satisfies OperationBase;
