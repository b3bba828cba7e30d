// Answers exclusive resolution: which one wallet acts for a vault or a token, and for which vaults a wallet alone acts.

import { type EXCLUSIVE, EXCLUSIVE_OWNER, EXCLUSIVE_VAULT } from '../../api/exclusive-operations.ts';
import { booleanText, integerText, type JsonText, NULL, writerFor } from '../../api/json-text.ts';
import { handled, type OperationBase } from '../../api/operation.ts';
import { readRequest } from '../../api/request.ts';
import { addressText, detailedRecordText, expiryJson, type Format } from '../../feed/delegation-json.ts';
import { type Address, isAddress } from '../../registry/delegation.ts';
import { expiryIn } from '../../registry/exclusive.ts';
import type { DetailedDelegation } from '../../store/store.ts';
import { chainReorganizing, type PinnedBlock, pinBlock, pinExact, retryRewritten } from '../context/as-of.ts';
import { type ExclusiveQuestion, exclusiveVaults, nextChangeOf, resolveExclusive } from '../context/exclusive.ts';
import { requireServed } from '../context/served-chains.ts';
import type { Call } from '../context/service.ts';
import { countedAs } from '../limits/shares.ts';
import { type Answer, blockHeaders, tagged } from '../wire/answer.ts';
import { answerChainPage, badCursor, type PageRequest, type Section } from './chain-pages.ts';
import { ownershipOff, readOwner } from './holders.ts';

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
    const [deciding = null] = from === null ? [] : await resolveExclusive(call, { id, token }, [pinned], [from]);
    const nextChange = nextChangeOf([deciding]);
    const answered = { request, budget: operation.budget, timestamp, nextChange };
    const headers = blockHeaders(pinned.chain, pinned.block, service.now(), answered);
    return tagged(request, headers, ONE_TEXT({ vault: from, deciding, nextChange }, { mode, chainId }));
  };
  return retryRewritten(answer, () => chainReorganizing(chainId));
}

/** The vaults for which a wallet alone acts, page by page. A row is written from its vault and the delegation that decides. */
export function answerVaults<Page extends PageRequest>(
  operation: OperationBase,
  call: Call,
  { id, token }: ExclusiveQuestion,
  page: Page & { readonly [Name in Exclude<keyof Page, keyof PageRequest>]: never },
  rowText: (delegation: DetailedDelegation, chainId: number) => string,
): Promise<Answer> {
  const { wallet } = page;
  const changes: number[] = [];
  const section =
    (chain: PinnedBlock): Section =>
    async (limit, after) => {
      if (after !== null && !isAddress(after)) throw badCursor();
      const { chainId } = chain;
      const asked = { id, token, wallet, limit, ...(after === null ? {} : { after }) };
      const { counterparts, next, nextChange } = await exclusiveVaults(call, asked, [chain]);
      if (nextChange !== null) changes.push(nextChange);
      const deciding = counterparts.flatMap(({ granting }) => granting);
      return { texts: deciding.map((one) => rowText(one, chainId)), next };
    };
  return answerChainPage(operation, call, page, {
    identity: ['exclusive', id, token?.contract, token?.tokenId],
    rows: 'vaults',
    sectionsOf: (chain) => [section(chain)],
    nextChange: () => (changes.length === 0 ? null : Math.min(...changes)),
  });
}

export function answerExclusiveVaults(operation: Operations['vaults'], call: Call): Promise<Answer> {
  const { rights: id, numbers: mode, ...page } = readRequest(operation, call.path, call.query);
  return answerVaults(operation, call, { id, token: null }, page, (one, chainId) => VAULT_TEXT(one, { mode, chainId }));
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
  chainId: (_row, { chainId }) => integerText(chainId),
  delegation: recordText,
  expires: (row) => expiryJson(expiryIn(row)),
});
