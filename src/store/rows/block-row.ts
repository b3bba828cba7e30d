// A row of the block table: number, hash and time; and the block that an answer is true for.

import type { Row } from '../engine.ts';
import type { AnswerBlock, BlockRef } from '../store.ts';
import { decodeHex, decodeHexOrNull, decodeNumber, decodeNumberOrNull } from './cells.ts';
import { type Cols, columns } from './columns.ts';

export const BLOCK = columns('number', 'hash', 'timestamp');

export function blockDecoder({ number, hash, timestamp }: typeof BLOCK.col) {
  return (row: Row): BlockRef => ({
    number: decodeNumber(row[number]),
    hash: decodeHex(row[hash]),
    timestamp: decodeNumber(row[timestamp]),
  });
}

/** Decodes a row of `SELECT ${BLOCK.sql}`. */
export const decodeBlock = blockDecoder(BLOCK.col);

/** Of block `b`. The cells are null where the block is not kept. */
export const ANSWER_BLOCK = { block_hash: 'b.hash', block_time: 'b.timestamp' } as const;

export const answerBlockDecoder =
  (col: Cols<keyof typeof ANSWER_BLOCK>) =>
  (number: number, row: Row): AnswerBlock => ({
    number,
    hash: decodeHexOrNull(row[col.block_hash]),
    timestamp: decodeNumberOrNull(row[col.block_time]),
  });
