// The texts of the reading statements. Each is built once and prepared once. SQLite is told its indexes, for left alone
// it reads all of a chain rather than use half an index; PostgreSQL does not know INDEXED BY and is not shown it, and what
// stands in /*pg …*/ it alone is shown: there the condition that only the right index has.

import type { Version } from '../registry/versions.ts';
import { CHAIN_COLUMNS } from './chain-state.ts';

const once = <Args extends readonly (string | number | boolean | undefined)[]>(build: (...args: Args) => string) => {
  const texts = new Map<string, string>();
  return (...args: Args): string => {
    const name = args.join();
    let text = texts.get(name);
    if (text === undefined) {
      text = build(...args);
      texts.set(name, text);
    }
    return text;
  };
};

/** Stands behind a statement's columns, where the chain's own may follow; in rows of something else, nothing. */
const STATE = '/* state */';
const NO_STATE = '/* no state */';

/** The same statement with the columns of the chain's state at the end of the chain's row. */
export const withState = once((sql: string) =>
  sql
    .replace(STATE, `, ${CHAIN_COLUMNS.map((column) => `c.${column}`).join(', ')}`)
    .replaceAll(NO_STATE, ', NULL'.repeat(CHAIN_COLUMNS.length)),
);

/** The time and transaction of the log that began span `s`. */
const origin = (detailed: boolean) =>
  detailed
    ? {
        columns: ', o.timestamp, g.transaction_hash',
        joins: `LEFT JOIN block o ON o.chain = s.chain AND o.number = s.since_block
          LEFT JOIN log g ON g.chain = s.chain AND g.block = s.since_block AND g.log_index = s.since_log`,
      }
    : { columns: '', joins: '' };

/** The chain's own head, in a statement that reads its row as `c`. */
const HEAD = 'c.head_number';
/** Only below the head can something have ended later. $1 chain */
export const isBelowHead = (block: string, chain = '$1') =>
  `EXISTS (SELECT 1 FROM chain h WHERE h.chain = ${chain} AND h.head_number > ${block})`;

/** Revocations `r` at or before the block that were not settled by then. */
const unreadBy = (block: string) => `FROM v1_read r INDEXED BY v1_unread
  WHERE r.chain = $1 AND (r.read_block IS NULL OR r.read_block > r.block)
    AND r.block <= ${block} AND (r.read_block IS NULL OR r.read_block > ${block})`;

/** Which of a wallet's delegates are meant. */
interface Side {
  /** Of span `p`. */
  readonly spans: string;
  /** Of settled pair `k`. */
  readonly pairs: string;
  readonly index: 'pair' | 'from';
}

/**
 * Whether something that was granted before revocation `r` held at the block, and it is not known if that ended it; or whether
 * only a later state told that it did.
 */
function mayHaveEnded({ spans, pairs, index }: Side, block: string): string {
  const settled = (what: string) => `EXISTS (SELECT 1 FROM v1_pair k WHERE k.chain = $1 AND k.vault = r.vault
    AND k.block = r.block AND ${what})`;
  const half = (
    name: 'open' | 'closed',
    until: string,
  ) => `EXISTS (SELECT 1 FROM span p INDEXED BY span_${name}_${index}
    WHERE p.cold = r.cold AND ${spans} AND p.chain /*pg + 0*/ = $1 AND p.version = 1 AND p.from_addr = r.vault AND p.until_block ${until}
      AND p.since_block /*pg + 0*/ <= r.block AND NOT ${settled(`k.delegate = p.to_addr AND k.read_block <= ${block}`)})`;
  // Nothing has ended after the head.
  const ended = block === HEAD ? '' : `OR (${isBelowHead(block)} AND ${half('closed', `> ${block}`)})`;
  return `(${half('open', 'IS NULL')} ${ended}
    OR ${settled(`${pairs} AND k.ended_by IS NOT NULL AND k.read_block > ${block}`)})`;
}

const pairSide = (hot: string, to: string): Side => ({
  spans: `p.hot = ${hot} /*pg AND p.key >= 0*/ AND p.to_addr = ${to}`,
  pairs: `k.delegate = ${to}`,
  index: 'pair',
});
const WALLET_SIDE: Side = { spans: '1 = 1 /*pg AND p.cold >= 0*/', pairs: '1 = 1', index: 'from' };

/** Whether it is unknown if a revocation ended what one wallet had granted another. */
export const isUnsettled = (pair: { from: string; to: string; hot: string }, block: string) =>
  `EXISTS (SELECT 1 ${unreadBy(block)} AND r.vault = ${pair.from} AND ${mayHaveEnded(pairSide(pair.hot, pair.to), block)})`;

/** The wallets with revocations that are not settled at the block. */
export const unsettledVaults = (block: string) => `SELECT DISTINCT r.vault ${unreadBy(block)}`;

/** Tells a commit from every other. */
const COMMIT = 'c.commits + c.stamp';

const asNumber = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`;
const params = (from: number, count: number) => Array.from({ length: count }, (_, position) => `$${from + position}`);

/**
 * $1 chain, $2 cold, $3 hot, then the short form of each key, then for v1 both wallets. Gives one row of the chain with
 * the commit and unread, then rows with two empty cells, the key (6), amount, since (2) and, detailed, the origin (2). Rows of
 * other keys may be among them. Each key is a lookup of its own: an IN or a join costs SQLite twice as much.
 */
export const checkNowSql = once((version: Version, detailed: boolean, keys: number) => {
  const { columns, joins } = origin(detailed);
  const unread =
    version === 2 ? 0 : asNumber(isUnsettled({ from: `$${4 + keys}`, to: `$${5 + keys}`, hot: '$3' }, HEAD));
  const chain = `SELECT ${COMMIT}, ${unread}${', NULL'.repeat(detailed ? 11 : 9)} ${STATE}
    FROM chain c WHERE c.chain = $1`;
  const spans = params(4, keys).map(
    (key) => `SELECT NULL, NULL, s.kind, s.from_addr, s.to_addr, s.contract, s.token_id, s.rights,
        s.amount, s.since_block, s.since_log${columns} ${NO_STATE}
      FROM span s INDEXED BY span_open_pair ${joins}
      WHERE s.cold = $2 AND s.hot = $3 AND s.key = ${key} /*pg AND s.key >= 0*/ AND s.until_block IS NULL
        AND s.chain = $1 AND s.version = ${version}`,
  );
  return [chain, ...spans].join('\n UNION ALL ');
});

/**
 * $1 chain, $2 cold, $3 hot, $4 from, $5 to, $6 block, then five cells for each key: its short form, kind, contract,
 * token id, rights. Gives the commit, unread, the block's hash and time, the key's position, amount, since (2) and,
 * detailed, the origin (2).
 */
export const checkAtSql = once((version: Version, detailed: boolean, keys: number) => {
  const { columns, joins } = origin(detailed);
  const span = 'chain, amount, since_block, since_log';
  const pair = `cold = $2 AND hot = $3 AND chain = $1 AND version = ${version} AND from_addr = $4 AND to_addr = $5`;
  const held = Array.from({ length: keys }, (_, position) => {
    const [short, kind, contract, tokenId, rights] = params(7 + 5 * position, 5);
    const key = `${pair} AND key = ${short} /*pg AND key >= 0*/ AND kind = ${kind}
      AND contract = ${contract} AND token_id = ${tokenId} AND rights = ${rights}`;
    // Spans of one delegation never overlap: of the closed ones only the first to end after the block can hold at it.
    return `SELECT ${position} AS position, ${span} FROM span INDEXED BY span_open_pair
        WHERE ${key} AND until_block IS NULL AND since_block <= $6
      UNION ALL
      SELECT ${position} AS position, ${span} FROM (SELECT ${span} FROM span INDEXED BY span_closed_pair
        WHERE ${key} AND until_block > $6 AND since_block < until_block ORDER BY until_block LIMIT 1) AS ended${position} WHERE since_block <= $6`;
  });
  const none = `SELECT 0 AS position, ${span} FROM span WHERE ${pair} AND 1 = 0`;
  return `SELECT ${COMMIT}, ${version === 2 ? 0 : asNumber(isUnsettled({ from: '$4', to: '$5', hot: '$3' }, '$6'))}, b.hash, b.timestamp,
      s.position, s.amount, s.since_block, s.since_log${columns} ${STATE}
    FROM chain c LEFT JOIN block b ON b.chain = $1 AND b.number = $6
      LEFT JOIN (${held.length === 0 ? none : held.join('\n UNION ALL ')}) s ON s.chain = c.chain ${joins}
    WHERE c.chain = $1`;
});

const HALVES = {
  open: 's.until_block IS NULL',
  // Nothing has ended after the head, so a list as of the head never looks at what is over.
  closed: `s.until_block IS NOT NULL AND ${isBelowHead('$4')}`,
};

/**
 * $1 chain, $2 version, $3 wallet, $4 block, $5 revision, $6 and $7 the position before the page, $8 limit, $9 the revision
 * that the store must have, $10 the stamp of $5 or -1, then the wallet's short forms: as the one that grants unless incoming,
 * as the one that is granted unless outgoing. Gives one row of the chain with the first block, the head, whether history was rewritten or is not known
 * yet, and a wallet with an unread revocation; then rows with four empty cells, until, the key (6), amount, since (2) and,
 * detailed, the origin (2). Every scan is in the order of its index, so that SQLite merges them as far as the limit goes.
 */
export const listSql = once((version: Version, detailed: boolean, direction?: 'incoming' | 'outgoing') => {
  const { columns, joins } = origin(detailed);
  const [cold, hot] = ['$11', direction === undefined ? '$12' : '$11'];
  const scan = (side: 'from' | 'to', half: 'open' | 'closed') => `/*pg (*/ SELECT NULL, NULL, NULL, NULL, s.until_block,
      s.kind, s.from_addr, s.to_addr, s.contract, s.token_id, s.rights, s.amount, s.since_block, s.since_log${columns}
    FROM span s INDEXED BY span_${half}_${side} ${joins}
    WHERE ${side === 'from' ? `s.cold = ${cold} /*pg AND s.cold >= 0*/` : `s.hot = ${hot} /*pg AND s.hot >= 0*/`} AND s.chain = $1 AND s.version = $2
      AND s.${side}_addr = $3 AND ${HALVES[half]} AND s.since_block <= $4 AND (s.since_block, s.since_log) > ($6, $7)
      ${side === 'to' && direction === undefined ? 'AND s.from_addr <> $3' : ''}
    /*pg ORDER BY s.since_block, s.since_log LIMIT $8)*/`;
  const sides = (['from', 'to'] as const).filter((side) => direction !== (side === 'from' ? 'incoming' : 'outgoing'));
  const unread = sides.map((side) =>
    side === 'from' ? `(r.vault = $3 AND ${mayHaveEnded(WALLET_SIDE, '$4')})` : mayHaveEnded(pairSide(hot, '$3'), '$4'),
  );
  const chain = `SELECT c.first_block, c.head_number, ${asNumber(`c.revision < $9 OR EXISTS (SELECT 1 FROM rewrite w
        WHERE w.chain = $1 AND w.revision > $5 AND w.from_block <= $4)
      OR (NOT EXISTS (SELECT 1 FROM revision v WHERE v.chain = $1 AND v.revision = $5 AND v.stamp = $10) AND $10 >= 0)`)},
      ${version === 2 ? 'NULL' : `(SELECT r.vault ${unreadBy('$4')} AND (${unread.join(' OR ')}) LIMIT 1)`},
      NULL${', NULL'.repeat(7)}, -1 AS since_block, -1 AS since_log${detailed ? ', NULL, NULL' : ''}
    FROM chain c WHERE c.chain = $1`;
  const scans = sides.flatMap((side) => [scan(side, 'open'), scan(side, 'closed')]);
  return `${[chain, ...scans].join('\n UNION ALL ')} ORDER BY since_block, since_log LIMIT $8 + 1`;
});

/** $1 chain, $2 time. Gives the commit, the newest kept block at or before the time, and the number of the next one. */
export const BLOCK_AT_SQL = `SELECT ${COMMIT}, b.number, b.hash, b.timestamp,
    (SELECT n.number FROM block n WHERE n.chain = $1 AND n.timestamp > $2 ORDER BY n.timestamp, n.number LIMIT 1)
    ${STATE} FROM chain c
  LEFT JOIN (SELECT * FROM block WHERE chain = $1 AND timestamp <= $2
    ORDER BY timestamp DESC, number DESC LIMIT 1) b ON b.chain = c.chain
  WHERE c.chain = $1`;

/** $1 chain, $2 block. Gives the chain's state, its revision's stamp, and the block's hash and time where it is kept. */
export const PIN_SQL = `SELECT ${CHAIN_COLUMNS.map((name) => `c.${name}`).join()}, v.stamp, b.hash, b.timestamp
  FROM chain c JOIN revision v ON v.chain = c.chain AND v.revision = c.revision
    LEFT JOIN block b ON b.chain = c.chain AND b.number = $2 WHERE c.chain = $1`;
