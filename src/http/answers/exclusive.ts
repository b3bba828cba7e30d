// Answers exclusive resolution: which one wallet acts for a vault or a token, and for which vaults a wallet alone acts.

import { type EXCLUSIVE, EXCLUSIVE_OWNER, EXCLUSIVE_VAULT, EXCLUSIVE_VAULTS } from '../../api/exclusive-operations.ts';
import { arrayText, booleanText, integerText, type JsonText, NULL, plainText, writerFor } from '../../api/json-text.ts';
import { handled } from '../../api/operation.ts';
import { readRequest } from '../../api/request.ts';
import { pageCursorText, readPageCursor } from '../../feed/cursor.ts';
import { addressText, blockText, detailedRecordText, expiryJson, type Format } from '../../feed/delegation-json.ts';
import { type Address, isAddress } from '../../registry/delegation.ts';
import { expiryIn } from '../../registry/exclusive.ts';
import type { AnswerBlock, DetailedDelegation } from '../../store/store.ts';
import { chainReorganizing, pinBlock, retryRewritten } from '../context/as-of.ts';
import { exclusiveVaults, nextChangeOf, resolveExclusive } from '../context/exclusive.ts';
import { requireServed } from '../context/served-chains.ts';
import type { Call } from '../context/service.ts';
import { countedAs } from '../limits/shares.ts';
import { type Answer, blockHeaders, setNext, tagged } from '../wire/answer.ts';
import { badCursor } from './chain-pages.ts';
import { ownershipOff, pinExact, readOwner } from './holders.ts';

type Operations = typeof EXCLUSIVE;

export function answerExclusiveOne(operation: Operations['wallet' | 'owner'], call: Call): Promise<Answer> {
  const asked = readRequest(operation, call.path, call.query);
  const {
    vault,
    owner = vault,
    contract,
    tokenId,
    rights: id,
    chainId,
    numbers: mode,
    block,
    timestamp,
    ...rest
  } = asked;
  handled(rest);
  const { request, service } = call;
  requireServed(chainId, 2, service.chainIds);
  const token = contract === undefined || tokenId === undefined ? null : { contract, tokenId };
  const pin = async () => {
    if (token === null || owner !== undefined)
      return { ...(await pinBlock(chainId, { block, timestamp }, service)), owner: owner ?? null };
    const { tokens } = service;
    if (tokens === undefined) throw ownershipOff();
    const pinned = await pinExact(chainId, { block, timestamp }, service);
    const caller = countedAs(call.caller());
    return { ...pinned, owner: await readOwner({ tokens, chainId, ...token, caller }, pinned) };
  };
  const answer = async () => {
    const { owner: from, ...pinned } = await pin();
    const question = { chainId, id, token, timestamp };
    const [deciding = null] = from === null ? [] : await resolveExclusive(call, question, pinned, [from]);
    const nextChange = nextChangeOf([deciding]);
    const answered = { request, budget: operation.budget, timestamp, nextChange };
    const headers = blockHeaders(pinned.chain, pinned.block, service.now(), answered);
    return tagged(request, headers, ONE_TEXT({ vault: from, deciding, nextChange }, { mode, chainId }));
  };
  return retryRewritten(answer, () => chainReorganizing(chainId));
}

export async function answerExclusiveVaults(operation: Operations['vaults'], call: Call): Promise<Answer> {
  const { request, query, service } = call;
  const asked = readRequest(operation, call.path, query);
  const { wallet, rights: id, chainId, numbers: mode, limit, cursor, block: choice, timestamp, ...rest } = asked;
  handled(rest);
  requireServed(chainId, 2, service.chainIds);
  const identity = ['exclusive', chainId, wallet, id, choice, timestamp].join();
  const place = cursor === undefined ? null : readPageCursor(cursor, identity);
  const [chosen = null] = place?.chosen ?? [];
  const after = place?.after;
  if (cursor !== undefined && (chosen === null || !isAddress(after))) throw badCursor();
  const answer = async () => {
    const { at, chain, block } = await pinBlock(chainId, { block: choice, timestamp }, service, {
      about: { wallet },
      chosen,
    });
    const question = { chainId, id, token: null, timestamp };
    const owners = { ...question, wallet, at, limit, ...(isAddress(after) && { after }) };
    const { vaults, next, nextChange } = await exclusiveVaults(call, owners, { at, chain });
    const answered = { request, budget: operation.budget, timestamp, nextChange };
    const headers = blockHeaders(chain, block, service.now(), answered);
    const nextText = next && pageCursorText({ chosen: [at], chain: 0, section: 0, after: next }, identity);
    if (nextText !== null) setNext(headers, query, nextText);
    return tagged(
      request,
      headers,
      VAULTS_TEXT({ wallet, block, vaults, nextChange, next: nextText }, { mode, chainId }),
    );
  };
  return cursor === undefined ? retryRewritten(answer, () => chainReorganizing(chainId)) : answer();
}

const timeText = (at: number | null) => (at === null ? NULL : integerText(at));
const recordText = (row: DetailedDelegation, format: Format) => detailedRecordText(row, format, 2) as JsonText<never>;

interface One {
  readonly vault: Address | null;
  readonly deciding: DetailedDelegation | null;
  readonly nextChange: number | null;
}

const addressOrNull = (address: Address | null) => (address === null ? NULL : addressText(address));
/** Of a vault the wallet is never null. */
const ONE_TEXT = writerFor<One, Format>()(EXCLUSIVE_OWNER, {
  wallet: ({ vault, deciding }) => addressOrNull(deciding?.to ?? vault),
  vault: ({ vault }) => addressOrNull(vault),
  delegated: ({ deciding }) => booleanText(deciding !== null),
  delegation: ({ deciding }, format) => (deciding === null ? NULL : recordText(deciding, format)),
  expires: ({ deciding }) => expiryJson(deciding && expiryIn(deciding)),
  nextChange: ({ nextChange }) => timeText(nextChange),
});

const VAULT_TEXT = writerFor<DetailedDelegation, Format>()(EXCLUSIVE_VAULT, {
  vault: ({ from }) => addressText(from),
  delegation: recordText,
  expires: (row) => expiryJson(expiryIn(row)),
});

interface Vaults {
  readonly wallet: Address;
  readonly block: AnswerBlock;
  readonly vaults: readonly DetailedDelegation[];
  readonly nextChange: number | null;
  readonly next: string | null;
}

const VAULTS_TEXT = writerFor<Vaults, Format>()(EXCLUSIVE_VAULTS, {
  wallet: ({ wallet }) => addressText(wallet),
  chainId: (_body, { chainId }) => integerText(chainId),
  block: ({ block }) => blockText(block),
  vaults: ({ vaults }, format) => arrayText(vaults.map((one) => VAULT_TEXT(one, format))),
  nextChange: ({ nextChange }) => timeText(nextChange),
  next: ({ next }) => (next === null ? NULL : plainText(next)),
});
