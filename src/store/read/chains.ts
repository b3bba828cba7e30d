// Reads chains: their state and lag, their kept blocks, by number or by time, and the logs in them.

import type { Engine, Param } from '../engine.ts';
import { notIndexed, StoreError } from '../errors.ts';
import { rejectNewer, schemaVersion } from '../migrate.ts';
import { ANSWER_BLOCK, answerBlockDecoder, BLOCK, blockDecoder, decodeBlock } from '../rows/block-row.ts';
import { decodeNumber, decodeNumberOrNull } from '../rows/cells.ts';
import { CHAIN, chainDecoder, decodeChain } from '../rows/chain-row.ts';
import { columns, namesOf, ofTable } from '../rows/columns.ts';
import { LOG, logDecoder } from '../rows/log-row.ts';
import { indexedBy } from '../rows/sql.ts';
import { STORE_SCHEMA } from '../schema.ts';
import type { Store } from '../store.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';

/** As 2026-10-20 14:30:05 UTC. */
const timeText = (seconds: number) =>
  new Date(1000 * seconds)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$/, ' UTC');

const OF_CHAIN = { ...ofTable('c', CHAIN.names), stamp: 'v.stamp', ...ANSWER_BLOCK };
const PINNED = columns(...namesOf(OF_CHAIN));
const PIN = `SELECT ${PINNED.select(OF_CHAIN)}
  FROM chain c JOIN revision v ON v.chain = c.chain AND v.revision = c.revision
    LEFT JOIN block b ON b.chain = c.chain AND b.number = $2 WHERE c.chain = $1`;
const decodeState = chainDecoder(PINNED.col);
const decodeAnswerBlock = answerBlockDecoder(PINNED.col);

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

type OfChain = 'chain' | 'chains' | 'pin' | 'lags' | 'size';
type OfBlocks =
  | 'blockAt'
  | 'newestBlock'
  | 'newestWithLogs'
  | 'blocks'
  | 'logs'
  | 'uncheckedTimes'
  | 'unprovenBlocks'
  | 'newestUnproven';

export function createChainReads(engine: Engine, states: StateReader): Pick<Store, OfChain | OfBlocks> {
  const by = (index: string) => indexedBy(engine.dialect.name, index);
  const readBlocks = async (rest: string, params: readonly Param[]) =>
    (await engine.rows(`SELECT ${BLOCK.sql} FROM block${rest}`, params)).map(decodeBlock);
  const RANGE = 'WHERE chain = $1 AND number >= $2 AND number <= $3';
  const readMarked =
    (mark: 'log_time' | 'unproven', order: 'number' | 'number DESC'): Store['unprovenBlocks'] =>
    (chainId, { from, to, limit }) => {
      const marked = `${by(`block_${mark}`)} ${RANGE} AND ${mark} = 1 ORDER BY ${order} LIMIT $4`;
      return readBlocks(marked, [chainId, from, to, limit]);
    };
  return {
    async chain(chainId) {
      const [row] = await engine.rows(`SELECT ${CHAIN.sql} FROM chain WHERE chain = $1`, [chainId]);
      return row === undefined ? null : decodeChain(row);
    },

    /** Also says so if the store no longer is one that this program can read. */
    async chains() {
      rejectNewer(await schemaVersion(engine, STORE_SCHEMA), STORE_SCHEMA);
      const rows = await engine.rows(`SELECT ${CHAIN.sql} FROM chain ORDER BY chain`, []);
      return rows.map(decodeChain);
    },

    async pin(chainId, block) {
      const [row] = await engine.rows(PIN, [chainId, block ?? -1]);
      const chain = row && decodeState(row);
      if (row === undefined || !chain?.head) throw notIndexed(chainId);
      const stamp = decodeNumber(row[PINNED.col.stamp]);
      return { chain, stamp, block: block === undefined ? chain.head : decodeAnswerBlock(block, row) };
    },

    async lags(since) {
      const rows = await engine.rows('SELECT chain, at, seconds FROM lag WHERE at >= $1 ORDER BY chain, at', [since]);
      return rows.map(([chain, at, seconds]) => ({
        chainId: decodeNumber(chain),
        at: decodeNumber(at),
        seconds: decodeNumber(seconds),
      }));
    },

    async size() {
      const [[bytes] = []] = await engine.rows(engine.dialect.size, []);
      return decodeNumber(bytes);
    },

    async blockAt(chainId, timestamp) {
      const { rows, head } = await states.one(chainId, AT_TIME, [chainId, timestamp]);
      // Until a later time is seen, the next block may still have this one.
      if (timestamp >= head.timestamp)
        throw new StoreError('beyond-head', `Chain ${chainId} is indexed up to ${timeText(head.timestamp)}.`);
      const [row = []] = rows;
      if (decodeNumberOrNull(row[AT_TIME.col.number]) === null)
        throw new StoreError('before-first', `Chain ${chainId} is not indexed that far back.`);
      return { ...decodeBlockAt(row), next: decodeNumber(row[AT_TIME.col.next_number]) };
    },

    newestBlock: async (chainId, atMost) =>
      (await readBlocks(' WHERE chain = $1 AND number <= $2 ORDER BY number DESC LIMIT 1', [chainId, atMost]))[0] ??
      null,

    async newestWithLogs(chainId, atMost) {
      const newest = ' WHERE chain = $1 AND number = (SELECT max(block) FROM log WHERE chain = $1 AND block <= $2)';
      return (await readBlocks(newest, [chainId, atMost]))[0] ?? null;
    },

    blocks: (chainId, { from, to }) => readBlocks(` ${RANGE} ORDER BY number`, [chainId, from, to]),

    async logs(chainId, { from, to, after, limit }) {
      const rows = await engine.rows(LOGS, [chainId, from, to, after?.block ?? -1, after?.logIndex ?? -1, limit]);
      return rows.map((row) => ({ ...decodeLog(row), block: decodeBlockOfLog(row) }));
    },

    uncheckedTimes: readMarked('log_time', 'number'),

    unprovenBlocks: readMarked('unproven', 'number DESC'),

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
