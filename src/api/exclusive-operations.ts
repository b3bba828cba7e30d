// Operations of exclusive resolution: which one wallet acts for a vault or a token, by expiring rights of v2.

import { GLOBAL_ID } from '../registry/rights.ts';
import { ABOUT_CHAINS, CHAINS_PARAM, CHAINS_TEXT, PAGE_PARAMS } from './any-operations.ts';
import { BLOCK_HEADERS } from './headers.ts';
import { inPath, type OperationBase, optional, required, withDefault } from './operation.ts';
import * as p from './params.ts';
import { AS_OF_PARAMS, COMMON_PARAMS, NUMBERS, ONE_POINT_IN_TIME, ofRegistry } from './registry-operation.ts';
import { CHAIN_ANSWER, DETAILED_DELEGATION, EXPIRES, NEXT, NEXT_CHANGE } from './responses.ts';
import * as s from './shape.ts';

const DELEGATED = s.described(s.boolean, 'Whether a delegation decides. If not, the vault acts for itself.');
const exclusive = <const W extends s.Shape<string | null>>(wallet: W) =>
  s.object({
    wallet,
    vault: wallet,
    delegated: DELEGATED,
    delegation: s.nullable(DETAILED_DELEGATION[2]),
    expires: EXPIRES,
    nextChange: NEXT_CHANGE,
  });

export const EXCLUSIVE_WALLET = s.named('ExclusiveWallet', exclusive(s.checksumAddress));
export const EXCLUSIVE_OWNER = s.named('ExclusiveOwner', exclusive(s.nullable(s.checksumAddress)));
export const EXCLUSIVE_VAULT = s.object({
  vault: s.checksumAddress,
  chainId: s.integer,
  delegation: DETAILED_DELEGATION[2],
  expires: EXPIRES,
});
const VAULTS = s.object({
  ...ABOUT_CHAINS,
  vaults: s.arrayOf(EXCLUSIVE_VAULT),
  chains: s.arrayOf(CHAIN_ANSWER),
  next: NEXT,
  nextChange: NEXT_CHANGE,
});

const RULES_TEXT =
  'By the delegations of v2 whose rights have an expiry, as the public resolver contract answers in a call at the same block: a delegation counts while the timestamp of the block is not after its expiry. The identifier that was asked for comes before the global one, a narrower delegation before a wider one, and of two the one that was granted later; a renewed delegation keeps its place.';

const SHARED = { ...ofRegistry(2), rules: [ONE_POINT_IN_TIME] } as const satisfies Partial<OperationBase>;
const PROBLEMS = [...SHARED.problems, 'block-not-kept'] as const;
const PARAMS = { rights: withDefault(p.rightsId, GLOBAL_ID), ...COMMON_PARAMS, ...NUMBERS } as const;
const ANSWER = { headers: BLOCK_HEADERS, hasETag: true } as const;

const WALLET_OPERATION = {
  ...SHARED,
  kind: 'exclusive-wallet',
  path: '/registry/v2/exclusive/wallet/{vault}',
  id: 'exclusiveWallet',
  summary: 'Get the one wallet that acts for a vault',
  description: `The vault itself if nothing is delegated. ${RULES_TEXT}`,
  params: { vault: inPath(p.exclusiveVault), ...PARAMS },
  answer: { ...ANSWER, description: 'The wallet, and the delegation that decides.', body: EXCLUSIVE_WALLET },
  problems: PROBLEMS,
} as const satisfies OperationBase;

const OWNER_OPERATION = {
  ...SHARED,
  kind: 'exclusive-owner',
  path: '/registry/v2/exclusive/owner',
  id: 'exclusiveOwner',
  summary: 'Get the one wallet that acts for an ERC-721 token',
  description: `\`vault\` is the owner of the token: \`owner\` if it is given, otherwise it is read from the chain at the same block (\`OWNERSHIP=on\`), and null if the token has none. ${RULES_TEXT}`,
  params: {
    contract: required(p.contract),
    tokenId: required(p.tokenId),
    owner: optional(p.tokenOwner),
    ...PARAMS,
  },
  answer: { ...ANSWER, description: 'The wallet, and the delegation that decides.', body: EXCLUSIVE_OWNER },
  problems: [...PROBLEMS, 'ownership-off', 'not-a-token', 'ownership-unavailable'],
} as const satisfies OperationBase;

const VAULTS_OPERATION = {
  ...SHARED,
  kind: 'exclusive-vaults',
  path: '/registry/v2/exclusive/vaults/{wallet}',
  id: 'exclusiveVaults',
  summary: 'List the vaults that a wallet alone acts for',
  description: `Each vault once, ordered by address, with the delegation that decides. A page can be short or empty and still have a next one. ${RULES_TEXT} ${CHAINS_TEXT}`,
  params: {
    wallet: inPath(p.hotWallet),
    rights: PARAMS.rights,
    ...CHAINS_PARAM,
    ...AS_OF_PARAMS,
    ...NUMBERS,
    ...PAGE_PARAMS,
  },
  answer: {
    ...ANSWER,
    headers: [...BLOCK_HEADERS, 'Link'],
    description: 'The vaults.',
    body: s.named('ExclusiveVaults', VAULTS),
  },
  problems: [...PROBLEMS, 'cursor-gone', 'no-chain-answered'],
} as const satisfies OperationBase;

export const EXCLUSIVE = { wallet: WALLET_OPERATION, owner: OWNER_OPERATION, vaults: VAULTS_OPERATION } as const;
export type ExclusiveOperation = (typeof EXCLUSIVE)[keyof typeof EXCLUSIVE];
