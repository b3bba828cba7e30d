// Reads v1 revocations that name no delegate, what is known about them, and what is needed to settle them.

import type { Address } from '../../registry/delegation.ts';
import type { Dialect, Engine, Param } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { BLOCK, blockDecoder } from '../rows/block-row.ts';
import { decodeHex, decodeNumber, decodeNumberOrNull, EMPTY, encodeHex } from '../rows/cells.ts';
import { columns, namesOf, ofTable } from '../rows/columns.ts';
import { encodeKey, KEY, keyDecoder } from '../rows/key-columns.ts';
import { decodeLog, LOG, REVOCATION_LOGS } from '../rows/log-row.ts';
import { spansBy } from '../rows/span-index.ts';
import { indexedBy, once } from '../rows/sql.ts';
import type { Revocation, Store } from '../store.ts';
import { PLAIN } from './held-columns.ts';
import { isBelowHead } from './unsettled.ts';

type RevocationReads = Pick<
  Store,
  'unsettledVaults' | 'revocations' | 'unsettledRevocations' | 'v1Delegates' | 'held' | 'isOpen' | 'regrants'
>;

const REVOCATION = columns('vault', 'read_block', ...BLOCK.names);
const decodeBlock = blockDecoder(REVOCATION.col);

const LOGS_OF_REVOCATION = `SELECT log_index ${REVOCATION_LOGS} AND block = $3 ORDER BY log_index`;
const ENDED_PAIRS = `SELECT delegate, ended_by FROM v1_pair
  WHERE chain = $1 AND vault = $2 AND block = $3 AND ended_by IS NOT NULL`;

const HELD = columns(...KEY.names, ...namesOf(PLAIN.expressions));
const decodeKey = keyDecoder(HELD.col);
const decodeHeld = PLAIN.decoder(HELD.col);

/** The spans of an index that were open at the block, from both of its halves. */
function openAt(
  dialect: Dialect['name'],
  index: 'pair' | 'vault',
  [block, chain]: readonly [string, string],
  select: (from: string, half: string) => string,
  where: string,
): string {
  const closed = `${where} AND ${isBelowHead(block, chain)}`;
  return [
    select(spansBy(dialect, `open_${index}`, 's', where), 'open'),
    select(spansBy(dialect, `closed_${index}`, 's', closed, { until: `> ${block}` }), 'closed'),
  ].join(' UNION ALL ');
}

/** $1 and $2 are the hashes of the pair, $3 is the chain, $4 and $5 are the wallets, $6 is the block. */
export const heldStatement = once((dialect: Dialect['name']) => {
  const where = `s.cold = $1 AND s.hot = $2 AND s.chain + 0 = $3 AND s.from_addr = $4 AND s.to_addr = $5
    AND s.since_block + 0 <= $6`;
  const spans = openAt(dialect, 'pair', ['$6', '$3'], (from) => `SELECT ${HELD.sql} FROM ${from}`, where);
  return `SELECT ${HELD.sql} FROM (${spans}) AS held LIMIT $7`;
});

const isOpenStatement = once((dialect: Dialect['name']) => {
  const where = `s.hot = $1 AND s.key = $2 AND s.chain = $3 AND s.version = 1 AND s.kind = $4 AND s.from_addr = $5
    AND s.to_addr = $6 AND s.contract = $7 AND s.token_id = $8 AND s.since_block <= $9`;
  return openAt(dialect, 'vault', ['$9', '$3'], (from) => `SELECT 1 FROM ${from}`, where);
});

/** The next delegate by its index hash, which skips all grants to the same delegate at once. */
const DELEGATE = columns('hot', 'to_addr');
const nextDelegate = once((dialect: Dialect['name']) => {
  const where = `s.cold = $1 AND s.hot > $2 AND s.chain + 0 = $3 AND s.from_addr = $4
    AND (s.since_block + 0, s.since_log) < ($5, $6)`;
  const select = (from: string, half: string) =>
    `SELECT ${DELEGATE.sql} FROM (SELECT ${DELEGATE.sql} FROM ${from} ORDER BY hot LIMIT 1) AS ${half}`;
  return `${openAt(dialect, 'pair', ['$7', '$3'], select, where)} ORDER BY hot LIMIT 1`;
});

export function createRevocationReads(engine: Engine, hash: IndexHash): RevocationReads {
  const dialect = engine.dialect.name;

  async function revocationsWhere(chainId: number, condition: string, params: readonly Param[]): Promise<Revocation[]> {
    const rows = await engine.rows(
      `SELECT ${REVOCATION.select({ ...ofTable('r', ['vault', 'read_block']), ...ofTable('b', BLOCK.names) })}
        FROM v1_read r JOIN block b ON b.chain = r.chain AND b.number = r.block WHERE r.chain = $1 AND ${condition}`,
      [chainId, ...params],
    );
    const found: Revocation[] = [];
    for (const row of rows) {
      const [vault, block] = [decodeHex(row[REVOCATION.col.vault]), decodeBlock(row)];
      const revocation = [chainId, encodeHex(vault), block.number];
      const logs = await engine.rows(LOGS_OF_REVOCATION, revocation);
      const ended = await engine.rows(ENDED_PAIRS, revocation);
      found.push({
        vault,
        block,
        logIndexes: logs.map(([logIndex]) => decodeNumber(logIndex)),
        ended: ended.map(([delegate, endedBy]) => ({ delegate: decodeHex(delegate), endedBy: decodeNumber(endedBy) })),
        readAt: decodeNumberOrNull(row[REVOCATION.col.read_block]),
      });
    }
    return found;
  }

  return {
    async unsettledVaults(chainId, after, limit) {
      const rows = await engine.rows(
        `SELECT DISTINCT vault FROM v1_read${indexedBy(dialect, 'v1_unsettled')} WHERE chain = $1 AND vault > $2
          AND (read_block IS NULL OR read_block > block) AND read_block IS NULL ORDER BY vault LIMIT $3`,
        [chainId, after === null ? EMPTY : encodeHex(after), limit],
      );
      return rows.map(([vault]) => decodeHex(vault));
    },

    revocations: (chainId, { from, to }) =>
      revocationsWhere(chainId, 'r.block >= $2 AND r.block <= $3 ORDER BY r.block, r.vault', [from, to]),

    unsettledRevocations: (chainId, vault, limit) =>
      revocationsWhere(chainId, 'r.vault = $2 AND r.read_block IS NULL ORDER BY r.block LIMIT $3', [
        encodeHex(vault),
        limit,
      ]),

    async v1Delegates(chainId, vault, before, at, limit) {
      const found: Address[] = [];
      for (let place = -1; found.length < limit; ) {
        const params = [hash.cold(chainId, vault), place, chainId, encodeHex(vault), before.block, before.logIndex, at];
        const [row] = await engine.rows(nextDelegate(dialect), params);
        if (row === undefined) break;
        place = decodeNumber(row[DELEGATE.col.hot]);
        found.push(decodeHex(row[DELEGATE.col.to_addr]));
      }
      return found;
    },

    async held(chainId, { from, to }, at, limit) {
      const pair = [hash.cold(chainId, from), hash.hot(chainId, to), chainId, encodeHex(from), encodeHex(to)];
      const rows = await engine.rows(heldStatement(dialect), [...pair, at, limit]);
      return rows.map((row) => decodeHeld(decodeKey(1, row), row));
    },

    async isOpen(chainId, key, at) {
      const [kind, from, to, contract, tokenId] = encodeKey(key);
      const cells = [hash.hot(chainId, key.to), hash.key(key), chainId, kind, from, to, contract, tokenId, at];
      return (await engine.rows(isOpenStatement(dialect), cells)).length > 0;
    },

    async regrants(chainId, vault, after, to) {
      const rows = await engine.rows(
        `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND (block, log_index) > ($2, $3) AND block <= $4 AND version = 1
          AND from_addr = $5 ORDER BY block, log_index`,
        [chainId, after.block, after.logIndex, to, encodeHex(vault)],
      );
      return rows.flatMap((row) => {
        const { event, block, logIndex } = decodeLog(row);
        return event.type === 'granted' ? [{ key: event.delegation, granted: { block, logIndex } }] : [];
      });
    },
  };
}
