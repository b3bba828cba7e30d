// Answers token gates: which of a wallet and the wallets that it may act for own a token, at the block of the index.

import { HOLDER, HOLDERS_BODY, type HOLDERS_OPERATION } from '../../api/any-operations.ts';
import { arrayText, booleanText, integerText, NULL, plainText, writerFor } from '../../api/json-text.ts';
import { handled } from '../../api/operation.ts';
import { asRights, asRightsId } from '../../api/params.ts';
import { badRequest, Problem } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { CHAIN_AT } from '../../api/responses.ts';
import type { NotAToken, Unavailable } from '../../chain/tokens/token-reader.ts';
import { pageCursorText, readPageCursor } from '../../feed/cursor.ts';
import { addressText, anyRecordText, blockText, type Format, uint256Text } from '../../feed/delegation-json.ts';
import { type AnyQuestion, answer, asksBalance, partsOf, type Target } from '../../registry/check.ts';
import { type Address, type Bytes32, NO_RIGHTS, ZERO_ADDRESS } from '../../registry/delegation.ts';
import { StoreError } from '../../store/errors.ts';
import type { AnswerBlock, DetailedDelegation } from '../../store/store.ts';
import {
  chainReorganizing,
  type ExactBlock,
  type PinnedBlock,
  pinExact,
  reportUnread,
  retryRewritten,
} from '../context/as-of.ts';
import { mergedPage, type OnChain, pinDelegations } from '../context/delegation-chains.ts';
import { exclusiveVaults, nextChangeOf, requireForm, resolveExclusive } from '../context/exclusive.ts';
import { requireAllServed } from '../context/served-chains.ts';
import type { Call, Service } from '../context/service.ts';
import { countedAs } from '../limits/shares.ts';
import { type Answer, blockHeaders, manyChainsHeaders, setNext, tagged } from '../wire/answer.ts';
import { badCursor } from './chain-pages.ts';

interface Holder {
  readonly owner: Address;
  readonly balance: bigint;
  /** Empty for the wallet itself. */
  readonly delegations: readonly OnChain<DetailedDelegation>[];
}

interface Page {
  readonly holders: readonly Holder[];
  /** The last vault of the page, if there are more. */
  readonly next: Address | null;
  /** When it can become another without a log. */
  readonly nextChange?: number | null;
}

type Requested = ReturnType<typeof readHolders> & { readonly caller: string };

const RETRY_SECONDS = 5;

export async function answerHolders(operation: typeof HOLDERS_OPERATION, call: Call): Promise<Answer> {
  const { request, service } = call;
  const requested = { ...readHolders(operation, call), caller: countedAs(call.caller()) };
  const { chainId, wallet, target, asOf, isNamed } = requested;
  // An ERC-721 token has one owner.
  const find = target.scope === 'erc721' ? findOwner : findBalances;
  const answer = async (): Promise<Answer> => {
    const { token, chains } = await pin(requested, service);
    const { holders, next: after, nextChange = null } = await find(requested, token, chains, call);
    const { budget } = operation;
    const answered = { request, budget, timestamp: asOf.timestamp, nextChange };
    const headers = chains.every((chain) => chain === token)
      ? blockHeaders(token.chain, token.block, service.now(), answered)
      : manyChainsHeaders(request, budget);
    const next = after === null ? null : cursorAfter(after, token, chains, requested);
    const body = HOLDERS_TEXT({ holders, next, wallet, block: token.block }, requested);
    const named = `${body.slice(0, -1)},"delegationChains":${arrayText(chains.map((one) => CHAIN_TEXT(one, null)))}}`;
    if (next !== null) setNext(headers, call.query, next);
    return tagged(request, headers, isNamed ? named : body);
  };
  // A page that continues cannot take back what the pages before it have listed.
  return requested.cursor === null ? retryRewritten(answer, () => chainReorganizing(chainId)) : answer();
}

export const ownershipOff = () =>
  new Problem('ownership-off', 'The operator of this service has not turned token gates on (OWNERSHIP=on).');

function readHolders(operation: typeof HOLDERS_OPERATION, { path, query, service: { tokens, chainIds } }: Call) {
  const request = readRequest(operation, path, query);
  const { wallet, contract, tokenId, standard, chainId, block, timestamp, numbers, limit, cursor, ...more } = request;
  const { rights: given, resolver, delegationChainId, ...rest } = more;
  const id = resolver === undefined ? null : requireForm(asRightsId(given));
  const rights = id === null ? requireForm(asRights(given)) : NO_RIGHTS;
  handled(rest);
  if (tokens === undefined) throw ownershipOff();
  const chains = delegationChainId ?? [chainId];
  requireAllServed(chainId, chains, chainIds);
  // Tokens are burned by sending them there.
  if (wallet === ZERO_ADDRESS) throw badRequest([{ parameter: 'wallet', detail: 'must not be the zero address' }]);
  const scope = scopeOf(tokenId, standard);
  const of = [chainId, chains.join('+'), wallet, scope, contract, tokenId, id ?? rights, resolver];
  const identity = [...of, block, timestamp].join();
  const place = cursor === undefined ? null : readPageCursor(cursor, identity);
  const isPlace =
    place?.chosen.length === 1 + chains.length && !place.chosen.includes(null) && POSITION.test(place.after ?? '');
  if (cursor !== undefined && !isPlace) throw badCursor();
  return {
    tokens,
    chainId,
    /** Whose delegations count, and whether the answer names them. */
    chains,
    isNamed: delegationChainId !== undefined,
    wallet,
    contract,
    tokenId,
    /** The right by which an owner has one wallet that acts for it; null if each that it has delegated to may act. */
    id,
    /** What an owner must have delegated to the wallet. */
    target: { version: 'any', scope, contract, rights, ...(tokenId === undefined ? {} : { tokenId }) } as Target,
    asOf: { block, timestamp },
    mode: numbers,
    limit,
    identity,
    cursor: place,
  };
}

function scopeOf(tokenId: bigint | undefined, standard: 'ERC721' | 'ERC1155' | 'ERC20' | undefined) {
  if (standard === 'ERC20' && tokenId !== undefined)
    throw badRequest([{ parameter: 'tokenId', detail: 'cannot be combined with standard=ERC20' }]);
  if (standard === 'ERC1155' && tokenId === undefined)
    throw badRequest([{ parameter: 'tokenId', detail: 'is required with standard=ERC1155' }]);
  if (standard === 'ERC20') return 'erc20';
  if (standard === 'ERC1155') return 'erc1155';
  return tokenId === undefined ? 'contract' : 'erc721';
}

/** Fixes the blocks. With a cursor they must be the same as before. */
async function pin({ chainId, chains, wallet, asOf, cursor }: Requested, service: Service) {
  const pinning = (turn: number) => ({ about: { wallet }, chosen: cursor?.chosen[turn] ?? null });
  const token = await pinExact(chainId, asOf, service, pinning(0));
  const { number, hash } = token.block;
  if (cursor !== null && cursor.after?.split('.')[0] !== shortHash(hash))
    throw new Problem('cursor-gone', `A reorg replaced block ${number}. Start again without a cursor.`);
  return { token, chains: await pinDelegations(chains, token, asOf, service, (turn) => pinning(1 + turn)) };
}

const questionOf = ({ wallet, target }: Requested, owner: Address) =>
  ({ ...target, from: owner, to: wallet }) as AnyQuestion;

/** The start of the block's hash, and the last vault of the page. */
const POSITION = /^[0-9a-f]{32}\.[0-9a-f]{40}$/;
const shortHash = (hash: Bytes32) => hash.slice(2, 34);

function cursorAfter(vault: Address, token: ExactBlock, chains: readonly PinnedBlock[], { identity }: Requested) {
  const after = `${shortHash(token.block.hash)}.${vault.slice(2)}`;
  return pageCursorText({ chosen: [token, ...chains].map(({ at }) => at), chain: 0, section: 0, after }, identity);
}

/** The owner of an ERC-721 token; null if it has none. */
export async function readOwner(
  {
    tokens,
    tokenId,
    ...of
  }: Pick<Requested, 'tokens' | 'chainId' | 'contract' | 'caller'> & { readonly tokenId: bigint },
  { block }: ExactBlock,
): Promise<Address | null> {
  const { chainId, contract, caller } = of;
  const read = await tokens.ownerOf({ chainId, blockHash: block.hash, contract, caller }, tokenId);
  if (read.type === 'no-owner') return null;
  if (read.type !== 'owner') throw unreadable(read, { ...of, target: { scope: 'erc721' } });
  return read.owner;
}

/** The owner of an ERC-721 token, if it is the wallet or has delegated the token to it. */
async function findOwner(
  requested: Requested,
  token: ExactBlock,
  chains: readonly PinnedBlock[],
  call: Call,
): Promise<Page> {
  const { wallet, contract, tokenId = 0n, id } = requested;
  const { service } = call;
  const owner = await readOwner({ ...requested, tokenId }, token);
  if (owner === null) return { holders: [], next: null };
  if (id !== null) {
    const [deciding = null] = await resolveExclusive(call, { id, token: { contract, tokenId } }, chains, [owner]);
    const delegations = deciding === null ? [] : [deciding];
    const holders = (deciding?.to ?? owner) === wallet ? [{ owner, balance: 1n, delegations }] : [];
    return { holders, next: null, nextChange: nextChangeOf([deciding]) };
  }
  if (owner === wallet) return { holders: [{ owner, balance: 1n, delegations: [] }], next: null };
  const check = questionOf(requested, owner);
  const explain = async ({ chainId, at, block: { number, hash } }: PinnedBlock) => {
    const reading = reportUnread({ chainId, to: wallet }, service, service.store.explain(chainId, check, number));
    const { block, granting } = await reading;
    if (block.hash !== hash) throw new StoreError('rewritten', `Block ${number} was replaced.`);
    // Without a hash, it is the history up to the block that must not have changed.
    if (hash === null) await service.store.checkMany(chainId, [], at);
    return granting.map((one) => ({ ...one, chainId }));
  };
  const delegations = (await Promise.all(chains.map(explain))).flat();
  if (delegations.length > 0) return { holders: [{ owner, balance: 1n, delegations }], next: null };
  for (const { chainId } of chains) for (const part of partsOf(check)) service.onDenied?.(chainId, part);
  return { holders: [], next: null };
}

/** The balances of the wallet, on the first page, and of the wallets that it may act for. */
async function findBalances(
  requested: Requested,
  token: ExactBlock,
  chains: readonly PinnedBlock[],
  call: Call,
): Promise<Page> {
  const { tokens, chainId, wallet, contract, tokenId = null, target, limit, cursor, caller, id } = requested;
  const { block } = token;
  const after = cursor?.after?.split('.')[1];
  const query = { wallet, limit, ...(after === undefined ? {} : { after: `0x${after}` as const }) };
  const { service } = call;
  const vaultsOn = ({ chainId: of, at }: PinnedBlock) =>
    reportUnread({ chainId: of, to: wallet }, service, service.store.vaults({ ...query, chainId: of, at, target }));
  const { counterparts, next, nextChange } =
    id === null
      ? { ...(await mergedPage(chains, limit, vaultsOn)), nextChange: null }
      : await exclusiveVaults(call, { ...query, id, token: null, withItself: cursor === null }, chains);
  const vaults = counterparts.filter((one) => one.wallet !== wallet);
  const itself = id === null ? { wallet, granting: [] } : counterparts.find((one) => one.wallet === wallet);
  const owners = cursor === null && itself !== undefined ? [itself, ...vaults] : vaults;
  const wallets = owners.map((one) => one.wallet);
  const read = await tokens.balances({ chainId, blockHash: block.hash, contract, caller }, wallets, tokenId);
  if (read.type !== 'balances') throw unreadable(read, requested);
  const holders = owners.flatMap(({ wallet: owner, granting: delegations }, position): Holder[] => {
    const held = read.balances[position] as bigint;
    const isLimited = delegations.length > 0 && asksBalance(target);
    const granted = isLimited ? (answer(questionOf(requested, owner), delegations) as bigint) : held;
    const balance = held < granted ? held : granted;
    return balance > 0n ? [{ owner, balance, delegations }] : [];
  });
  return { holders, next, nextChange };
}

const NOT_A_TOKEN = {
  'no-code': 'has no contract at that block',
  reverted: 'reverted the call',
  'bad-return-data': 'returned data that is not what the standard requires',
} as const satisfies Record<NotAToken['cause'], string>;

const UNAVAILABLE = {
  'no-provider': 'Too few providers answered for the indexed block',
  disputed: 'The providers disagree',
  overloaded: 'Too many requests wait for the providers',
} as const satisfies Record<Unavailable['cause'], string>;

export function unreadable(
  read: NotAToken | Unavailable,
  {
    chainId,
    contract,
    target: { scope },
  }: Pick<Requested, 'chainId' | 'contract'> & { readonly target: Pick<Target, 'scope'> },
): Problem {
  if (read.type === 'not-a-token') {
    const { cause } = read;
    const call = scope === 'erc721' ? 'ownerOf(uint256)' : `balanceOf(address${scope === 'erc1155' ? ',uint256' : ''})`;
    const hint = scope === 'erc721' && cause === 'reverted' ? ' For an ERC-1155 token, send standard=ERC1155.' : '';
    return new Problem('not-a-token', `${contract} on chain ${chainId} ${NOT_A_TOKEN[cause]} (${call}).${hint}`, {
      fields: { chainId, contract, cause },
    });
  }
  const { cause, failures } = read;
  const which = failures.length === 0 ? '' : `: ${failures.join(', ')}`;
  return new Problem('ownership-unavailable', `${UNAVAILABLE[cause]}${which}. Retry.`, {
    retryAfter: RETRY_SECONDS,
    fields: { chainId, cause },
  });
}

const HOLDER_TEXT = writerFor<Holder, Format>()(HOLDER, {
  owner: ({ owner }) => addressText(owner),
  balance: ({ balance }, { mode }) => uint256Text(balance, mode),
  delegations: ({ delegations }, format) =>
    arrayText(delegations.map((one) => anyRecordText(one, { ...format, chainId: one.chainId }))),
});

interface Body extends Pick<Page, 'holders'> {
  readonly wallet: Address;
  readonly block: AnswerBlock;
  readonly next: string | null;
}

/** A chain, with the block at which it was read. */
export const CHAIN_TEXT = writerFor<PinnedBlock, null>()(CHAIN_AT, {
  chainId: ({ chainId }) => integerText(chainId),
  block: ({ block }) => blockText(block),
});

const HOLDERS_TEXT = writerFor<Body, Format>()(HOLDERS_BODY, {
  wallet: ({ wallet }) => addressText(wallet),
  holds: ({ holders, next }) => (holders.length === 0 && next !== null ? NULL : booleanText(holders.length > 0)),
  chainId: (_body, { chainId }) => integerText(chainId),
  block: ({ block }) => blockText(block),
  holders: ({ holders }, format) => arrayText(holders.map((one) => HOLDER_TEXT(one, format))),
  next: ({ next }) => (next === null ? NULL : plainText(next)),
});
