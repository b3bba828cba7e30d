// Reads a block, or the head, with the state of the chain and the stamp of its revision.

import type { Engine } from '../engine.ts';
import { decodeNumber } from '../rows/cells.ts';
import { CHAIN, chainDecoder } from '../rows/chain-row.ts';
import { columns, ofTable } from '../rows/columns.ts';
import type { Store } from '../store.ts';
import { ANSWER_BLOCK, ANSWER_BLOCK_NAMES, answerBlockDecoder } from './answer-block.ts';
import { notIndexed } from './refusals.ts';

const ROW = columns(...CHAIN.names, 'stamp', ...ANSWER_BLOCK_NAMES);
const SQL = `SELECT ${ROW.select({ ...ofTable('c', CHAIN.names), stamp: 'v.stamp', ...ANSWER_BLOCK })}
  FROM chain c JOIN revision v ON v.chain = c.chain AND v.revision = c.revision
    LEFT JOIN block b ON b.chain = c.chain AND b.number = $2 WHERE c.chain = $1`;

const decodeState = chainDecoder(ROW.at);
const decodeAnswerBlock = answerBlockDecoder(ROW.at);

export const createPin =
  (engine: Engine): Store['pin'] =>
  async (chainId, block) => {
    const [row] = await engine.rows(SQL, [chainId, block ?? -1]);
    if (row === undefined) throw notIndexed(chainId);
    const chain = decodeState(row);
    if (chain.head === null) throw notIndexed(chainId);
    const stamp = decodeNumber(row[ROW.at.stamp]);
    return { chain, stamp, block: block === undefined ? chain.head : decodeAnswerBlock(block, row) };
  };
