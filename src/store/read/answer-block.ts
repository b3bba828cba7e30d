// The block that an answer is true for: its hash and time are null where the block is not kept.

import type { Row } from '../engine.ts';
import { decodeHexOrNull, decodeNumberOrNull } from '../rows/cells.ts';
import type { At } from '../rows/columns.ts';
import type { AnswerBlock } from '../store.ts';

/** Of block `b`. */
export const ANSWER_BLOCK = { block_hash: 'b.hash', block_time: 'b.timestamp' } as const;
export const ANSWER_BLOCK_NAMES = ['block_hash', 'block_time'] as const;

export const answerBlockDecoder =
  (at: At<keyof typeof ANSWER_BLOCK>) =>
  (number: number, row: Row): AnswerBlock => ({
    number,
    hash: decodeHexOrNull(row[at.block_hash]),
    timestamp: decodeNumberOrNull(row[at.block_time]),
  });
