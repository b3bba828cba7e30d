// Reads which delegates the registry's state showed to be revoked, and adds them to stored logs.

import type { Address } from '../../registry/delegation.ts';
import type { WriteTransaction } from '../engine.ts';
import { decodeHex, decodeNumber, encodeHex } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import type { StoredLog } from '../rows/log-row.ts';
import type { AppliedBlock, AppliedLog } from './span-set.ts';

/** The delegates that a log revoked, by the log's wallet and position. */
export type SettledEnds = ReadonlyMap<string, readonly Address[]>;
const nameOf = (vault: string, block: number, logIndex: number) => `${vault} ${block} ${logIndex}`;

const ROW = columns('vault', 'block', 'ended_by', 'delegate');

/** Of one wallet, or of all. */
export async function readSettledEnds(tx: WriteTransaction, chainId: number, vault?: Address): Promise<SettledEnds> {
  const rows = await tx.rows(
    `SELECT ${ROW.sql} FROM v1_pair WHERE chain = $1 AND ended_by IS NOT NULL
      ${vault === undefined ? '' : 'AND vault = $2'}`,
    [chainId, ...(vault === undefined ? [] : [encodeHex(vault)])],
  );
  const ends = new Map<string, Address[]>();
  for (const row of rows) {
    const block = decodeNumber(row[ROW.at.block]);
    const name = nameOf(decodeHex(row[ROW.at.vault]), block, decodeNumber(row[ROW.at.ended_by]));
    ends.set(name, [...(ends.get(name) ?? []), decodeHex(row[ROW.at.delegate])]);
  }
  return ends;
}

/** Groups logs, which come in the order of the chain, by block. */
export function groupByBlock(logs: readonly StoredLog[], settled: SettledEnds): AppliedBlock[] {
  const blocks: { number: number; logs: AppliedLog[] }[] = [];
  for (const { block: number, logIndex, event, revoked } of logs) {
    if (blocks.at(-1)?.number !== number) blocks.push({ number, logs: [] });
    const ended = event.type === 'unknownRevoked' ? (settled.get(nameOf(event.from, number, logIndex)) ?? []) : [];
    blocks.at(-1)?.logs.push({ logIndex, event, revoked, ended });
  }
  return blocks;
}
