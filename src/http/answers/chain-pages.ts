// Answers with a page of rows from several chains. Each chain is read as of one block, which the cursor names, and answers for
// itself: with its block, or with its problem.

import type { OperationBase } from '../../api/operation.ts';
import { badRequest, Problem } from '../../api/problems.ts';
import {
  listPositionText,
  type PageCursor,
  pageCursorText,
  readListPosition,
  readPageCursor,
} from '../../feed/cursor.ts';
import { checksummed } from '../../registry/checksum.ts';
import type { Address, DelegationKey } from '../../registry/delegation.ts';
import type { Awaitable } from '../../store/engine.ts';
import type { ChosenBlock, DetailedDelegation, ListQuery, ListSide } from '../../store/store.ts';
import {
  type AsOf,
  chainReorganizing,
  isRewritten,
  type PinnedBlock,
  pinBlock,
  pinIndexed,
  reportUnread,
  TRIES,
} from '../context/as-of.ts';
import { requireAnswered } from '../context/chain-parts.ts';
import { problemOf } from '../context/problem-of.ts';
import { requestedChains } from '../context/served-chains.ts';
import type { Call, Service } from '../context/service.ts';
import { ROW_WEIGHT, SHORT } from '../limits/long-lists.ts';
import { type Answer, blockHeaders, manyChainsHeaders, setNext, tagged } from '../wire/answer.ts';

/**
 * How many rows are read at once, and after how many a page is sent, however few a filter left. Those that are read at once are all
 * in memory, and other requests wait for them.
 */
export const SCAN = 250;
export const MAX_SCANNED = 10_000;

/** Reads rows of one chain from a position on. `next` is null at the end. */
export type Section = (
  limit: number,
  after: string | null,
) => Promise<{ readonly texts: readonly string[]; readonly next: string | null }>;

/** What the request for a page says. */
export interface PageRequest extends AsOf {
  readonly wallet: Address;
  readonly chainId: readonly number[] | 'served';
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface PagedList {
  /** Everything that decides what is in the list, besides its wallet, chains and time. */
  readonly identity: readonly unknown[];
  /** The name of the rows in the body. */
  readonly rows: string;
  /** What is listed of a chain, in order. */
  sectionsOf(chain: PinnedBlock): readonly Section[];
  /** When what was read can become something else without a log: also in the body. */
  nextChange?(): number | null;
}

type Position = Omit<PageCursor, 'chosen'>;
type Part = PinnedBlock | { readonly chainId: number; readonly problem: Problem };

/** A parameter that no handler has read does not compile. */
export async function answerChainPage<Page extends PageRequest>(
  { budget }: OperationBase,
  { request, query, service, caller, failed }: Call,
  page: Page & { readonly [Name in Exclude<keyof Page, keyof PageRequest>]: never },
  list: PagedList,
): Promise<Answer> {
  const { wallet, block, timestamp, limit } = page;
  const chainIds = requestedChains(page.chainId, block, service.chainIds);
  const identity = [list.rows, ...list.identity, wallet, chainIds.join('+'), block, timestamp].join();
  const cursor = page.cursor === undefined ? null : readPageCursor(page.cursor, identity);
  if (page.cursor !== undefined && cursor?.chosen.length !== chainIds.length) throw badCursor();

  const pin = (chainId: number, chosen: ChosenBlock | null): Promise<PinnedBlock> => {
    // A page that reads no row of a chain names its block too.
    const pinAt = chosen === null ? pinBlock : pinIndexed;
    return pinAt(chainId, page, service, { about: page, chosen });
  };
  const orProblem = (chainId: number) => (error: unknown) => ({ chainId, problem: problemOf(error, service, failed) });
  const parts: Part[] = await Promise.all(
    chainIds.map((chainId, index) => {
      if (cursor === null) return pin(chainId, null).catch(orProblem(chainId));
      const chosen = cursor.chosen[index] ?? null;
      return chosen === null ? { chainId, problem: startedWithout(chainId) } : pin(chainId, chosen);
    }),
  );

  const sectionAt = ({ chain, section }: Position): Section | undefined => {
    const part = parts[chain];
    return part === undefined || 'problem' in part ? undefined : list.sectionsOf(part)[section];
  };
  /** The rows of each read, joined: the text of a row consists of dozens of others. */
  const texts: string[] = [];
  let position: Position | null = cursor ?? { chain: 0, section: 0, after: null };
  let [listed, scanned, attempt] = [0, 0, 1];
  let kept = { texts: 0, listed: 0 };
  let long = SHORT;
  try {
    while (position !== null && listed < limit && scanned < MAX_SCANNED && !request.signal.aborted) {
      const at: Position = position;
      const { chain, section, after } = at;
      const part = parts[chain];
      if (part === undefined) {
        position = null;
        break;
      }
      const read = sectionAt(at);
      if (read === undefined || 'problem' in part) {
        position = { chain: chain + 1, section: 0, after: null };
        attempt = 1;
        kept = { texts: texts.length, listed };
        continue;
      }
      const stretch = Math.min(limit - listed, SCAN);
      // Only what goes on after a first read is long: many short parts are not.
      if (after !== null && scanned > 0 && long === SHORT) long = await service.longLists.beginWhole(caller());
      try {
        const found: Awaited<ReturnType<Section>> = await long.read(ROW_WEIGHT * stretch, () => read(stretch, after));
        if (found.texts.length > 0) texts.push(found.texts.join(','));
        listed += found.texts.length;
        scanned += found.next === null ? found.texts.length : stretch;
        position = found.next === null ? { chain, section: section + 1, after: null } : { ...at, after: found.next };
      } catch (error) {
        // A page that continues cannot take back what the pages before it have listed.
        if (cursor !== null) throw error;
        texts.length = kept.texts;
        listed = kept.listed;
        const again = isRewritten(error) && attempt++ < TRIES;
        parts[chain] = again
          ? await pin(part.chainId, null).catch(orProblem(part.chainId))
          : orProblem(part.chainId)(isRewritten(error) ? chainReorganizing(part.chainId) : error);
        position = { chain, section: 0, after: null };
      }
    }
  } finally {
    long.end();
  }
  // Without rows left there is no further page.
  while (position !== null && sectionAt(position) === undefined)
    position = position.chain + 1 < parts.length ? { chain: position.chain + 1, section: 0, after: null } : null;
  const { chains, isComplete } = requireAnswered(parts);
  const chosen = parts.map((part) => ('problem' in part ? null : part.at));
  const next = position === null ? null : pageCursorText({ ...position, chosen }, identity);
  const about = `"wallet":"${checksummed(wallet)}","complete":${isComplete}`;
  const nextChange = list.nextChange?.();
  const change = nextChange === undefined ? '' : `,"nextChange":${nextChange}`;
  const body = `{${about},"${list.rows}":[${texts.join(',')}],"chains":${chains},"next":${JSON.stringify(next)}${change}}`;
  const [first] = parts;
  const headers =
    parts.length === 1 && first !== undefined && !('problem' in first)
      ? blockHeaders(first.chain, first.block, service.now(), {
          request,
          budget,
          timestamp,
          nextChange: nextChange ?? null,
        })
      : manyChainsHeaders(request, budget);
  if (next !== null) setNext(headers, query, next);
  return tagged(request, headers, body);
}

/** Reads delegations of a wallet. */
export function listSection(
  {
    direction,
    matches,
    ...query
  }: Omit<ListQuery, 'limit' | 'after' | 'direction'> & {
    readonly direction: ListSide | undefined;
    readonly matches: ((delegation: DelegationKey) => boolean) | null;
  },
  service: Service,
  textsOf: (delegations: readonly DetailedDelegation[]) => Awaitable<readonly string[]>,
): Section {
  const listed = { ...query, ...(direction && { direction }), ...(matches && { matches }) };
  return async (limit, text) => {
    const after = text === null ? null : readListPosition(text);
    if (text !== null && after === null) throw badCursor();
    const reading = service.store.listDetailed({ ...listed, limit, ...(after && { after }) });
    const { delegations, next } = await reportUnread({ chainId: query.chainId, to: query.wallet }, service, reading);
    return { texts: await textsOf(delegations), next: next && listPositionText(next) };
  };
}

export const badCursor = () => badRequest([{ parameter: 'cursor', detail: 'is not a cursor of this list' }]);

const startedWithout = (chainId: number) =>
  new Problem('cursor-gone', `Chain ${chainId} did not answer when the list began. Start again without a cursor.`);
