// Finds of lists of an owner the last grant that held at a block and counts. Each list is read from its end in steps, so an owner with
// very many grants costs no more than others, unless the last of them do not count.

import type { Bytes32, DelegationKey } from '../../registry/delegation.ts';
import type { Dialect, Engine, Param, Row } from '../engine.ts';
import { decodeHex, decodeNumber, decodeNumberOrNull, decodeRights } from '../rows/cells.ts';
import { columns, namesOf, ofTable } from '../rows/columns.ts';
import { spansBy } from '../rows/span-index.ts';
import { arrayParams, limited, params } from '../rows/sql.ts';
import type { DetailedDelegation } from '../store.ts';
import { DETAILED } from './held-columns.ts';
import { POSITION } from './list-scan.ts';

const OWN = ['first_block', 'first_log', 'until_block', 'to_addr', 'rights'] as const;
const ROW = columns('position', ...OWN, ...namesOf(DETAILED.expressions));
const { col } = ROW;
const decodeHeld = DETAILED.decoder(col);

/** Nearly always the last grant counts. */
const FIRST_ROWS = 4;
const MORE_ROWS = 1000;
/** The most rows that are read without a break. */
const MOST_ROWS = 1000;

/**
 * Returns the last grants of a list before a position, the last first, with those that did not hold: a read has a bounded number of
 * rows. $1 is the chain, $2 how many; from `first` on follows what is looked up, and the position. In PostgreSQL, many lists are.
 */
export function selectLastGrants(
  dialect: Dialect['name'],
  isHead: boolean,
  list: {
    readonly index: 'last' | 'exclusive_from';
    readonly first: number;
    /** The types of what is looked up, and the condition on the spans `s`. */
    readonly types: readonly string[];
    readonly where: (cells: readonly string[]) => string;
    /** What is read of a grant beside its span. */
    readonly detail?: (expression: string) => string;
  },
): string {
  const { index, first, detail = (expression: string) => expression } = list;
  const types = [...list.types, ...POSITION.map(() => 'bigint')];
  const names = types.map((_, at) => `c${at}`);
  const cells = dialect === 'sqlite' ? params(first, types.length) : names.map((name) => `q.${name}`);
  const position = cells.splice(list.types.length).join(', ');
  const where = `${list.where(cells)} AND s.chain + 0 = $1 AND (${POSITION.map((name) => `s.${name}`).join(', ')}) < (${position})`;
  const { since_time, since_transaction, ...plain } = DETAILED.expressions;
  const details = { since_time: detail(since_time), since_transaction: detail(since_transaction) };
  const expressions = { ...ofTable('s', OWN), ...plain, ...details };
  const row = columns(...namesOf(expressions));
  const order = POSITION.map((name) => `${name} DESC`).join(', ');
  const scan = (half: 'open' | 'closed') =>
    `SELECT ${row.select(expressions)} FROM ${spansBy(dialect, `${half}_${index}`, 's', where)}`;
  const scans = isHead
    ? scan('open')
    : (['open', 'closed'] as const).map((half) => limited(dialect, scan(half), order, '$2')).join(' UNION ALL ');
  const spans = `(${scans} ORDER BY ${order} LIMIT $2) AS s`;
  const select = (turn: string) => `SELECT ${ROW.select({ ...ofTable('s', row.names), position: turn })} FROM`;
  if (dialect === 'sqlite') return `${select('0')} ${spans}`;
  return `${select('q.position - 1')} unnest(${arrayParams(types, first)}) WITH ORDINALITY AS q (${names.join(', ')}, position)
    CROSS JOIN LATERAL ${spans} ORDER BY q.position, ${order}`;
}

/** A list of grants of an owner. */
export interface GrantList {
  /** The position of the owner among those that were asked about. */
  readonly owner: number;
  readonly cells: readonly Param[];
  /** What the grants have in common: of some lists, also the rights. */
  readonly key: Omit<DelegationKey, 'to' | 'rights'> & { readonly rights?: Bytes32 | null };
}

interface Placed {
  readonly delegation: DetailedDelegation;
  readonly place: readonly [block: number, log: number];
}

/** Of each owner the last grant of each of its lists, in the order of all that it granted; and how many grants were read. */
export async function readLastGrants(
  { rows, readMany }: Engine,
  sql: string,
  [chainId, ...more]: readonly [chainId: number, ...more: Param[]],
  { block, owners, lists }: { readonly block: number; readonly owners: number; readonly lists: readonly GrantList[] },
  counts: (rights: Bytes32 | null) => boolean = () => true,
) {
  const found: Placed[][] = Array.from({ length: owners }, () => []);
  const placed = ({ key }: GrantList, row: Row): Placed[] => {
    const [since, until] = [decodeNumber(row[col.since_block]), decodeNumberOrNull(row[col.until_block])];
    const rights = key.rights === undefined ? decodeRights(row[col.rights]) : key.rights;
    if (since > block || (until !== null && until <= block) || !counts(rights)) return [];
    const delegation = decodeHeld({ ...key, rights, to: decodeHex(row[col.to_addr]) }, row);
    return [{ delegation, place: [decodeNumber(row[col.first_block]), decodeNumber(row[col.first_log])] }];
  };
  /** The last rows of each list before its position, the last first. */
  const readRows = async (limit: number, asked: readonly Param[][]): Promise<Row[][]> => {
    const shared = [chainId, limit, ...more];
    if (readMany === null) return Promise.all(asked.map(async (one) => await rows(sql, [...shared, ...one])));
    const byList = Map.groupBy(await readMany(sql, shared, asked), (row) => decodeNumber(row[col.position]));
    return asked.map((_, turn) => byList.get(turn) ?? []);
  };
  let read = 0;
  let left = lists.map((list) => ({ list, before: [block + 1, 0, 0, 0] }));
  for (let limit = FIRST_ROWS; left.length > 0; limit = MORE_ROWS) {
    const rest: typeof left = [];
    for (let first = 0; first < left.length; first += MOST_ROWS / limit) {
      const some = left.slice(first, first + MOST_ROWS / limit);
      // Other requests come between two steps.
      if (read > 0) await new Promise(setImmediate);
      const all = await readRows(
        limit,
        some.map(({ list, before }) => [...list.cells, ...before]),
      );
      for (const [turn, { list }] of some.entries()) {
        const last = all[turn]?.at(-1);
        const [one] = (all[turn] ?? []).values().flatMap((row) => placed(list, row));
        read += all[turn]?.length ?? 0;
        if (one !== undefined) found[list.owner]?.push(one);
        else if (last !== undefined && all[turn]?.length === limit)
          rest.push({ list, before: POSITION.map((name) => decodeNumber(last[col[name]])) });
      }
    }
    left = rest;
  }
  const inOrder = ({ place: [block, log] }: Placed, { place: [other, otherLog] }: Placed) =>
    block - other || log - otherLog;
  return { grants: found.map((own) => own.sort(inOrder).map(({ delegation }) => delegation)), read };
}
