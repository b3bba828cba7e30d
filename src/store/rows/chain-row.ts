// A row of the chain table: the state of one chain's index.

import type { Cell, Row } from '../engine.ts';
import type { Dispute, Halt } from '../halt.ts';
import type { ChainState } from '../store.ts';
import { decodeFlag, decodeHex, decodeNumber, decodeNumberOrNull, decodeTextOrNull, readJson } from './cells.ts';
import { columns } from './columns.ts';

export const CHAIN = columns(
  'chain',
  'epoch',
  'first_block',
  'head_number',
  'head_hash',
  'head_timestamp',
  'verified',
  'revision',
  'commits',
  'confirmed_at',
  'tip',
  'halt',
  'agreed_block',
  'partial',
  'disputes',
  'proving',
  'provable',
);

const NO_DISPUTES: readonly Dispute[] = [];

export function decodeDisputes(cell: Cell | undefined): readonly Dispute[] {
  const text = decodeTextOrNull(cell ?? null);
  return text === null ? NO_DISPUTES : (readJson(text) as Dispute[]);
}

export function chainDecoder(col: typeof CHAIN.col) {
  return (row: Row): ChainState => {
    const headNumber = decodeNumberOrNull(row[col.head_number]);
    const halt = decodeTextOrNull(row[col.halt]);
    return {
      chainId: decodeNumber(row[col.chain]),
      epoch: decodeNumber(row[col.epoch]),
      firstBlock: decodeNumber(row[col.first_block]),
      head:
        headNumber === null
          ? null
          : {
              number: headNumber,
              hash: decodeHex(row[col.head_hash]),
              timestamp: decodeNumber(row[col.head_timestamp]),
            },
      verified: decodeNumberOrNull(row[col.verified]),
      revision: decodeNumber(row[col.revision]),
      commits: decodeNumber(row[col.commits]),
      confirmedAt: decodeNumberOrNull(row[col.confirmed_at]),
      tip: decodeNumberOrNull(row[col.tip]),
      halt: halt === null ? null : (readJson(halt) as Halt),
      agreedBlock: decodeNumberOrNull(row[col.agreed_block]),
      partial: decodeFlag(row[col.partial]),
      proving: decodeFlag(row[col.proving]),
      provable: row[col.provable] === null ? null : decodeFlag(row[col.provable]),
      disputes: decodeDisputes(row[col.disputes]),
    };
  };
}

/** Decodes a row of `SELECT ${CHAIN.sql}`. */
export const decodeChain = chainDecoder(CHAIN.col);
