// Answers with the delegations of a wallet in both registries, on several chains.

import type { ANY_LIST } from '../../api/any-operations.ts';
import { handled } from '../../api/operation.ts';
import { badRequest } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { detailedRecordText } from '../../feed/delegation-json.ts';
import { NO_RIGHTS } from '../../registry/delegation.ts';
import { ALL_VERSIONS, type Version } from '../../registry/versions.ts';
import type { Call } from '../context/service.ts';
import type { Answer } from '../wire/answer.ts';
import { answerChainPage, listSection, type PinnedChain } from './chain-pages.ts';
import { matcherOf } from './list-stretches.ts';

export function answerAnyList(operation: typeof ANY_LIST, call: Call): Promise<Answer> {
  const { service } = call;
  const {
    wallet,
    chainId,
    block,
    timestamp,
    direction,
    type,
    contract,
    rights,
    unrestricted,
    types,
    numbers,
    limit,
    cursor,
    ...rest
  } = readRequest(operation, call.path, call.query);
  handled(rest);
  if (unrestricted === 'true' && rights !== undefined)
    throw badRequest([{ parameter: 'unrestricted', detail: 'cannot be combined with rights' }]);
  const matches = matcherOf({ type, contract, rights: unrestricted === 'true' ? NO_RIGHTS : rights });
  const hasStandardTypes = types === 'standard' || service.hasStandardTypes === true;
  const section = ({ chainId: id, at }: PinnedChain, version: Version) => {
    const query = { chainId: id, version, wallet, at, ...(direction && { direction }), ...(matches && { matches }) };
    const format = { mode: numbers, chainId: id, hasStandardTypes };
    return listSection(query, service, (found) => found.map((row) => detailedRecordText(row, format, 'any')));
  };
  const page = { budget: operation.budget, wallet, chainId, block, timestamp, limit, cursor };
  return answerChainPage(
    {
      ...page,
      identity: [direction, type, contract, rights, unrestricted],
      rows: 'delegations',
      sectionsOf: (chain) => ALL_VERSIONS.toReversed().map((version) => section(chain, version)),
    },
    call,
  );
}
