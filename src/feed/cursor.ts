// Opaque cursors: where a reader is in a list or a feed, in a text that is valid there only. Each place has one text: any other
// was not made here.

import { endOfBlock, isEndOfBlock, STEPS } from '../store/change-position.ts';
import type { ChangePosition, ChangesCursor, ChosenBlock, ListPosition } from '../store/store.ts';

/** Digits and lower-case letters: a cursor may have many chains. */
const RADIX = 36;

export const numbersText = (...numbers: readonly number[]): string =>
  numbers.map((one) => one.toString(RADIX)).join('.');

/** Null if the text is not that of exact natural numbers, as many as one of the lengths. */
export function readNumbers(text: string, ...lengths: readonly number[]): number[] | null {
  const numbers = text.split('.').map((one) => Number.parseInt(one, RADIX));
  const isExact = numbers.every((one) => Number.isSafeInteger(one) && one >= 0) && numbersText(...numbers) === text;
  return isExact && lengths.includes(numbers.length) ? numbers : null;
}

/** Writes places as cursors, and reads them: null if the text is not a cursor of that list or feed. */
function cursorsOf<Place>(fieldsOf: (place: Place) => string[], placeOf: (fields: string[]) => Place | null) {
  const text = (place: Place, identity: string): string =>
    Buffer.from([...fieldsOf(place), numbersText(Bun.hash.xxHash32(identity))].join(',')).toString('base64url');
  return {
    /** `identity` is every parameter that decides what is in the list or the feed. */
    text,
    read(given: string, identity: string): Place | null {
      const place = placeOf(Buffer.from(given, 'base64url').toString('latin1').split(',').slice(0, -1));
      return place !== null && text(place, identity) === given ? place : null;
    },
  };
}

/** Where a reader of changes is, by chain id. A chain that has not answered yet is absent. */
export type FeedCursor = ReadonlyMap<number, ChangesCursor>;

/** The position before everything has block -1. Most positions are the end of a block. */
function positionText(position: ChangePosition): string {
  const { block, logIndex, step, since } = position;
  if (isEndOfBlock(position)) return numbersText(block + 1);
  return numbersText(block + 1, logIndex, STEPS[step], since.block, since.logIndex);
}

function readPosition(text: string): ChangePosition | null {
  const [block = 0, logIndex, step = 0, sinceBlock = 0, sinceLog = 0] = readNumbers(text, 1, 5) ?? [-1];
  if (block < 0 || step > 1) return null;
  if (logIndex === undefined) return endOfBlock(block - 1);
  const since = { block: sinceBlock, logIndex: sinceLog };
  return { block: block - 1, logIndex, step: step === STEPS.ended ? 'ended' : 'began', since };
}

const feedCursors = cursorsOf<FeedCursor>(
  (cursor) =>
    [...cursor]
      .sort(([one], [other]) => one - other)
      .map(([chainId, { position, revision, stamp, final }]) => {
        const common = final === null ? [] : [final.block, final.revision, final.stamp];
        return `${numbersText(chainId)}-${positionText(position)}-${numbersText(revision, stamp, ...common)}`;
      }),
  (fields) => {
    const cursor = new Map<number, ChangesCursor>();
    for (const field of fields) {
      const [chain = '', place = '', history = ''] = field.split('-');
      const [chainId] = readNumbers(chain, 1) ?? [];
      const position = readPosition(place);
      const [revision, stamp, block, ...common] = readNumbers(history, 2, 5) ?? [];
      if (chainId === undefined || position === null || revision === undefined || stamp === undefined) return null;
      const final = block === undefined ? null : { block, revision: common[0] ?? 0, stamp: common[1] ?? 0 };
      cursor.set(chainId, { position, revision, stamp, final });
    }
    return cursor;
  },
);
export const { text: feedCursorText, read: readFeedCursor } = feedCursors;

/** Where a page of a list ended. */
export interface PageCursor {
  /** What each chain is read as of, in the order of the request; null for a chain that did not answer. */
  readonly chosen: readonly (ChosenBlock | null)[];
  /** The index of the chain in the request, and of the section in the chain. */
  readonly chain: number;
  readonly section: number;
  /** The position in the section; null at its start. */
  readonly after: string | null;
}

const pageCursors = cursorsOf<PageCursor>(
  ({ chosen, chain, section, after }) => [
    numbersText(chain, section),
    after ?? '',
    ...chosen.map((one) => (one === null ? '' : numbersText(one.block, one.revision, one.stamp))),
  ],
  ([place = '', after, ...blocks]) => {
    const [chain, section] = readNumbers(place, 2) ?? [];
    if (chain === undefined || section === undefined) return null;
    const chosen = blocks.map((text) => {
      const [block, revision, stamp] = readNumbers(text, 3) ?? [];
      return block === undefined || revision === undefined || stamp === undefined ? null : { block, revision, stamp };
    });
    return { chosen, chain, section, after: after || null };
  },
);
export const { text: pageCursorText, read: readPageCursor } = pageCursors;

/** The `after` of a list of delegations. */
export const listPositionText = ({ side, first, since }: ListPosition): string =>
  numbersText(side === 'incoming' ? 0 : 1, first.block, first.logIndex, since.block, since.logIndex);

/** Null if the text is not a position. */
export function readListPosition(text: string): ListPosition | null {
  const [side = -1, block = 0, logIndex = 0, sinceBlock = 0, sinceLog = 0] = readNumbers(text, 5) ?? [];
  if (side !== 0 && side !== 1) return null;
  const since = { block: sinceBlock, logIndex: sinceLog };
  return { side: side === 0 ? 'incoming' : 'outgoing', first: { block, logIndex }, since };
}
