// Answers with every grant that a wallet made or got, on several chains.

import type { HISTORY } from '../../api/any-operations.ts';
import { handled } from '../../api/operation.ts';
import { readRequest } from '../../api/request.ts';
import { numbersText, readNumbers } from '../../feed/cursor.ts';
import { historyEntryText } from '../../feed/delegation-json.ts';
import { reportUnread } from '../context/as-of.ts';
import type { Call } from '../context/service.ts';
import type { Answer } from '../wire/answer.ts';
import { answerChainPage, badCursor, type PinnedChain, type Section } from './chain-pages.ts';

export function answerHistory(operation: typeof HISTORY, call: Call): Promise<Answer> {
  const { query, service } = call;
  const asked = readRequest(operation, call.path, query);
  const { wallet, chainId, block, timestamp, direction, numbers: mode, limit, cursor, ...rest } = asked;
  handled(rest);
  const section =
    ({ chainId: id, at }: PinnedChain): Section =>
    async (rows, text) => {
      const [number, logIndex] = (text === null ? null : readNumbers(text, 2)) ?? [];
      const after = number === undefined || logIndex === undefined ? {} : { after: { block: number, logIndex } };
      if (text !== null && number === undefined) throw badCursor();
      const side = direction === undefined ? {} : { direction };
      const reading = service.store.history({ chainId: id, wallet, at, limit: rows, ...side, ...after });
      const { entries, next } = await reportUnread({ chainId: id, to: wallet }, service, reading);
      return {
        texts: entries.map((entry) => historyEntryText(entry, { mode, chainId: id })),
        next: next === null ? null : numbersText(next.block, next.logIndex),
      };
    };
  const page = { budget: operation.budget, wallet, chainId, block, timestamp, limit, cursor };
  const sectionsOf = (chain: PinnedChain) => [section(chain)];
  return answerChainPage({ ...page, identity: [direction], rows: 'grants', sectionsOf }, call);
}
