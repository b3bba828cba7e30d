// A row of the block table: number, hash and time.

import type { Row } from '../engine.ts';
import type { BlockRef } from '../store.ts';
import { decodeHex, decodeNumber } from './cells.ts';
import { columns } from './columns.ts';

export const BLOCK = columns('number', 'hash', 'timestamp');

export function blockDecoder({ number, hash, timestamp }: typeof BLOCK.at) {
  return (row: Row): BlockRef => ({
    number: decodeNumber(row[number]),
    hash: decodeHex(row[hash]),
    timestamp: decodeNumber(row[timestamp]),
  });
}

/** Decodes a row of `SELECT ${BLOCK.sql}`. */
export const decodeBlock = blockDecoder(BLOCK.at);
