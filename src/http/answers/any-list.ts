// Answers with the delegations of a wallet in both registries, on several chains.

import type { ANY_LIST } from '../../api/any-operations.ts';
import { handled } from '../../api/operation.ts';
import { badRequest } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { listPositionText, readListPosition } from '../../feed/cursor.ts';
import { detailedRecordText } from '../../feed/delegation-json.ts';
import { NO_RIGHTS } from '../../registry/delegation.ts';
import { ALL_VERSIONS } from '../../registry/versions.ts';
import { reportUnread } from '../context/as-of.ts';
import { requestedChains } from '../context/served-chains.ts';
import type { Call } from '../context/service.ts';
import type { Answer } from '../wire/answer.ts';
import { answerChainPage, badCursor, type PinnedChain, type Section } from './chain-pages.ts';
import { matcherOf } from './list-stretches.ts';

export function answerAnyList(operation: typeof ANY_LIST, call: Call): Promise<Answer> {
  const { query, service } = call;
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
  } = readRequest(operation, call.path, query);
  handled(rest);
  const chainIds = requestedChains(chainId, block, service.chainIds);
  if (unrestricted === 'true' && rights !== undefined)
    throw badRequest([{ parameter: 'unrestricted', detail: 'cannot be combined with rights' }]);
  const matches = matcherOf({ type, contract, rights: unrestricted === 'true' ? NO_RIGHTS : rights });
  const section =
    ({ chainId: id, at }: PinnedChain, version: (typeof ALL_VERSIONS)[number]): Section =>
    async (rows, after) => {
      const position = after === null ? null : readListPosition(after);
      if (after !== null && position === null) throw badCursor();
      const page = await reportUnread(
        { chainId: id, to: wallet },
        service,
        service.store.listDetailed({
          chainId: id,
          version,
          wallet,
          at,
          limit: rows,
          ...(direction === undefined ? {} : { direction }),
          ...(matches === null ? {} : { matches }),
          ...(position === null ? {} : { after: position }),
        }),
      );
      const format = {
        mode: numbers,
        chainId: id,
        hasStandardTypes: types === 'standard' || service.hasStandardTypes === true,
      };
      return {
        texts: page.delegations.map((row) => detailedRecordText(row, format, 'any')),
        next: page.next === null ? null : listPositionText(page.next),
      };
    };
  return answerChainPage(
    {
      budget: operation.budget,
      wallet,
      chainIds,
      asOf: { block, timestamp },
      limit,
      cursor,
      identity: [wallet, direction, type, contract, rights, unrestricted, chainIds.join('+'), block, timestamp].join(),
      query,
      rows: 'delegations',
      sectionsOf: (chain) => ALL_VERSIONS.toReversed().map((version) => section(chain, version)),
    },
    call,
  );
}
