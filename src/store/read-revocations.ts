// What is asked of the store to settle v1 revocations that name no delegate.

import { delegationId } from '../registry/delegation.ts';
import { REVOCATION_LOGS } from './derive.ts';
import { bytesOf, eventOf, hexOf, keyOf, numberOf, numberOrNull } from './encoding.ts';
import type { Engine, Param } from './engine.ts';
import type { IndexHash } from './index-hash.ts';
import { isBelowHead } from './queries.ts';
import type { LogPosition, Revocation, Store } from './store.ts';
import { LOG } from './tables.ts';

type RevocationReads = Pick<
  Store,
  'unreadRevocations' | 'unsettledVaults' | 'revocations' | 'openRevocations' | 'delegates' | 'held' | 'regrants'
>;

export function createRevocationReads(engine: Engine, short: IndexHash): RevocationReads {
  async function revocationsWhere(chainId: number, condition: string, params: readonly Param[]): Promise<Revocation[]> {
    const reads = await engine.rows(
      `SELECT r.vault, r.block, b.hash, b.timestamp, r.read_block
        FROM v1_read r JOIN block b ON b.chain = r.chain AND b.number = r.block WHERE r.chain = $1 AND ${condition}`,
      [chainId, ...params],
    );
    const found: Revocation[] = [];
    for (const [wallet, number, hash, timestamp, readAt] of reads) {
      const of = [chainId, wallet as Uint8Array, numberOf(number)];
      const logs = await engine.rows(`${REVOCATION_LOGS} AND block = $3 ORDER BY log_index`, of);
      const ended = await engine.rows(
        'SELECT delegate, ended_by FROM v1_pair WHERE chain = $1 AND vault = $2 AND block = $3 AND ended_by IS NOT NULL',
        of,
      );
      found.push({
        vault: hexOf(wallet),
        block: { number: numberOf(number), hash: hexOf(hash), timestamp: numberOf(timestamp) },
        logIndexes: logs.map(([, logIndex]) => numberOf(logIndex)),
        ended: ended.map(([delegate, endedBy]) => ({ delegate: hexOf(delegate), endedBy: numberOf(endedBy) })),
        readAt: numberOrNull(readAt ?? null),
      });
    }
    return found;
  }

  return {
    async unreadRevocations(chainId) {
      const rows = await engine.rows(
        `SELECT vault, block, read_block FROM v1_read INDEXED BY v1_unread
          WHERE chain = $1 AND (read_block IS NULL OR read_block > block) ORDER BY block, vault`,
        [chainId],
      );
      return rows.map(([vault, block, readAt]) => ({
        vault: hexOf(vault),
        block: numberOf(block),
        readAt: numberOrNull(readAt),
      }));
    },

    async unsettledVaults(chainId, after, limit) {
      const rows = await engine.rows(
        `SELECT DISTINCT vault FROM v1_read INDEXED BY v1_unread WHERE chain = $1 AND vault > $2
          AND (read_block IS NULL OR read_block > block) AND read_block IS NULL ORDER BY vault LIMIT $3`,
        [chainId, after === null ? new Uint8Array(0) : bytesOf(after), limit],
      );
      return rows.map(([vault]) => hexOf(vault));
    },

    revocations: (chainId, { from, to }) =>
      revocationsWhere(chainId, 'r.block >= $2 AND r.block <= $3 ORDER BY r.block, r.vault', [from, to]),
    openRevocations: (chainId, vault, limit) =>
      revocationsWhere(chainId, 'r.vault = $2 AND r.read_block IS NULL ORDER BY r.block LIMIT $3', [
        bytesOf(vault),
        limit,
      ]),

    async delegates({ chainId, vault, before, at, after = -1, limit }) {
      // One after the other, by the index of pairs: however much one of them was granted, it is passed over at once.
      const half = (name: 'open' | 'closed', until: string) => `SELECT hot, to_addr FROM (SELECT hot, to_addr FROM span
        INDEXED BY span_${name}_pair WHERE cold = $1 AND hot > $2 /*pg AND key >= 0*/ AND chain /*pg + 0*/ = $3 AND version = 1 AND from_addr = $4
          AND until_block ${until} AND (since_block /*pg + 0*/, since_log) < ($5, $6) ORDER BY hot LIMIT 1) AS ${name}`;
      const sql = `${half('open', 'IS NULL')} UNION ALL ${half('closed', `> $7 AND ${isBelowHead('$7', '$3')}`)} ORDER BY hot LIMIT 1`;
      const found: { delegate: `0x${string}`; place: number }[] = [];
      for (let place = after; found.length < limit; ) {
        const params = [short.cold(chainId, vault), place, chainId, bytesOf(vault), before.block, before.logIndex, at];
        const [row] = await engine.rows(sql, params);
        if (row === undefined) break;
        place = numberOf(row[0]);
        found.push({ delegate: hexOf(row[1]), place });
      }
      return found;
    },

    async held(chainId, { from, to }, at, limit) {
      const half = (
        name: 'open' | 'closed',
        until: string,
      ) => `SELECT kind, from_addr, to_addr, contract, token_id, rights,
          since_block, since_log FROM span INDEXED BY span_${name}_pair WHERE cold = $1 AND hot = $2 /*pg AND key >= 0*/ AND chain /*pg + 0*/ = $3
          AND version = 1 AND from_addr = $4 AND to_addr = $5 AND since_block /*pg + 0*/ <= $6 AND until_block ${until}`;
      const rows = await engine.rows(
        `SELECT * FROM (${half('open', 'IS NULL')} UNION ALL ${half('closed', `> $6 AND ${isBelowHead('$6', '$3')}`)}) AS held ORDER BY kind LIMIT $7`,
        [short.cold(chainId, from), short.hot(chainId, to), chainId, bytesOf(from), bytesOf(to), at, limit],
      );
      return rows.map((row) => ({
        ...keyOf(1, row, 0),
        amount: null,
        since: { block: numberOf(row[6]), logIndex: numberOf(row[7]) },
      }));
    },

    async regrants(chainId, vault, after, to) {
      const rows = await engine.rows(
        `SELECT ${LOG} FROM log WHERE chain = $1 AND (block, log_index) > ($2, $3) AND block <= $4 AND version = 1
          AND from_addr = $5 ORDER BY block, log_index`,
        [chainId, after.block, after.logIndex, to, bytesOf(vault)],
      );
      const newest = new Map<string, LogPosition>();
      for (const row of rows) {
        const event = eventOf(row, 2);
        if (event.type !== 'granted') continue;
        newest.set(delegationId(event.delegation), { block: numberOf(row[0]), logIndex: numberOf(row[1]) });
      }
      return newest;
    },
  };
}
