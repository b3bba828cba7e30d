// Answers for whom a wallet may act, and who may act for it.

import type { CounterpartsOperation } from '../../api/any-operations.ts';
import { handled } from '../../api/operation.ts';
import type { NumberMode } from '../../api/params.ts';
import { Problem } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { detailedRecordText } from '../../feed/delegation-json.ts';
import type { AnyQuestion, AnyTarget } from '../../registry/check.ts';
import { checksummed } from '../../registry/checksum.ts';
import { type Address, type DelegationKey, isAddress, NO_RIGHTS } from '../../registry/delegation.ts';
import { ALL_VERSIONS, neverGrants } from '../../registry/versions.ts';
import type { Counterpart } from '../../store/store.ts';
import { reportUnread } from '../context/as-of.ts';
import type { Call } from '../context/service.ts';
import type { Answer } from '../wire/answer.ts';
import { answerChainPage, badCursor, listSection, type PinnedChain, type Section } from './chain-pages.ts';

export function answerCounterparts(operation: CounterpartsOperation, call: Call): Promise<Answer> {
  const { side, one, budget } = operation;
  const { wallet, contract, tokenId, rights, narrower, chainId, block, timestamp, numbers, limit, cursor, ...rest } =
    readRequest(operation, call.path, call.query);
  handled(rest);
  const target = targetOf({ contract, tokenId, rights });
  const asked = { side, one, wallet, target, numbers };
  const page = { budget, wallet, chainId, block, timestamp, limit, cursor };
  return answerChainPage(
    {
      ...page,
      identity: [contract, tokenId, rights, narrower],
      rows: side,
      sectionsOf: (chain) => [
        grantedSection(asked, chain, call),
        // A single token has no narrower part.
        ...(narrower === 'true' && target.scope !== 'erc721'
          ? ALL_VERSIONS.toReversed().map((version) => narrowerSection(asked, version, chain, call))
          : []),
      ],
    },
    call,
  );
}

function targetOf({
  contract,
  tokenId,
  rights,
}: Pick<AnyQuestion, 'rights'> & { contract?: Address | undefined; tokenId?: bigint | undefined }): AnyTarget {
  const base = { version: 'any', rights } as const;
  if (contract === undefined) return { ...base, scope: 'all' };
  return tokenId === undefined
    ? { ...base, scope: 'contract', contract }
    : { ...base, scope: 'erc721', contract, tokenId };
}

interface Asked {
  readonly side: CounterpartsOperation['side'];
  readonly one: CounterpartsOperation['one'];
  readonly wallet: Address;
  readonly target: AnyTarget;
  readonly numbers: NumberMode;
}

/** The wallets for which the check is true. */
function grantedSection(
  { side, one, wallet, target, numbers }: Asked,
  { chainId, at }: PinnedChain,
  { service }: Call,
): Section {
  return async (limit, after) => {
    if (after !== null && !isAddress(after)) throw badCursor();
    const query = { chainId, wallet, target, at, limit, ...(after === null ? {} : { after }) };
    const { counterparts, next } = await reportUnread({ chainId, to: wallet }, service, service.store[side](query));
    return { texts: counterparts.map((row) => rowText(one, row, false, { mode: numbers, chainId })), next };
  };
}

/** The wallets that granted only a part of what is asked: read from the whole list, so it costs as much. */
function narrowerSection(
  { side, one, wallet, target, numbers }: Asked,
  version: (typeof ALL_VERSIONS)[number],
  { chainId, at }: PinnedChain,
  { service }: Call,
): Section {
  const direction = side === 'vaults' ? 'incoming' : 'outgoing';
  const otherOf = ({ from, to }: DelegationKey) => (side === 'vaults' ? from : to);
  const matches = (delegation: DelegationKey) => isNarrower(delegation, target);
  const query = { chainId, version, wallet, direction, at, matches } as const;
  return listSection(query, service, async (delegations) => {
    const found = Map.groupBy(delegations, otherOf);
    const others = [...found.keys()];
    const questions = others.map((other) => {
      const [from, to] = side === 'vaults' ? [other, wallet] : [wallet, other];
      return { ...target, from, to } as AnyQuestion;
    });
    const isGranted = await service.store.checkMany(chainId, questions, at);
    if (isGranted.includes(null))
      throw new Problem('revocation-unread', 'A revocation could not be read from the registry.', { retryAfter: 5 });
    const rows = others.filter((_, index) => isGranted[index] === false);
    return rows.map((other) =>
      rowText(one, { wallet: other, granting: found.get(other) ?? [] }, true, { mode: numbers, chainId }),
    );
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
  one: string,
  { wallet, granting }: Counterpart,
  isNarrow: boolean,
  format: { readonly mode: NumberMode; readonly chainId: number },
): string {
  const grants = granting.map((row) => detailedRecordText(row, format, 'any')).join(',');
  return `{"${one}":"${checksummed(wallet)}","chainId":${format.chainId},"narrower":${isNarrow},"grants":[${grants}]}`;
}
