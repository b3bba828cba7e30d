// Answers with pages about a wallet on several chains: its delegations in both registries, every grant that it made or got, for whom it
// may act, and who may act for it.

import type { ANY_LIST, CounterpartsOperation, HISTORY } from '../../api/any-operations.ts';
import type { RequestOf } from '../../api/operation.ts';
import { asRights, asRightsId, type NumberMode } from '../../api/params.ts';
import { badRequest, Problem } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { numbersText, readNumbers } from '../../feed/cursor.ts';
import { detailedRecordText, historyEntryText } from '../../feed/delegation-json.ts';
import type { AnyQuestion, AnyTarget } from '../../registry/check.ts';
import { checksummed } from '../../registry/checksum.ts';
import { type Address, type DelegationKey, isAddress, NO_RIGHTS } from '../../registry/delegation.ts';
import { NEWEST_FIRST, neverGrants, type Version } from '../../registry/versions.ts';
import type { Counterpart } from '../../store/store.ts';
import { type PinnedBlock, reportUnread } from '../context/as-of.ts';
import { requireForm } from '../context/exclusive.ts';
import type { Call, Service } from '../context/service.ts';
import type { Answer } from '../wire/answer.ts';
import { answerChainPage, badCursor, listSection, type Section } from './chain-pages.ts';
import { answerVaults } from './exclusive.ts';
import { filterOf, hasStandardTypes, matcherOf } from './list.ts';

export function answerAnyList(operation: typeof ANY_LIST, call: Call): Promise<Answer> {
  const { service } = call;
  const { numbers, types, direction, ...asked } = readRequest(operation, call.path, call.query);
  const { type, contract, rights, unrestricted, ...page } = asked;
  const matches = matcherOf(filterOf({ type, contract, rights, unrestricted }));
  const section = ({ chainId, at }: PinnedBlock, version: Version) => {
    const query = { chainId, version, wallet: page.wallet, at, direction, matches };
    const format = { mode: numbers, chainId, hasStandardTypes: hasStandardTypes(types, service) };
    return listSection(query, service, (found) => found.map((row) => detailedRecordText(row, format, 'any')));
  };
  return answerChainPage(operation, call, page, {
    identity: [direction, type, contract, rights, unrestricted],
    rows: 'delegations',
    sectionsOf: (chain) => NEWEST_FIRST.map((version) => section(chain, version)),
  });
}

export function answerHistory(operation: typeof HISTORY, call: Call): Promise<Answer> {
  const { service } = call;
  const { direction, numbers: mode, ...page } = readRequest(operation, call.path, call.query);
  const { wallet } = page;
  const section =
    ({ chainId, at }: PinnedBlock): Section =>
    async (limit, text) => {
      const [block, logIndex = 0] = (text === null ? null : readNumbers(text, 2)) ?? [];
      if (text !== null && block === undefined) throw badCursor();
      const place = block === undefined ? {} : { after: { block, logIndex } };
      const reading = service.store.history({ chainId, wallet, at, limit, ...(direction && { direction }), ...place });
      const { entries, next } = await reportUnread({ chainId, to: wallet }, service, reading);
      const texts = entries.map((entry) => historyEntryText(entry, { mode, chainId }));
      return { texts, next: next && numbersText(next.block, next.logIndex) };
    };
  const sectionsOf = (chain: PinnedBlock) => [section(chain)];
  return answerChainPage(operation, call, page, { identity: [direction], rows: 'grants', sectionsOf });
}

export function answerCounterparts(operation: CounterpartsOperation, call: Call): Promise<Answer> {
  const { side, one } = operation;
  const asked = readRequest(operation, call.path, call.query);
  const { contract, tokenId, rights: given, resolver, narrower, numbers: mode, ...page } = asked;
  if (resolver === 'exclusive') return answerExclusive(operation, call, asked);
  const rights = requireForm(asRights(given));
  const target = targetOf(rights, contract, tokenId);
  const about = { side, one, wallet: page.wallet, target, mode, service: call.service };
  // A single token has no narrower part.
  const versions = narrower === 'true' && target.scope !== 'erc721' ? NEWEST_FIRST : [];
  return answerChainPage(operation, call, page, {
    identity: [contract, tokenId, rights, narrower],
    rows: side,
    sectionsOf: (chain) => [
      grantedSection(about, chain),
      ...versions.map((version) => narrowerSection(about, version, chain)),
    ],
  });
}

/** The vaults for which the wallet alone acts, as vaults. */
function answerExclusive(operation: CounterpartsOperation, call: Call, asked: RequestOf<CounterpartsOperation>) {
  const { contract, tokenId, rights, resolver: _, narrower, numbers: mode, ...page } = asked;
  const id = requireForm(asRightsId(rights));
  const isWhole = contract === undefined || tokenId === undefined;
  if (isWhole && contract !== undefined)
    throw badRequest([{ parameter: 'tokenId', detail: 'is required with contract and resolver=exclusive' }]);
  if (narrower === 'true')
    throw badRequest([{ parameter: 'narrower', detail: 'cannot be combined with resolver=exclusive' }]);
  const token = isWhole ? null : { contract, tokenId };
  return answerVaults(operation, call, { id, token }, page, (one, chainId) =>
    rowText({ one: operation.one, mode }, chainId, { wallet: one.from, granting: [one] }, false),
  );
}

function targetOf(rights: AnyTarget['rights'], contract: Address | undefined, tokenId: bigint | undefined): AnyTarget {
  const base = { version: 'any', rights } as const;
  if (contract === undefined) return { ...base, scope: 'all' };
  return tokenId === undefined
    ? { ...base, scope: 'contract', contract }
    : { ...base, scope: 'erc721', contract, tokenId };
}

interface Asked extends Pick<CounterpartsOperation, 'side' | 'one'> {
  readonly wallet: Address;
  readonly target: AnyTarget;
  readonly mode: NumberMode;
  readonly service: Service;
}

/** The wallets for which the check is true. */
function grantedSection(asked: Asked, { chainId, at }: PinnedBlock): Section {
  const { side, wallet, target, service } = asked;
  return async (limit, after) => {
    if (after !== null && !isAddress(after)) throw badCursor();
    const query = { chainId, wallet, target, at, limit, ...(after === null ? {} : { after }) };
    const { counterparts, next } = await reportUnread({ chainId, to: wallet }, service, service.store[side](query));
    return { texts: counterparts.map((row) => rowText(asked, chainId, row, false)), next };
  };
}

/** The wallets that granted only a part of what is asked: read from the whole list, so it costs as much. */
function narrowerSection(asked: Asked, version: Version, { chainId, at }: PinnedBlock): Section {
  const { side, wallet, target, service } = asked;
  const isVaults = side === 'vaults';
  const direction = isVaults ? 'incoming' : 'outgoing';
  const matches = (delegation: DelegationKey) => isNarrower(delegation, target);
  return listSection({ chainId, version, wallet, direction, at, matches }, service, async (delegations) => {
    const found = Map.groupBy(delegations, ({ from, to }) => (isVaults ? from : to));
    const others = [...found.keys()];
    const pairOf = (other: Address) => (isVaults ? { from: other, to: wallet } : { from: wallet, to: other });
    const questions = others.map((other) => ({ ...target, ...pairOf(other) }) as AnyQuestion);
    const isGranted = await service.store.checkMany(chainId, questions, at);
    if (isGranted.includes(null))
      throw new Problem('revocation-unread', 'A revocation could not be read from the registry.', { retryAfter: 5 });
    const rows = others.filter((_, index) => isGranted[index] === false);
    return rows.map((other) => rowText(asked, chainId, { wallet: other, granting: found.get(other) ?? [] }, true));
  });
}

/** Whether a delegation covers a part of the target, and not the whole. */
function isNarrower({ version, kind, from, contract, rights }: DelegationKey, target: AnyTarget): boolean {
  if (rights !== null && rights !== NO_RIGHTS && rights !== target.rights) return false;
  if (neverGrants(version, from)) return false;
  if (target.scope === 'all') return kind !== 'ALL';
  return kind !== 'ALL' && kind !== 'CONTRACT' && 'contract' in target && contract === target.contract;
}

function rowText(
  { one, mode }: Pick<Asked, 'one' | 'mode'>,
  chainId: number,
  { wallet, granting }: Counterpart,
  isNarrow: boolean,
): string {
  const grants = granting.map((row) => detailedRecordText(row, { mode, chainId }, 'any')).join(',');
  return `{"${one}":"${checksummed(wallet)}","chainId":${chainId},"narrower":${isNarrow},"grants":[${grants}]}`;
}
