// Finds the grants of owners that can decide who acts alone for them: of each class the last one that held at the block and counts at
// its time. Each is looked for from the end of the owner's list, so an owner with very many grants costs no more than others, unless
// the last of a class have expired and were not revoked: those are read in steps.

import type { Address } from '../../registry/delegation.ts';
import { KINDS } from '../../registry/delegation.ts';
import { countsAt, type ExclusiveClass } from '../../registry/exclusive.ts';
import { neverGrants } from '../../registry/versions.ts';
import type { Dialect, Engine, Param, Row } from '../engine.ts';
import { requireBlockNumber, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import {
  decodeHex,
  decodeNumber,
  decodeNumberOrNull,
  decodeRights,
  EMPTY,
  encodeHex,
  encodeUint,
} from '../rows/cells.ts';
import { columns, namesOf, ofTable } from '../rows/columns.ts';
import { RIGHTS_ID, spansBy } from '../rows/span-index.ts';
import { arrayParams, limited, once, params } from '../rows/sql.ts';
import type { DetailedDelegation, Store } from '../store.ts';
import { DETAILED } from './held-columns.ts';
import { isSpan } from './key-spans.ts';
import { createUnchanged } from './unchanged.ts';

const VERSION = 2;
/** What the columns of a span are compared with, and the position before which it is. */
const LOOKUP_TYPES = {
  cold: 'bigint',
  kind: 'smallint',
  contract: 'bytea',
  token_id: 'bytea',
  from_addr: 'bytea',
  id: 'bytea',
  before_first: 'bigint',
  before_log: 'bigint',
  before_since: 'bigint',
  before_since_log: 'bigint',
} as const;
const NAMES = Object.keys(LOOKUP_TYPES) as (keyof typeof LOOKUP_TYPES)[];
const POSITION = ['first_block', 'first_log', 'since_block', 'since_log'] as const;
const END = Array(POSITION.length).fill(Number.MAX_SAFE_INTEGER);
const OWN = ['first_block', 'first_log', 'until_block', 'to_addr', 'rights'] as const;
const ROW = columns('position', ...OWN, ...namesOf(DETAILED.expressions));
const decodeHeld = DETAILED.decoder(ROW.col);

/** Nearly always the last grant of a class decides. */
const FIRST_ROWS = 4;
const MORE_ROWS = 500;
/** How many classes of owners are read at once on PostgreSQL. */
const CHUNK = 1000;

/**
 * Returns the last grants of a class that an owner made before a position, the last first, with those that did not hold: a read has a
 * bounded number of rows. $1 is the chain, $2 the block, $3 how many; what is looked up follows. In PostgreSQL, many are.
 */
export const exclusiveGrantsStatement = once((dialect: Dialect['name'], isHead: boolean): string => {
  const cells = Object.fromEntries(
    NAMES.map((name, at) => [name, dialect === 'sqlite' ? params(4, NAMES.length)[at] : `q.${name}`]),
  ) as Record<keyof typeof LOOKUP_TYPES, string>;
  const { cold, kind, contract, token_id, from_addr, id, ...before } = cells;
  const where = [
    isSpan('s', { cold, kind, contract, token_id, from_addr }),
    `${RIGHTS_ID.replace('rights', 's.rights')} = ${id} AND s.chain + 0 = $1 AND s.first_block <= $2`,
    `(${POSITION.map((name) => `s.${name}`).join(', ')}) < (${Object.values(before).join(', ')})`,
  ].join(' AND ');
  const expressions = { ...ofTable('s', OWN), ...DETAILED.expressions };
  const order = POSITION.map((name) => `${name} DESC`).join(', ');
  const scan = (half: 'open' | 'closed') =>
    `SELECT ${columns(...namesOf(expressions)).select(expressions)} FROM ${spansBy(dialect, `${half}_exclusive_from`, 's', where)}`;
  const halves = isHead
    ? scan('open')
    : (['open', 'closed'] as const).map((half) => limited(dialect, scan(half), order, '$3')).join(' UNION ALL ');
  const spans = `${halves} ORDER BY ${order} LIMIT $3`;
  const selected = ROW.select({
    ...ofTable('s', namesOf(expressions)),
    position: dialect === 'sqlite' ? '0' : 'q.position - 1',
  });
  if (dialect === 'sqlite') return `SELECT ${selected} FROM (${spans}) AS s`;
  return `SELECT ${selected} FROM unnest(${arrayParams(Object.values(LOOKUP_TYPES), 4)}) WITH ORDINALITY AS q (${NAMES.join(', ')}, position)
    CROSS JOIN LATERAL (${spans}) AS s`;
});

/** The time of the newest kept block up to the block, and of the oldest from it on. Both are its own if it is kept. */
const timeAround = (condition: string, order: string) => `CASE WHEN c.head_number = $2 THEN c.head_timestamp ELSE
  (SELECT t.timestamp FROM block t WHERE t.chain = $1 AND t.number ${condition} $2 ORDER BY t.number ${order} LIMIT 1) END`;

function lastFirst(one: Row, other: Row): number {
  for (const name of POSITION) {
    const distance = decodeNumber(other[ROW.col[name]]) - decodeNumber(one[ROW.col[name]]);
    if (distance !== 0) return distance;
  }
  return 0;
}

/** A class of an owner's grants, read from the end of the list up to a position. */
interface Lookup {
  readonly owner: number;
  readonly of: ExclusiveClass;
  before: readonly number[];
}

export function createExclusiveGrants(engine: Engine, hash: IndexHash): Store['exclusiveGrants'] {
  const { readMany } = engine;
  const { col, readUnchanged } = createUnchanged(engine, {
    earliest: timeAround('<=', 'DESC'),
    // The head is kept in the chain's own row.
    latest: `COALESCE(${timeAround('>=', 'ASC')}, c.head_timestamp)`,
  });

  /** The rows of each lookup, the last grant first. */
  async function readRows(shared: readonly Param[], isHead: boolean, lookups: readonly Param[][]) {
    const sql = exclusiveGrantsStatement(engine.dialect.name, isHead);
    if (readMany === null)
      return Promise.all(lookups.map(async (lookup) => await engine.rows(sql, [...shared, ...lookup])));
    const found: Row[][] = lookups.map(() => []);
    for (const row of await readMany(sql, shared, [...lookups])) found[decodeNumber(row[ROW.col.position])]?.push(row);
    // SQL promises no order of what is joined.
    for (const rows of found) rows.sort(lastFirst);
    return found;
  }

  return async ({ chainId, at: pinned, owners, classes }) => {
    requireBlockNumber(pinned.block);
    const colds = owners.map((owner) => [hash.cold(chainId, owner), encodeHex(owner)] as const);
    const cellsOf = ({ owner, of, before }: Lookup): Param[] => {
      const [cold, from] = colds[owner] as (typeof colds)[number];
      const { kind, contract, tokenId, id } = of;
      const target = [contract === null ? EMPTY : encodeHex(contract), tokenId === null ? EMPTY : encodeUint(tokenId)];
      return [cold, KINDS[kind].code, ...target, from, encodeHex(id), ...before];
    };
    return readUnchanged(chainId, pinned, async (isHead, state) => {
      const [earliest, latest] = [col.earliest, col.latest].map((at) => decodeNumberOrNull(state[at]));
      if (earliest == null || latest == null)
        throw new StoreError('failed', `The times around block ${pinned.block} are unknown.`);
      const grants: DetailedDelegation[][] = owners.map(() => []);
      let read = 0;
      const decode = ({ owner, of }: Lookup, row: Row): DetailedDelegation | null => {
        const [since, until] = [decodeNumber(row[ROW.col.since_block]), decodeNumberOrNull(row[ROW.col.until_block])];
        const rights = decodeRights(row[ROW.col.rights]);
        if (since > pinned.block || (until !== null && until <= pinned.block) || !countsAt({ rights }, earliest))
          return null;
        const { kind, contract, tokenId } = of;
        const pair = { from: owners[owner] as Address, to: decodeHex(row[ROW.col.to_addr]) };
        return decodeHeld({ version: VERSION, kind, ...pair, contract, tokenId, rights }, row);
      };
      let lookups: Lookup[] = owners.flatMap((address, owner) =>
        neverGrants(VERSION, address) ? [] : classes.map((of) => ({ owner, of, before: END })),
      );
      for (let limit = FIRST_ROWS; lookups.length > 0; limit = MORE_ROWS) {
        const rest: Lookup[] = [];
        for (let first = 0; first < lookups.length; first += CHUNK / limit) {
          const chunk = lookups.slice(first, first + CHUNK / limit);
          const found = await readRows([chainId, pinned.block, limit], isHead, chunk.map(cellsOf));
          for (const [turn, lookup] of chunk.entries()) {
            const rows = found[turn] as Row[];
            read += rows.length;
            let deciding: DetailedDelegation | null = null;
            for (const row of rows) {
              deciding = decode(lookup, row);
              if (deciding !== null) break;
            }
            const last = rows.at(-1);
            if (deciding !== null) grants[lookup.owner]?.push(deciding);
            else if (last !== undefined && rows.length === limit)
              rest.push({ ...lookup, before: POSITION.map((name) => decodeNumber(last[ROW.col[name]])) });
          }
          // Other requests come between two steps.
          if (limit > FIRST_ROWS) await new Promise(setImmediate);
        }
        lookups = rest;
      }
      return { earliest, latest, grants, read };
    });
  };
}
