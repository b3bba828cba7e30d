// Example requests and their answers, for OpenAPI and /docs. The tests send each to a store that holds EXAMPLE_DELEGATIONS, and
// to the sandbox, whose chain has them too.

import { checksummed } from '../registry/checksum.ts';
import { type Delegation, MAX_UINT256, NO_RIGHTS } from '../registry/delegation.ts';
import { rightsIdOf } from '../registry/rights.ts';
import { ANY_LIST, COUNTERPARTS, HISTORY, HOLDERS_OPERATION } from './any-operations.ts';
import { BATCH_OPERATION } from './batch-operation.ts';
import { CHANGES_OPERATION } from './changes-operation.ts';
import { EXCLUSIVE } from './exclusive-operations.ts';
import type { InputOf, ResponseOf } from './operation.ts';
import { CHECKS, LISTS, type Operation } from './operations.ts';
import { feedCursor } from './params.ts';
import { badRequest, Problem, type ProblemType, problemBody } from './problems.ts';
import { urlFor } from './url.ts';
import { VOTES_OPERATIONS } from './votes-operations.ts';
import { WALLET_BATCHES } from './wallet-batch-operations.ts';

/** The first accounts of the mnemonic of Hardhat and Anvil: in a sandbox, everybody can sign for them. */
const COLD = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const HOT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const VOTER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
/** A wallet that has linked one wallet to itself, for a right that is known by its hash, without an end. */
const LINKED = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const LINK = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const LINK_ID = '0xc10dcfe266c1f71ef476efbd3223555750dc271e4115626b';
/** What account 0 of a fresh chain deploys first and second. */
const NFT = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const COIN = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';
/** The text "vote". */
const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;

const lower = (address: string) => address.toLowerCase() as `0x${string}`;
const base = { from: lower(COLD), to: lower(HOT), contract: null, tokenId: null, amount: null };
const v1 = { ...base, version: 1, rights: null } as const;
const v2 = { ...base, version: 2, rights: NO_RIGHTS } as const;

/** The delegations that the examples assume, in the order of their grants. */
export const EXAMPLE_DELEGATIONS: readonly Delegation[] = [
  { ...v1, kind: 'CONTRACT', contract: lower(NFT) },
  { ...v2, kind: 'CONTRACT', contract: lower(NFT) },
  { ...v2, kind: 'ERC20', contract: lower(COIN), amount: 250_000_000n },
  { ...v2, kind: 'ALL', to: lower(VOTER), rights: VOTE },
  { ...v2, kind: 'ALL', from: lower(LINKED), to: lower(LINK), rights: `${LINK_ID}000000ffffffffff` },
];

/** Who owns what in the contracts of the examples. */
export const EXAMPLE_TOKENS = {
  owner: lower(COLD),
  collection: { contract: lower(NFT), tokenId: 42n },
  coin: { contract: lower(COIN), amount: 400_000_000n },
} as const;

/** The block of all delegations, and of the answers. It is final. */
const BLOCK = { number: 100, hash: `0x${'64'.padStart(64, '0')}`, timestamp: 1_700_001_000 } as const;

export interface Example {
  /** The id of its operation. */
  readonly operation: string;
  readonly summary: string;
  /** Path and query. */
  readonly request: string;
  /** The JSON of a request that has a body. */
  readonly body?: object;
  readonly problem?: ProblemType;
  readonly answer: unknown;
}

const example = <O extends Operation>(
  operation: O,
  summary: string,
  params: InputOf<O>,
  answer: ResponseOf<O>,
): Example => ({ operation: operation.id, summary, request: urlFor(operation, params), answer });

const WALLETS = { to: HOT, from: COLD };
const ON_NFT = { ...WALLETS, contract: NFT };
const ON_COIN = { ...WALLETS, contract: COIN };
const V1_WALLETS = { delegate: HOT, vault: COLD };
const V1_ON_NFT = { ...V1_WALLETS, contract: NFT };

/** Rejected parameters. */
const FAULTS = [
  { parameter: 'chainid', detail: 'is not a known parameter; did you mean chainId?' },
  {
    parameter: 'rights',
    detail: `must be a bytes32 (0x and 64 hex digits); "vote" as bytes32 is ${VOTE}, or send text:vote`,
  },
];

/** Of a question about Base, where only Ethereum is served. */
const NOT_SERVED = problemBody(
  new Problem('unknown-chain', 'chainId 8453 is not served here.', {
    fields: { errors: [{ parameter: 'chainId', detail: '8453 is not served here' }], chainIds: [1] },
  }),
);

const CHAINS = [{ chainId: 1, block: BLOCK }];

/** What a list shows of a delegation of v2. */
const shown = (position: 1 | 2 | 3 | 4) => {
  const { kind, from, to, contract } = EXAMPLE_DELEGATIONS[position] as Delegation;
  const type = kind === 'ERC20' ? 'TOKEN' : kind;
  const where = contract === null ? null : checksummed(contract);
  return { type, from: checksummed(from), to: checksummed(to), contract: where, tokenId: null } as const;
};

/** A delegation of the whole wallet or of a contract, with every field in order. The position is that of its log too. */
const record = (position: 0 | 1 | 3 | 4, rightsText: string | null = null, expires: 'never' | null = null) => {
  const { version, rights } = EXAMPLE_DELEGATIONS[position] as Delegation;
  const { type, ...covered } = shown(position === 0 ? 1 : position);
  const rightsId = rights === null ? null : rightsIdOf(rights);
  const detail = {
    standard: null,
    rights,
    rightsText,
    rightsName: null,
    rightsId,
    expires,
    amount: null,
    chainId: 1,
  };
  const transactionHash = `0x${(BLOCK.number * 1000 + position).toString(16).padStart(64, '0')}`;
  const since = { block: BLOCK.number, timestamp: BLOCK.timestamp, transactionHash, logIndex: position };
  return { type, version, ...covered, ...detail, since };
};
/** The link of a wallet, as the list of v2 has it. */
const { version: _, ...LINK_GRANT } = record(4, null, 'never');
const EXCLUSIVE_LINK = { delegation: LINK_GRANT, expires: 'never' } as const;
/** The right to vote, which one wallet has. */
const VOTE_GRANT = record(3, 'vote');
const { transactionHash, logIndex } = VOTE_GRANT.since;
const VOTE_CHANGE = {
  type: 'began',
  chainId: 1,
  block: BLOCK,
  transactionHash,
  logIndex,
  final: true,
  delegation: VOTE_GRANT,
} as const;
/** The grants of the contract, in v2 and v1. */
const NFT_GRANTS = [record(1), record(0)];

const ofWallet = <Rows extends object>(wallet: string, rows: Rows) =>
  ({ wallet, complete: true, ...rows, chains: CHAINS, next: null }) as const;
const NFT_ROW = { chainId: 1, narrower: false, grants: NFT_GRANTS };
const VAULTS_OF_HOT = ofWallet(HOT, { vaults: [{ vault: COLD, ...NFT_ROW }] });
const VAULTS_OF_VOTER = ofWallet(VOTER, { vaults: [] });
const DELEGATES_OF_COLD = ofWallet(COLD, { delegates: [{ delegate: HOT, ...NFT_ROW }] });
const holdersOf = (wallet: string, holders: ResponseOf<typeof HOLDERS_OPERATION>['holders']) =>
  ({ wallet, holds: holders.length > 0, chainId: 1, block: BLOCK, holders, next: null }) as const;
const HOLDERS_OF_HOT = holdersOf(HOT, [{ owner: COLD, balance: 1, delegations: NFT_GRANTS }]);

/** Each answer is that of the operation for one wallet. */
const ofWallets = (position: 0 | 1 | 2, summary: string, query: string, ...answers: { wallet: string }[]): Example => ({
  operation: WALLET_BATCHES[position].id,
  summary,
  request: `${WALLET_BATCHES[position].path}?contract=${NFT}${query}`,
  body: { wallets: answers.map(({ wallet }) => wallet) },
  answer: { chainId: 1, block: BLOCK, answers, complete: true },
});

/** What the strategies of a vote send, apart from the options of a space. */
const ASKED_VOTES = { network: '1', snapshot: 'latest', addresses: [VOTER, COLD] } as const;
const IN_COINS = { contract: COIN, standard: 'ERC20', rights: 'text:vote' } as const;
const COINS = String(EXAMPLE_TOKENS.coin.amount);
const votesOf = (owners: ResponseOf<(typeof VOTES_OPERATIONS)[number]>['owners']) => ({
  score: [
    { address: VOTER, score: COINS },
    { address: COLD, score: '0' },
  ],
  token: CHAINS[0] as (typeof CHAINS)[0],
  delegations: CHAINS,
  owners,
});
const [VOTES_BY_OPTIONS, VOTES_BY_QUERY, VOTES_BY_POST] = VOTES_OPERATIONS;

const { vaults, delegates } = COUNTERPARTS;
export const EXAMPLES: readonly Example[] = [
  example(vaults, 'For whom may this wallet act on a contract?', { wallet: HOT, contract: NFT }, VAULTS_OF_HOT),
  example(delegates, 'Who may act for this wallet on a contract?', { wallet: COLD, contract: NFT }, DELEGATES_OF_COLD),
  example(
    HOLDERS_OPERATION,
    'Does this wallet, or one that it may act for, own token 42?',
    { wallet: HOT, contract: NFT, tokenId: 42 },
    HOLDERS_OF_HOT,
  ),
  example(
    ANY_LIST,
    'All delegations of a wallet in both registries',
    { wallet: VOTER },
    ofWallet(VOTER, { delegations: [VOTE_GRANT] }),
  ),
  example(
    CHANGES_OPERATION,
    'What has changed for a wallet',
    { wallet: VOTER },
    // Its cursor has random parts, so that of a request differs.
    { changes: [VOTE_CHANGE], complete: true, chains: CHAINS, end: true, cursor: feedCursor.example },
  ),
  example(
    HISTORY,
    'Everything that a wallet ever granted or got',
    { wallet: VOTER },
    ofWallet(VOTER, { grants: [{ ...VOTE_GRANT, until: null }] }),
  ),
  example(CHECKS.any.all, 'Neither registry has the whole wallet', WALLETS, false),
  example(CHECKS.any.contract, 'A contract that is delegated in v1 and in v2', ON_NFT, true),
  example(CHECKS.any.erc721, 'Any token of a delegated contract', { ...ON_NFT, tokenId: 1 }, true),
  example(
    CHECKS.any.erc1155,
    'A v1 grant has no amount: the balance has no limit',
    { ...ON_NFT, tokenId: 7, numbers: 'string' },
    String(MAX_UINT256),
  ),
  example(CHECKS.any.erc20, 'An amount that is delegated in v2', ON_COIN, 250_000_000),
  {
    operation: BATCH_OPERATION.id,
    summary: 'Questions to both registries, to one of them, and about a chain that is not served',
    request: `${BATCH_OPERATION.path}?numbers=string`,
    body: {
      questions: [
        { check: 'contract', ...ON_NFT },
        { version: 2, check: 'erc20', ...ON_COIN },
        { version: 1, check: 'token', ...ON_NFT, tokenId: '9007199254740993' },
        { check: 'all', ...WALLETS, chainId: 8453 },
      ],
    },
    answer: {
      complete: false,
      chains: CHAINS,
      answers: [{ result: true }, { result: '250000000' }, { result: true }, { problem: NOT_SERVED }],
    } satisfies ResponseOf<typeof BATCH_OPERATION>,
  },
  ofWallets(0, 'For whom may each of these wallets act on a contract?', '', VAULTS_OF_HOT, VAULTS_OF_VOTER),
  ofWallets(1, 'Who may act for each of these wallets on a contract?', '', DELEGATES_OF_COLD),
  ofWallets(2, 'Which of these wallets may enter with token 42?', '&tokenId=42', HOLDERS_OF_HOT, holdersOf(VOTER, [])),
  {
    operation: VOTES_BY_OPTIONS.id,
    summary: 'The coins of a wallet that has delegated its votes count for its delegate',
    request: VOTES_BY_OPTIONS.path,
    body: { options: IN_COINS, ...ASKED_VOTES },
    answer: votesOf(null),
  },
  example(
    VOTES_BY_QUERY,
    'The same, and whose coins count for whom',
    { ...IN_COINS, ...ASKED_VOTES, addresses: ASKED_VOTES.addresses.join(), explain: 'true' },
    votesOf([
      { owner: VOTER, balance: '0', voter: VOTER, reason: 'none', delegation: null },
      { owner: COLD, balance: COINS, voter: VOTER, reason: 'last', delegation: VOTE_GRANT },
    ]),
  ),
  {
    operation: VOTES_BY_POST.id,
    summary: 'The same with the parameters in the path',
    request: urlFor(VOTES_BY_POST, IN_COINS),
    body: ASKED_VOTES,
    answer: votesOf(null),
  },
  example(LISTS[2], 'All delegations of a wallet', { wallet: COLD }, [shown(1), shown(2), shown(3)]),
  example(
    LISTS[2],
    'Delegations without a right, with the standard of each token',
    { wallet: COLD, unrestricted: 'true', types: 'standard' },
    [shown(1), { ...shown(2), type: 'ERC20' }],
  ),
  example(
    EXCLUSIVE.wallet,
    'The one wallet that is linked to a vault',
    { vault: LINKED, rights: 'hash:AGW_LINK' },
    { wallet: LINK, vault: LINKED, delegated: true, ...EXCLUSIVE_LINK, nextChange: null },
  ),
  example(
    EXCLUSIVE.owner,
    'A token whose owner has linked nobody: the owner itself',
    { contract: NFT, tokenId: 42 },
    { wallet: COLD, vault: COLD, delegated: false, delegation: null, expires: null, nextChange: null },
  ),
  example(
    EXCLUSIVE.vaults,
    'The vaults that a wallet alone acts for',
    { wallet: LINK, rights: 'hash:AGW_LINK' },
    { ...ofWallet(LINK, { vaults: [{ vault: LINKED, chainId: 1, ...EXCLUSIVE_LINK }] }), nextChange: null },
  ),
  example(CHECKS[2].all, 'A right that was granted', { to: VOTER, from: COLD, rights: 'text:vote' }, true),
  example(CHECKS[2].all, 'The same wallets without that right', { to: VOTER, from: COLD }, false),
  {
    operation: CHECKS[2].all.id,
    summary: 'A right that is not bytes32, and a misspelled parameter',
    request: `${urlFor(CHECKS[2].all, { ...WALLETS, rights: 'vote' })}&chainid=1`,
    problem: 'bad-request',
    answer: problemBody(badRequest(FAULTS)),
  },
  example(CHECKS[2].contract, 'A delegated contract', ON_NFT, true),
  {
    operation: CHECKS[2].erc721.id,
    summary: 'Any token of a delegated contract, with the synonyms of the wallets',
    request: `${CHECKS[2].erc721.path}?delegate=${HOT}&vault=${COLD}&contract=${NFT}&tokenId=9007199254740993`,
    answer: true,
  },
  example(
    CHECKS[2].erc1155,
    'The whole contract is delegated: the balance has no limit',
    { ...ON_NFT, tokenId: 7, numbers: 'string' },
    String(MAX_UINT256),
  ),
  example(CHECKS[2].erc20, 'A delegated amount', ON_COIN, 250_000_000),
  example(LISTS[1], 'All delegations of a wallet', { wallet: HOT }, [
    { type: 'CONTRACT', ...V1_ON_NFT, tokenId: null },
  ]),
  example(CHECKS[1].all, 'A delegated contract is not the whole vault', V1_WALLETS, false),
  example(CHECKS[1].contract, 'A delegated contract', V1_ON_NFT, true),
  example(CHECKS[1].token, 'Any token of a delegated contract', { ...V1_ON_NFT, tokenId: 1 }, true),
];
