// A row of the chain table: the state of one chain's index.

import type { Cell, Row } from '../engine.ts';
import type { Dispute, Halt } from '../halt.ts';
import { readJson } from '../json.ts';
import type { ChainState } from '../store.ts';
import { decodeFlag, decodeHex, decodeNumber, decodeNumberOrNull, decodeTextOrNull } from './cells.ts';
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
  'confirmed',
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

export function chainDecoder(at: typeof CHAIN.at) {
  return (row: Row): ChainState => {
    const headNumber = decodeNumberOrNull(row[at.head_number]);
    const halt = decodeTextOrNull(row[at.halt]);
    return {
      chainId: decodeNumber(row[at.chain]),
      epoch: decodeNumber(row[at.epoch]),
      firstBlock: decodeNumber(row[at.first_block]),
      head:
        headNumber === null
          ? null
          : {
              number: headNumber,
              hash: decodeHex(row[at.head_hash]),
              timestamp: decodeNumber(row[at.head_timestamp]),
            },
      verified: decodeNumberOrNull(row[at.verified]),
      revision: decodeNumber(row[at.revision]),
      commits: decodeNumber(row[at.commits]),
      confirmedAt: decodeNumberOrNull(row[at.confirmed_at]),
      tip: decodeNumberOrNull(row[at.tip]),
      halt: halt === null ? null : (readJson(halt) as Halt),
      confirmed: decodeNumberOrNull(row[at.confirmed]),
      partial: decodeFlag(row[at.partial]),
      proving: decodeFlag(row[at.proving]),
      provable: row[at.provable] === null ? null : decodeFlag(row[at.provable]),
      disputes: decodeDisputes(row[at.disputes]),
    };
  };
}

/** Decodes a row of `SELECT ${CHAIN.sql}`. */
export const decodeChain = chainDecoder(CHAIN.at);
