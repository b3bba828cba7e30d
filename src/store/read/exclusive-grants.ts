// Finds the grants of owners that can decide who acts alone for them: of each class the last one that held at the block and counts at
// its time. Each is looked for from the end of the owner's list, so an owner with very many grants costs no more than others, unless
// the last of a class have expired and were not revoked: those are read in steps.

import type { Address } from '../../registry/delegation.ts';
import { countsAt, type ExclusiveClass } from '../../registry/exclusive.ts';
import { neverGrants } from '../../registry/versions.ts';
import type { Dialect, Engine, Row } from '../engine.ts';
import { requireBlockNumber, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeNumber, decodeNumberOrNull, decodeRights, encodeHex, encodeRights } from '../rows/cells.ts';
import { columns, namesOf, ofTable } from '../rows/columns.ts';
import { encodeClass, isOfClass, spansBy } from '../rows/span-index.ts';
import { arrayParams, limited, once, params } from '../rows/sql.ts';
import type { DetailedDelegation, Store } from '../store.ts';
import { DETAILED } from './held-columns.ts';
import { POSITION } from './list-scan.ts';
import { createLookups, readBackwards } from './read-backwards.ts';
import { createUnchanged } from './unchanged.ts';

const VERSION = 2;
/** The hash of an owner, a class, the owner, and the position before which to read. */
const LOOKUP = ['bigint', 'bytea', 'smallint', 'bytea', 'bytea', 'bytea', 'bigint', 'bigint', 'bigint', 'bigint'];
const OWN = ['first_block', 'first_log', 'until_block', 'to_addr', 'rights'] as const;
const ROW = columns('position', ...OWN, ...namesOf(DETAILED.expressions));
const { col } = ROW;
const decodeHeld = DETAILED.decoder(col);

/**
 * Returns the last grants of a class that an owner made before a position, the last first, with those that did not hold: a read has a
 * bounded number of rows. $1 is the chain, $2 how many, $3 the least expiry that counts, without zeros at its end; what is looked up
 * follows. In PostgreSQL, many are.
 */
export const exclusiveGrantsStatement = once((dialect: Dialect['name'], isHead: boolean): string => {
  const names = LOOKUP.map((_, at) => `c${at}`);
  const cells = dialect === 'sqlite' ? params(4, LOOKUP.length) : names.map((name) => `q.${name}`);
  const [cold, ...ofClass] = cells.splice(0, 5);
  const where = `s.cold = ${cold} AND ${isOfClass('s', ofClass)} AND s.from_addr = ${cells.shift()} AND s.chain + 0 = $1
    AND (${POSITION.map((name) => `s.${name}`).join(', ')}) < (${cells.join(', ')})`;
  // Of a grant that has expired nothing more is looked up.
  const detail = (expression: string) => `CASE WHEN substr(s.rights, 28) >= $3 THEN ${expression} END`;
  const { since_time, since_transaction, ...plain } = DETAILED.expressions;
  const details = { since_time: detail(since_time), since_transaction: detail(since_transaction) };
  const expressions = { ...ofTable('s', OWN), ...plain, ...details };
  const row = columns(...namesOf(expressions));
  const order = POSITION.map((name) => `${name} DESC`).join(', ');
  const scan = (half: 'open' | 'closed') =>
    `SELECT ${row.select(expressions)} FROM ${spansBy(dialect, `${half}_exclusive_from`, 's', where)}`;
  const scans = isHead
    ? scan('open')
    : (['open', 'closed'] as const).map((half) => limited(dialect, scan(half), order, '$2')).join(' UNION ALL ');
  const spans = `(${scans} ORDER BY ${order} LIMIT $2) AS s`;
  const select = (position: string) => `SELECT ${ROW.select({ ...ofTable('s', row.names), position })} FROM`;
  if (dialect === 'sqlite') return `${select('0')} ${spans}`;
  return `${select('q.position - 1')} unnest(${arrayParams(LOOKUP, 4)}) WITH ORDINALITY AS q (${names.join(', ')}, position)
    CROSS JOIN LATERAL ${spans} ORDER BY q.position, ${order}`;
});

/** The time of the newest kept block up to the block, and of the oldest from it on. Both are its own if it is kept. */
const timeAround = (condition: string, order: string) => `CASE WHEN c.head_number = $2 THEN c.head_timestamp ELSE
  (SELECT t.timestamp FROM block t WHERE t.chain = $1 AND t.number ${condition} $2 ORDER BY t.number ${order} LIMIT 1) END`;

export function createExclusiveGrants(engine: Engine, hash: IndexHash): Store['exclusiveGrants'] {
  const { col: state, readUnchanged } = createUnchanged(engine, {
    earliest: timeAround('<=', 'DESC'),
    // The head is kept in the chain's own row.
    latest: `COALESCE(${timeAround('>=', 'ASC')}, c.head_timestamp)`,
  });
  const readRows = createLookups(engine, col.position);

  return async ({ chainId, at: pinned, owners, classes, time }) => {
    requireBlockNumber(pinned.block);
    return readUnchanged(chainId, pinned, async (isHead, chain) => {
      const sql = exclusiveGrantsStatement(engine.dialect.name, isHead);
      // Before the first kept block, nothing was granted.
      const kept = [decodeNumberOrNull(chain[state.earliest]) ?? 0, decodeNumber(chain[state.latest])] as const;
      if (time !== undefined && (time < kept[0] || time > kept[1]))
        throw new StoreError('unavailable', `Block ${pinned.block} of chain ${chainId} cannot have time ${time}.`);
      const [earliest, latest] = time === undefined ? kept : [time, time];
      const expiry = encodeRights(`0x${earliest.toString(16).padStart(10, '0')}`);
      const decode = (from: Address, { kind, contract, tokenId }: ExclusiveClass, row: Row) => {
        const [since, until] = [decodeNumber(row[col.since_block]), decodeNumberOrNull(row[col.until_block])];
        const rights = decodeRights(row[col.rights]);
        const held = since <= pinned.block && (until === null || until > pinned.block);
        if (!held || !countsAt({ rights }, earliest)) return null;
        return decodeHeld(
          { version: VERSION, kind, from, to: decodeHex(row[col.to_addr]), contract, tokenId, rights },
          row,
        );
      };
      const lookups = owners.flatMap((from, owner) =>
        neverGrants(VERSION, from)
          ? []
          : classes.map((of) => ({ owner, from, of, before: [pinned.block + 1, 0, 0, 0] })),
      );
      const { found, read } = await readBackwards(lookups, {
        col,
        rows: (some, limit) =>
          readRows(
            sql,
            [chainId, limit, expiry],
            some.map(({ from, of, before }) => [
              hash.cold(chainId, from),
              ...encodeClass(of),
              encodeHex(from),
              ...before,
            ]),
          ),
        decode: ({ from, of }, row) => decode(from, of, row),
      });
      const grants: DetailedDelegation[][] = owners.map(() => []);
      for (const [turn, { owner }] of lookups.entries()) grants[owner]?.push(...(found[turn] ? [found[turn]] : []));
      return { earliest, latest, grants, read };
    });
  };
}
