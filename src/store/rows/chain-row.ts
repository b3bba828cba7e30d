// A row of the chain table: the state of one chain's index.

import type { Cell, Row } from '../engine.ts';
import type { Dispute, Halt } from '../halt.ts';
import type { ChainState, Imported } from '../store.ts';
import { blockDecoder } from './block-row.ts';
import { decodeFlag, decodeNumber, decodeNumberOrNull, decodeTextOrNull, readJson } from './cells.ts';
import { columns } from './columns.ts';

const INDEXED = ['chain', 'epoch', 'first_block', 'head_number', 'head_hash', 'head_timestamp', 'verified'] as const;
const REPORTED = [
  'confirmed_at',
  'tip',
  'halt',
  'agreed_block',
  'partial',
  'disputes',
  'proving',
  'provable',
  'imported',
] as const;
export const CHAIN = columns(...INDEXED, 'revision', 'commits', ...REPORTED, 'network');

const NO_DISPUTES: readonly Dispute[] = [];

export function decodeDisputes(cell: Cell): readonly Dispute[] {
  const text = decodeTextOrNull(cell);
  return text === null ? NO_DISPUTES : (readJson(text) as Dispute[]);
}

export function chainDecoder(col: typeof CHAIN.col) {
  const decodeHead = blockDecoder({ number: col.head_number, hash: col.head_hash, timestamp: col.head_timestamp });
  return (row: Row): ChainState => {
    const [halt, imported] = [decodeTextOrNull(row[col.halt]), decodeTextOrNull(row[col.imported])];
    return {
      chainId: decodeNumber(row[col.chain]),
      epoch: decodeNumber(row[col.epoch]),
      firstBlock: decodeNumber(row[col.first_block]),
      head: decodeNumberOrNull(row[col.head_number]) === null ? null : decodeHead(row),
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
      network: decodeTextOrNull(row[col.network]),
      imported: imported === null ? null : (readJson(imported) as Imported),
    };
  };
}

/** Decodes a row of `SELECT ${CHAIN.sql}`. */
export const decodeChain = chainDecoder(CHAIN.col);
