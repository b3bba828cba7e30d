// One request and its answer for each thing the API does. They stand in the OpenAPI document, and the tests ask each of
// them of a store that holds EXAMPLE_DELEGATIONS.

import type { Delegation } from '../registry/delegation.ts';
import { MAX_UINT256, NO_RIGHTS } from '../registry/delegation.ts';
import type { ProblemType } from './problems.ts';

const COLD = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const HOT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const VOTER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const NFT = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const COIN = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';
/** The text "vote". */
const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;

const lower = (address: string) => address.toLowerCase() as `0x${string}`;
const base = { from: lower(COLD), to: lower(HOT), contract: null, tokenId: null, amount: null };
const v1 = { ...base, version: 1, rights: null } as const;
const v2 = { ...base, version: 2, rights: NO_RIGHTS } as const;

/** What the examples take to have been granted, in this order. */
export const EXAMPLE_DELEGATIONS: readonly Delegation[] = [
  { ...v1, kind: 'CONTRACT', contract: lower(NFT) },
  { ...v2, kind: 'CONTRACT', contract: lower(NFT) },
  { ...v2, kind: 'ERC20', contract: lower(COIN), amount: 250_000_000n },
  { ...v2, kind: 'ALL', to: lower(VOTER), rights: VOTE },
];

export interface Example {
  readonly operation: string;
  readonly summary: string;
  /** Path and query. */
  readonly request: string;
  readonly problem?: ProblemType;
  readonly answer: unknown;
}

const PAIR = `to=${HOT}&from=${COLD}`;
const VAULT = `delegate=${HOT}&vault=${COLD}`;

export const EXAMPLES: readonly Example[] = [
  {
    operation: 'listV2',
    summary: 'What a wallet has granted and was granted',
    request: `/registry/v2/${COLD}`,
    answer: [
      { type: 'CONTRACT', from: COLD, to: HOT, contract: NFT, tokenId: null },
      { type: 'TOKEN', from: COLD, to: HOT, contract: COIN, tokenId: null },
      { type: 'ALL', from: COLD, to: VOTER, contract: null, tokenId: null },
    ],
  },
  {
    operation: 'listV2',
    summary: 'Only what a wallet was granted without a restriction',
    request: `/registry/v2/${VOTER}?direction=incoming&rights=${NO_RIGHTS}`,
    answer: [],
  },
  {
    operation: 'checkAllV2',
    summary: 'A right that was granted',
    request: `/registry/v2/check/all?to=${VOTER}&from=${COLD}&rights=${VOTE}`,
    answer: true,
  },
  {
    operation: 'checkAllV2',
    summary: 'The same pair without that right',
    request: `/registry/v2/check/all?to=${VOTER}&from=${COLD}`,
    answer: false,
  },
  {
    operation: 'checkAllV2',
    summary: 'A right that is not in its bytes32 form, and a misspelt parameter',
    request: `/registry/v2/check/all?${PAIR}&rights=vote&chainid=1`,
    problem: 'bad-request',
    answer: {
      type: '/docs#problem-bad-request',
      title: 'The request has faults',
      status: 400,
      detail: `chainid: is unknown: did you mean chainId?; rights: is not 0x and 64 hex digits; as bytes32 "vote" is ${VOTE}`,
      errors: [
        { parameter: 'chainid', detail: 'is unknown: did you mean chainId?' },
        { parameter: 'rights', detail: `is not 0x and 64 hex digits; as bytes32 "vote" is ${VOTE}` },
      ],
    },
  },
  {
    operation: 'checkContractV2',
    summary: 'A delegated contract',
    request: `/registry/v2/check/contract?${PAIR}&contract=${NFT}`,
    answer: true,
  },
  {
    operation: 'checkErc721V2',
    summary: 'Any token of a delegated contract, under the older names of the pair',
    request: `/registry/v2/check/erc721?${VAULT}&contract=${NFT}&tokenId=9007199254740993`,
    answer: true,
  },
  {
    operation: 'checkErc1155V2',
    summary: 'The whole contract is delegated: no amount limits it',
    request: `/registry/v2/check/erc1155?${PAIR}&contract=${NFT}&tokenId=7&numbers=string`,
    answer: String(MAX_UINT256),
  },
  {
    operation: 'checkErc20V2',
    summary: 'An amount',
    request: `/registry/v2/check/erc20?${PAIR}&contract=${COIN}`,
    answer: 250_000_000,
  },
  {
    operation: 'listV1',
    summary: 'What a wallet has granted and was granted',
    request: `/registry/v1/${HOT}`,
    answer: [{ type: 'CONTRACT', delegate: HOT, vault: COLD, contract: NFT, tokenId: null }],
  },
  {
    operation: 'checkAllV1',
    summary: 'A contract is not the whole vault',
    request: `/registry/v1/check/all?${VAULT}`,
    answer: false,
  },
  {
    operation: 'checkContractV1',
    summary: 'A delegated contract',
    request: `/registry/v1/check/contract?${VAULT}&contract=${NFT}`,
    answer: true,
  },
  {
    operation: 'checkTokenV1',
    summary: 'Any token of a delegated contract',
    request: `/registry/v1/check/token?${VAULT}&contract=${NFT}&tokenId=1`,
    answer: true,
  },
];
