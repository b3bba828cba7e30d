// Reads the state of one chain, or of all, and how far they lag.

import type { Engine } from '../engine.ts';
import { notIndexed } from '../errors.ts';
import { rejectNewer, schemaVersion } from '../migrate.ts';
import { ANSWER_BLOCK, ANSWER_BLOCK_NAMES, answerBlockDecoder } from '../rows/block-row.ts';
import { decodeNumber } from '../rows/cells.ts';
import { CHAIN, chainDecoder, decodeChain } from '../rows/chain-row.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { STORE_SCHEMA } from '../schema.ts';
import type { Store } from '../store.ts';

const PINNED = columns(...CHAIN.names, 'stamp', ...ANSWER_BLOCK_NAMES);
const PIN = `SELECT ${PINNED.select({ ...ofTable('c', CHAIN.names), stamp: 'v.stamp', ...ANSWER_BLOCK })}
  FROM chain c JOIN revision v ON v.chain = c.chain AND v.revision = c.revision
    LEFT JOIN block b ON b.chain = c.chain AND b.number = $2 WHERE c.chain = $1`;
const decodeState = chainDecoder(PINNED.col);
const decodeAnswerBlock = answerBlockDecoder(PINNED.col);

export function createChainReads(engine: Engine): Pick<Store, 'chain' | 'chains' | 'pin' | 'lags' | 'size'> {
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
  };
}
