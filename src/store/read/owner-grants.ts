// Finds the last grants of many owners that pass a check, whoever they are to: of each key the last one that held at the block.

import { grantingKeys } from '../../registry/check.ts';
import { type Address, type DelegationKey, KINDS } from '../../registry/delegation.ts';
import type { Dialect, Engine, Param } from '../engine.ts';
import { requireBlockNumber } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import {
  decodeHex,
  decodeNumber,
  decodeNumberOrNull,
  EMPTY,
  encodeHex,
  encodeRights,
  encodeUint,
} from '../rows/cells.ts';
import { columns, namesOf, ofTable } from '../rows/columns.ts';
import { spansBy } from '../rows/span-index.ts';
import { arrayParams, limited, once, params } from '../rows/sql.ts';
import type { DetailedDelegation, Store } from '../store.ts';
import { requireQuestion } from './check.ts';
import { DETAILED } from './held-columns.ts';
import { isSpan } from './key-spans.ts';
import { POSITION } from './list-scan.ts';
import { createLookups, readBackwards } from './read-backwards.ts';
import { createUnchanged } from './unchanged.ts';
import { mayHaveEnded, unsettledBy } from './unsettled.ts';

/** What a span of an owner and a key is compared with, and the position before which to read. */
const KEY_TYPES = {
  cold: 'bigint',
  from_addr: 'bytea',
  key: 'bigint',
  version: 'smallint',
  kind: 'smallint',
  contract: 'bytea',
  token_id: 'bytea',
  rights: 'bytea',
} as const;
const LOOKUP = [...Object.values(KEY_TYPES), ...POSITION.map(() => 'bigint')];
const OWN = ['first_block', 'first_log', 'until_block', 'to_addr'] as const;
const ROW = columns('position', ...OWN, ...namesOf(DETAILED.expressions));
const { col } = ROW;
const decodeHeld = DETAILED.decoder(col);

/**
 * Returns the last grants of a key that an owner made before a position, the last first, with those that did not hold: a read has a
 * bounded number of rows. $1 is the chain, $2 how many; what is looked up follows. In PostgreSQL, many are.
 */
export const ownerGrantsStatement = once((dialect: Dialect['name'], isHead: boolean): string => {
  const names = LOOKUP.map((_, at) => `c${at}`);
  const cells = dialect === 'sqlite' ? params(3, LOOKUP.length) : names.map((name) => `q.${name}`);
  const compared = Object.fromEntries(Object.keys(KEY_TYPES).map((name) => [name, cells.shift()]));
  const where = `${isSpan('s', compared)} AND s.chain + 0 = $1
    AND (${POSITION.map((name) => `s.${name}`).join(', ')}) < (${cells.join(', ')})`;
  const expressions = { ...ofTable('s', OWN), ...DETAILED.expressions };
  const row = columns(...namesOf(expressions));
  const order = POSITION.map((name) => `${name} DESC`).join(', ');
  const scan = (half: 'open' | 'closed') =>
    `SELECT ${row.select(expressions)} FROM ${spansBy(dialect, `${half}_last`, 's', where)}`;
  const scans = isHead
    ? scan('open')
    : (['open', 'closed'] as const).map((half) => limited(dialect, scan(half), order, '$2')).join(' UNION ALL ');
  const spans = `(${scans} ORDER BY ${order} LIMIT $2) AS s`;
  const select = (position: string) => `SELECT ${ROW.select({ ...ofTable('s', row.names), position })} FROM`;
  if (dialect === 'sqlite') return `${select('0')} ${spans}`;
  return `${select('q.position - 1')} unnest(${arrayParams(LOOKUP, 3)}) WITH ORDINALITY AS q (${names.join(', ')}, position)
    CROSS JOIN LATERAL ${spans} ORDER BY q.position, ${order}`;
});

interface Placed {
  readonly delegation: DetailedDelegation;
  readonly place: readonly [block: number, log: number];
}

/** Whether a revocation of the owner $3 may have ended something that held at the block. */
export const ownerUnsettledStatement = (dialect: Dialect['name']) =>
  `SELECT 1 FROM chain c WHERE c.chain = $1 AND EXISTS (SELECT 1 ${unsettledBy(dialect, '$2')}
    AND r.vault = $3 AND ${mayHaveEnded(dialect, null, '$2')})`;

export function createOwnerGrants(engine: Engine, hash: IndexHash): Store['ownerGrants'] {
  const dialect = engine.dialect.name;
  const readRows = createLookups(engine, col.position);
  const unsettledVaults = `SELECT DISTINCT r.vault ${unsettledBy(dialect, '$2')}`;
  const { readUnchanged } = createUnchanged(engine, {});

  async function findUnsettled(chainId: number, block: number, owners: readonly Address[]) {
    const rows = await engine.rows(unsettledVaults, [chainId, block]);
    const vaults = new Set<string>(rows.map(([vault]) => decodeHex(vault)));
    const found = new Set<Address>();
    for (const owner of owners) {
      if (!vaults.has(owner)) continue;
      const rows = await engine.rows(ownerUnsettledStatement(dialect), [chainId, block, encodeHex(owner)]);
      if (rows.length > 0) found.add(owner);
    }
    return found;
  }

  return async ({ chainId, at: pinned, owners, target }) => {
    requireBlockNumber(pinned.block);
    return readUnchanged(chainId, pinned, async (isHead) => {
      const sql = ownerGrantsStatement(dialect, isHead);
      const lookups = owners.flatMap((owner, position) => {
        const question = { ...target, from: owner, to: owner };
        requireQuestion(question);
        const [cold, from] = [hash.cold(chainId, owner), encodeHex(owner)];
        const before = [pinned.block + 1, 0, 0, 0];
        return grantingKeys(question).map((key) => ({
          position,
          key,
          cells: [cold, from, hash.key(key), key.version, ...cellsOf(key)],
          before,
        }));
      });
      const { found, read } = await readBackwards(lookups, {
        col,
        rows: (some, limit) =>
          readRows(
            sql,
            [chainId, limit],
            some.map(({ cells, before }) => [...cells, ...before]),
          ),
        decode({ key }, row): Placed | null {
          const [since, until] = [decodeNumber(row[col.since_block]), decodeNumberOrNull(row[col.until_block])];
          if (since > pinned.block || (until !== null && until <= pinned.block)) return null;
          return {
            delegation: decodeHeld({ ...key, to: decodeHex(row[col.to_addr]) }, row),
            place: [decodeNumber(row[col.first_block]), decodeNumber(row[col.first_log])],
          };
        },
      });
      const placed: Placed[][] = owners.map(() => []);
      for (const [turn, { position }] of lookups.entries())
        placed[position]?.push(...(found[turn] ? [found[turn]] : []));
      // A revocation that is settled meanwhile rewrites history.
      const unsettled = await findUnsettled(chainId, pinned.block, owners);
      return { grants: placed.map(inListOrder), unsettled, read };
    });
  };
}

/** In the order of the columns. */
const cellsOf = ({ kind, contract, tokenId, rights }: DelegationKey): Param[] => [
  KINDS[kind].code,
  contract === null ? EMPTY : encodeHex(contract),
  tokenId === null ? EMPTY : encodeUint(tokenId),
  rights === null ? EMPTY : encodeRights(rights),
];

const inListOrder = (grants: readonly Placed[]): DetailedDelegation[] =>
  grants
    .toSorted(({ place: [block, log] }, { place: [otherBlock, otherLog] }) => block - otherBlock || log - otherLog)
    .map(({ delegation }) => delegation);
