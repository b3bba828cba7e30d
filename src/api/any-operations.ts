// Operations that ask both registries: for whom a wallet may act, who may act for it, all of its delegations, and the token gate. All
// but the gate ask several chains at once; each chain answers for itself, with its block or with its problem.

import { type Address, NO_RIGHTS } from '../registry/delegation.ts';
import { CHANGES_OPERATION } from './changes-operation.ts';
import { BLOCK_HEADERS } from './headers.ts';
import { inPath, type OperationBase, optional, type Rule, required, withDefault } from './operation.ts';
import * as p from './params.ts';
import { AS_OF_PARAMS, NUMBERS, ONE_POINT_IN_TIME, ofRegistry } from './registry-operation.ts';
import {
  ALL_ANSWERED,
  BALANCE,
  BLOCK,
  CHAIN_ANSWER,
  CHAIN_AT,
  DETAILED_DELEGATION,
  HISTORY_ENTRY,
  NEXT,
  NEXT_CHANGE,
} from './responses.ts';
import * as s from './shape.ts';

export const CHAINS_PARAM = { chainId: withDefault(p.chainIds, [1]) } as const;
export const PAGE_PARAMS = {
  limit: withDefault(p.rowsPerPage, p.DEFAULT_PAGE_SIZE),
  cursor: optional(p.pageCursor),
} as const;

/** The fields of every body. */
export const ABOUT_CHAINS = { wallet: s.checksumAddress, complete: ALL_ANSWERED } as const;
const AFTER_ROWS = { chains: s.arrayOf(CHAIN_ANSWER), next: NEXT } as const;

const SHARED = {
  ...ofRegistry('any'),
  rules: [ONE_POINT_IN_TIME],
  problems: [...ofRegistry('any').problems, 'cursor-gone', 'no-chain-answered'],
} as const satisfies Partial<OperationBase>;

const ANSWER = { headers: [...BLOCK_HEADERS, 'Link'], hasETag: true } as const satisfies Partial<
  OperationBase['answer']
>;

export const CHAINS_TEXT =
  'Each chain answers for itself, with its block or with its problem: if at least one chain answers, the status is 200, and `complete` says whether all did.';

const TOKEN_NEEDS_CONTRACT: Rule = (isGiven) =>
  isGiven('tokenId') && !isGiven('contract') ? { parameter: 'contract', detail: 'is required with tokenId' } : null;

/** The two sides of a delegation: which wallet is asked about, and which wallets are listed. */
const SIDES = {
  vaults: {
    one: 'vault',
    name: 'Vaults',
    param: p.hotWallet,
    summary: 'List the wallets that a wallet may act for',
    listed: 'The cold wallets for which this hot wallet may act',
  },
  delegates: {
    one: 'delegate',
    name: 'Delegates',
    param: p.grantingWallet,
    summary: 'List the wallets that may act for a wallet',
    listed: 'The hot wallets that may act for this cold wallet',
  },
} as const;

export type Side = keyof typeof SIDES;

/** Who acts alone is asked about the wallets that a wallet acts for. */
const RIGHTS = {
  vaults: { rights: withDefault(p.rightsOrId, NO_RIGHTS), resolver: optional(p.resolver) },
  delegates: { rights: withDefault(p.rights, NO_RIGHTS) },
} as const;

/** Of exclusive resolution. */
const CHANGE = { vaults: { nextChange: s.optional(NEXT_CHANGE) }, delegates: {} } as const;
const WHAT_PARAMS = { contract: optional(p.contract), tokenId: optional(p.tokenId) } as const;
const COUNTERPART_PARAMS = {
  narrower: withDefault(p.narrower, 'false'),
  ...CHAINS_PARAM,
  ...AS_OF_PARAMS,
  ...NUMBERS,
  ...PAGE_PARAMS,
} as const;
type CounterpartParams<S extends Side> = { readonly wallet: ReturnType<typeof inPath<Address>> } & typeof WHAT_PARAMS &
  typeof COUNTERPART_PARAMS &
  (S extends 'vaults' ? typeof RIGHTS.vaults : typeof RIGHTS.delegates);

const NARROWER_TEXT =
  'With `narrower=true`, wallets follow whose delegations cover only a part of what is asked. One with very many of them can be on several pages.';

function defineCounterparts<S extends Side>(side: S) {
  const { one, name, param, summary, listed } = SIDES[side];
  const row = s.object({
    [one]: s.checksumAddress,
    chainId: s.integer,
    narrower: s.described(s.boolean, 'Whether the delegations cover only a part of what is asked.'),
    grants: s.arrayOf(DETAILED_DELEGATION.any),
  });
  const params = { wallet: inPath(param), ...WHAT_PARAMS, ...RIGHTS[side], ...COUNTERPART_PARAMS };
  return {
    ...SHARED,
    kind: 'counterparts',
    side,
    /** The name of the listed wallet in a row. */
    one,
    path: `/registry/any/${side}/{wallet}`,
    id: side,
    summary,
    description: `${listed}: for everything, with \`contract\` on that contract, with \`tokenId\` on that ERC-721 token. A ${one} is listed exactly if that check of either registry is true, once, with the delegations that grant it, ordered by address. ${NARROWER_TEXT} ${CHAINS_TEXT}`,
    params: params as unknown as CounterpartParams<S>,
    rules: [ONE_POINT_IN_TIME, TOKEN_NEEDS_CONTRACT],
    answer: {
      ...ANSWER,
      description: `The ${side}.`,
      body: s.named(
        name,
        s.object({ ...ABOUT_CHAINS, [side]: s.arrayOf(row), ...AFTER_ROWS, ...CHANGE[side] }),
      ) as s.Shape<object>,
    },
  } as const satisfies OperationBase & { readonly side: S; readonly one: string };
}

export const COUNTERPARTS = { vaults: defineCounterparts('vaults'), delegates: defineCounterparts('delegates') };
export type CounterpartsOperation = (typeof COUNTERPARTS)[Side];

/** The token gate: whether a wallet, or a wallet that it may act for, owns a token, at the block of the index. */
export const HOLDER = s.object({
  owner: s.checksumAddress,
  balance: s.described(
    BALANCE,
    'What the owner holds, at most what it delegated. 1 for an ERC-721 token; without `tokenId`, the number of its tokens.',
  ),
  delegations: s.described(
    s.arrayOf(DETAILED_DELEGATION.any),
    'The delegations by which the wallet may act for this owner. Empty if the wallet is the owner.',
  ),
});

export const HOLDERS_BODY = s.object({
  wallet: s.checksumAddress,
  holds: s.nullable(
    s.described(
      s.boolean,
      'Whether this page has a holder. Null if it has none and there is a next page: the answer is not known yet.',
    ),
  ),
  chainId: s.integer,
  block: BLOCK,
  holders: s.arrayOf(HOLDER),
  next: NEXT,
});
const DELEGATION_CHAINS = s.described(
  s.arrayOf(CHAIN_AT),
  'With `delegationChainId`: the chains whose delegations count, and the block at which each was read.',
);
const HOLDERS = s.named(
  'Holders',
  s.object({ ...HOLDERS_BODY.fields, delegationChains: s.optional(DELEGATION_CHAINS) }),
);

export const HOLDERS_OPERATION = {
  ...ofRegistry('any'),
  kind: 'holders',
  path: '/registry/any/holders/{wallet}',
  id: 'holders',
  summary: 'Check whether a wallet, or a wallet that it may act for, owns a token',
  description:
    "The token gate in one call. Ownership is read from the chain at the same block as the delegations. With the `tokenId` of an ERC-721 token: its owner, if that is the wallet or has delegated the token to it in either registry. Otherwise the balances of the wallet and of the wallets that it may act for, in pages. If ownership cannot be read at that block, the answer is 503, never `false`. With `resolver=exclusive`, an owner counts for the one wallet that acts for it: for the token, or for balances for the whole wallet. With `delegationChainId`, delegations of these chains count: of the newest block of each, or, if an older one is asked of the token's chain, of the newest at its time. If one of the chains cannot answer, the answer is its problem.",
  params: {
    wallet: inPath(p.hotWallet),
    contract: required(p.contract),
    tokenId: optional(p.tokenId),
    standard: optional(p.tokenStandard),
    ...RIGHTS.vaults,
    chainId: withDefault(p.chainId, 1),
    delegationChainId: optional(p.delegationChainIds),
    ...AS_OF_PARAMS,
    ...NUMBERS,
    limit: withDefault(p.holdersLimit, p.MAX_HOLDERS),
    cursor: optional(p.pageCursor),
  },
  rules: [ONE_POINT_IN_TIME],
  answer: { ...ANSWER, description: 'The holders.', body: HOLDERS },
  problems: [
    ...ofRegistry('any').problems,
    'cursor-gone',
    'ownership-off',
    'block-not-kept',
    'not-a-token',
    'ownership-unavailable',
  ],
} as const satisfies OperationBase;

/** What is listed, of which chains, and when. */
const LISTED_PARAMS = {
  wallet: inPath(p.listedWallet),
  ...CHAINS_PARAM,
  ...AS_OF_PARAMS,
  direction: optional(p.direction),
} as const;

export const ANY_LIST = {
  ...SHARED,
  kind: 'any-list',
  path: '/registry/any/{wallet}',
  id: 'listAny',
  summary: 'List the delegations of a wallet in both registries and on several chains',
  description: `Incoming and outgoing delegations in full detail, each with its version and chain. Chain by chain, v2 before v1, each in the order of its own list. ${CHAINS_TEXT}`,
  params: {
    ...LISTED_PARAMS,
    type: optional(p.type),
    contract: optional(p.contractFilter),
    rights: optional(p.rightsFilter),
    unrestricted: withDefault(p.unrestricted, 'false'),
    types: optional(p.types),
    ...NUMBERS,
    ...PAGE_PARAMS,
  },
  answer: {
    ...ANSWER,
    description: 'The delegations.',
    body: s.object({ ...ABOUT_CHAINS, delegations: s.arrayOf(DETAILED_DELEGATION.any), ...AFTER_ROWS }),
  },
} as const satisfies OperationBase;

export const HISTORY = {
  ...SHARED,
  kind: 'history',
  path: '/registry/any/history/{wallet}',
  id: 'history',
  summary: 'List everything that a wallet ever granted or got',
  description: `Every grant in both registries, and what ended it, chain by chain, the newest grant first. A changed amount ends one grant and begins the next. A grant that was revoked in the same block is not listed. ${CHAINS_TEXT}`,
  params: { ...LISTED_PARAMS, ...NUMBERS, ...PAGE_PARAMS },
  answer: {
    ...ANSWER,
    description: 'The grants.',
    body: s.object({ ...ABOUT_CHAINS, grants: s.arrayOf(HISTORY_ENTRY), ...AFTER_ROWS }),
  },
} as const satisfies OperationBase;

export const ANY_OPERATIONS = [
  COUNTERPARTS.vaults,
  COUNTERPARTS.delegates,
  HOLDERS_OPERATION,
  CHANGES_OPERATION,
  HISTORY,
  ANY_LIST,
] as const;
export type AnyOperation = (typeof ANY_OPERATIONS)[number];
