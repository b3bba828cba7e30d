// Encodes where a reader of changes is on each chain as an opaque cursor.

import { endOfBlock, isEndOfBlock, STEPS } from '../store/change-position.ts';
import type { ChangePosition, ChangesCursor } from '../store/store.ts';

/** By chain id. A chain that has not answered yet is absent. */
export type FeedCursor = ReadonlyMap<number, ChangesCursor>;

/** Most positions are the end of a block, whose text is short: a cursor may have many chains. */
const END = /^([0-9a-z]{1,11})$/;
const INSIDE = /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([01])\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})$/;
const RADIX = 36;

const numberText = (value: number) => value.toString(RADIX);
const readNumber = (text: string | undefined) => Number.parseInt(text ?? '', RADIX);

/** The position before everything has block -1. */
function positionText(position: ChangePosition): string {
  const { block, logIndex, step, since } = position;
  if (isEndOfBlock(position)) return numberText(block + 1);
  const rest = [logIndex, STEPS[step], since.block, since.logIndex].map(numberText);
  return [numberText(block + 1), ...rest].join('.');
}

function readPosition(text: string): ChangePosition | null {
  const [, end] = END.exec(text) ?? [];
  if (end !== undefined) return endOfBlock(readNumber(end) - 1);
  const [, block, logIndex, step, sinceBlock, sinceLog] = INSIDE.exec(text) ?? [];
  if (step === undefined) return null;
  return {
    block: readNumber(block) - 1,
    logIndex: readNumber(logIndex),
    step: step === '0' ? 'ended' : 'began',
    since: { block: readNumber(sinceBlock), logIndex: readNumber(sinceLog) },
  };
}

/** `feed` identifies the feed: every parameter that decides what is in it. */
export function feedCursorText(cursor: FeedCursor, feed: string): string {
  const chains = [...cursor]
    .sort(([one], [other]) => one - other)
    .map(([chainId, { position, revision, stamp, final }]) => {
      const common = final === null ? [] : [final.block, final.revision, final.stamp];
      return [numberText(chainId), positionText(position), ...[revision, stamp, ...common].map(numberText)].join('-');
    });
  return Buffer.from([...chains, numberText(Bun.hash.xxHash32(feed))].join(',')).toString('base64url');
}

/** Null if the text is not a cursor of this feed. */
export function readFeedCursor(text: string, feed: string): FeedCursor | null {
  const fields = Buffer.from(text, 'base64url').toString('latin1').split(',');
  const cursor = new Map<number, ChangesCursor>();
  for (const field of fields.slice(0, -1)) {
    const [chainId, place = '', ...rest] = field.split('-');
    const position = readPosition(place);
    const [revision = -1, stamp = -1, ...common] = rest.map(readNumber);
    if (position === null || stamp < 0 || (common.length !== 0 && common.length !== 3)) return null;
    const [block, ...of] = common as [number, number, number] | [];
    const final = block === undefined ? null : { block, revision: of[0] ?? -1, stamp: of[1] ?? -1 };
    cursor.set(readNumber(chainId), { position, revision, stamp, final });
  }
  // Each position has one text: any other encoding of it was not made here.
  return feedCursorText(cursor, feed) === text && isSafe(cursor) ? cursor : null;
}

const isSafe = (cursor: FeedCursor) =>
  [...cursor].every(([chainId, { position, revision, stamp, final }]) => {
    const { block, logIndex, since } = position;
    const common = final === null ? [] : [final.block, final.revision, final.stamp];
    const natural = [chainId, block + 1, logIndex, since.block, since.logIndex, revision, stamp, ...common];
    return natural.every((value) => Number.isSafeInteger(value) && value >= 0);
  });
