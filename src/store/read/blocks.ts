// Reads kept blocks, by their numbers or by a time, and the logs in them.

import type { Engine, Param } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { BLOCK, blockDecoder, decodeBlock } from '../rows/block-row.ts';
import { decodeNumber, decodeNumberOrNull } from '../rows/cells.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { LOG, logDecoder } from '../rows/log-row.ts';
import { indexedBy } from '../rows/sql.ts';
import type { Store } from '../store.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';

const AT_TIME = stateStatement(
  [...BLOCK.names, 'next_number'],
  (select) => `SELECT ${select({
    ...STATE,
    ...ofTable('b', BLOCK.names),
    next_number: `(SELECT n.number FROM block n WHERE n.chain = $1 AND n.timestamp > $2
      ORDER BY n.timestamp, n.number LIMIT 1)`,
  })} FROM chain c
    LEFT JOIN (SELECT * FROM block WHERE chain = $1 AND timestamp <= $2
      ORDER BY timestamp DESC, number DESC LIMIT 1) b ON b.chain = c.chain
    WHERE c.chain = $1`,
);
const decodeBlockAt = blockDecoder(AT_TIME.col);

const RECORD = columns(...BLOCK.names, ...LOG.names);
const LOGS = `SELECT ${RECORD.select({ ...ofTable('b', BLOCK.names), ...ofTable('l', LOG.names) })}
  FROM log l JOIN block b ON b.chain = l.chain AND b.number = l.block
  WHERE l.chain = $1 AND l.block >= $2 AND l.block <= $3 AND (l.block, l.log_index) > ($4, $5)
  ORDER BY l.block, l.log_index LIMIT $6`;
const decodeBlockOfLog = blockDecoder(RECORD.col);
const decodeLog = logDecoder(RECORD.col);

type BlockReads = Pick<
  Store,
  'blockAt' | 'newestBlock' | 'blocks' | 'logs' | 'uncheckedTimes' | 'unprovenBlocks' | 'newestUnproven'
>;

export function createBlockReads(engine: Engine, states: StateReader): BlockReads {
  const by = (index: string) => indexedBy(engine.dialect.name, index);
  const readBlocks = async (rest: string, params: readonly Param[]) =>
    (await engine.rows(`SELECT ${BLOCK.sql} FROM block${rest}`, params)).map(decodeBlock);
  const RANGE = 'WHERE chain = $1 AND number >= $2 AND number <= $3';
  return {
    async blockAt(chainId, timestamp) {
      const { rows, head } = await states.one(chainId, AT_TIME, [chainId, timestamp]);
      // Until a later time is seen, the next block may still have this one.
      if (timestamp >= head.timestamp)
        throw new StoreError('beyond-head', `Chain ${chainId} is indexed up to the time ${head.timestamp}.`);
      const [row = []] = rows;
      if (decodeNumberOrNull(row[AT_TIME.col.number]) === null)
        throw new StoreError('before-first', `Chain ${chainId} is not indexed that far back.`);
      return { ...decodeBlockAt(row), next: decodeNumber(row[AT_TIME.col.next_number]) };
    },

    newestBlock: async (chainId, atMost) =>
      (await readBlocks(' WHERE chain = $1 AND number <= $2 ORDER BY number DESC LIMIT 1', [chainId, atMost]))[0] ??
      null,

    blocks: (chainId, { from, to }) => readBlocks(` ${RANGE} ORDER BY number`, [chainId, from, to]),

    async logs(chainId, { from, to, after, limit }) {
      const rows = await engine.rows(LOGS, [chainId, from, to, after?.block ?? -1, after?.logIndex ?? -1, limit]);
      return rows.map((row) => ({ ...decodeLog(row), block: decodeBlockOfLog(row) }));
    },

    uncheckedTimes: (chainId, { from, to, limit }) =>
      readBlocks(`${by('block_log_time')} ${RANGE} AND log_time = 1 ORDER BY number LIMIT $4`, [
        chainId,
        from,
        to,
        limit,
      ]),

    unprovenBlocks: (chainId, { from, to, limit }) =>
      readBlocks(`${by('block_unproven')} ${RANGE} AND unproven = 1 ORDER BY number DESC LIMIT $4`, [
        chainId,
        from,
        to,
        limit,
      ]),

    async newestUnproven() {
      const rows = await engine.rows(
        `SELECT c.chain, (SELECT max(b.number) FROM block b${by('block_unproven')}
          WHERE b.chain = c.chain AND b.unproven = 1) FROM chain c`,
        [],
      );
      return new Map(
        rows.flatMap(([chain, number]) => (number == null ? [] : [[decodeNumber(chain), decodeNumber(number)]])),
      );
    },
  };
}
