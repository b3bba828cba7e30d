// Finds the grants of many owners that can decide who acts for them: of each class with an expiry the last one that held at the block and
// counts at its time, and of each key that passes a check the last one that held, whoever it is to.

import { type AnyTarget, grantingKeys } from '../../registry/check.ts';
import type { Address } from '../../registry/delegation.ts';
import { countsAt } from '../../registry/exclusive.ts';
import { neverGrants } from '../../registry/versions.ts';
import type { Dialect, Engine } from '../engine.ts';
import { requireBlockNumber, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeNumber, decodeNumberOrNull, encodeHex, encodeRights } from '../rows/cells.ts';
import { KEY_TYPES as ALL_KEY_TYPES, encodeKeyBetween } from '../rows/key-columns.ts';
import { encodeClass, isOfClass } from '../rows/span-index.ts';
import { once } from '../rows/sql.ts';
import type { OwnerGrantsQuery, Store } from '../store.ts';
import { requireQuestion } from './check.ts';
import { isSpan } from './key-spans.ts';
import { readLastGrants, selectLastGrants } from './last-grants.ts';
import { createUnchanged } from './unchanged.ts';
import { mayHaveEnded, unsettledBy } from './unsettled.ts';

const { to_addr: _, ...KEY_TYPES } = ALL_KEY_TYPES;
/** What a span of an owner and a key is compared with. */
const TYPES = { cold: 'bigint', key: 'bigint', version: 'smallint', ...KEY_TYPES } as const;

/** Returns the last grants of a key that an owner made. */
export const ownerGrantsStatement = once((dialect: Dialect['name'], isHead: boolean): string =>
  selectLastGrants(dialect, isHead, {
    index: 'last',
    first: 3,
    types: Object.values(TYPES),
    where: (cells) =>
      isSpan('s', Object.fromEntries(Object.keys(TYPES).map((name, at) => [name, cells[at] as string]))),
  }),
);

const VERSION = 2 as const;
/** The hash of an owner, a class, and the owner. */
const CLASS_TYPES = ['bigint', 'bytea', 'smallint', 'bytea', 'bytea', 'bytea'];

/** Returns the last grants of a class that an owner made. $3 is the least expiry that counts, without zeros at its end. */
export const exclusiveGrantsStatement = once((dialect: Dialect['name'], isHead: boolean): string =>
  selectLastGrants(dialect, isHead, {
    index: 'exclusive_from',
    first: 4,
    types: CLASS_TYPES,
    where: ([cold, ...cells]) => `s.cold = ${cold} AND ${isOfClass('s', cells)} AND s.from_addr = ${cells.at(-1)}`,
    // Of a grant that has expired nothing more is looked up.
    detail: (expression) => `CASE WHEN substr(s.rights, 28) >= $3 THEN ${expression} END`,
  }),
);

/** The time of the newest kept block up to the block, and of the oldest from it on. Both are its own if it is kept. */
const timeAround = (condition: string, order: string) => `CASE WHEN c.head_number = $2 THEN c.head_timestamp ELSE
  (SELECT t.timestamp FROM block t WHERE t.chain = $1 AND t.number ${condition} $2 ORDER BY t.number ${order} LIMIT 1) END`;

/** Whether a revocation of the owner $3 may have ended something that held at the block. */
export const ownerUnsettledStatement = (dialect: Dialect['name']) =>
  `SELECT 1 FROM chain c WHERE c.chain = $1 AND EXISTS (SELECT 1 ${unsettledBy(dialect, '$2')}
    AND r.vault = $3 AND ${mayHaveEnded(dialect, null, '$2')})`;

export function createOwnerGrants(engine: Engine, hash: IndexHash): Store['ownerGrants'] {
  const dialect = engine.dialect.name;
  const unsettledVaults = `SELECT DISTINCT r.vault ${unsettledBy(dialect, '$2')}`;
  const { col: state, readUnchanged } = createUnchanged(engine, {
    earliest: timeAround('<=', 'DESC'),
    // The head is kept in the chain's own row.
    latest: `COALESCE(${timeAround('>=', 'ASC')}, c.head_timestamp)`,
  });

  async function findUnsettled(chainId: number, block: number, owners: readonly Address[]) {
    if (owners.length === 0) return new Set<Address>();
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

  /** The lists of the grants with an expiry: of each owner one of each class. */
  const exclusiveLists = ({ chainId, owners, classes }: OwnerGrantsQuery) =>
    owners.flatMap((from, owner) =>
      neverGrants(VERSION, from)
        ? []
        : classes.map((of) => ({
            ...{ owner, key: { version: VERSION, kind: of.kind, from, contract: of.contract, tokenId: of.tokenId } },
            cells: [hash.cold(chainId, from), ...encodeClass(of), encodeHex(from)],
          })),
    );

  /** Those of the grants that pass a check: of each owner one of each key. */
  const passingLists = ({ chainId, owners }: OwnerGrantsQuery, target: AnyTarget) =>
    owners.flatMap((from, owner) => {
      const question = { ...target, from, to: from };
      requireQuestion(question);
      const [cold, own] = [hash.cold(chainId, from), encodeHex(from)];
      return grantingKeys(question).map((key) => ({
        ...{ owner, key },
        // Whoever it is to.
        cells: [cold, hash.key(key), key.version, ...encodeKeyBetween(key, own, own).toSpliced(2, 1)],
      }));
    });

  return async (query) => {
    const { chainId, at: pinned, owners, target, time } = query;
    const { block } = pinned;
    requireBlockNumber(block);
    return readUnchanged(chainId, pinned, async (isHead, chain) => {
      // Before the first kept block, nothing was granted.
      const kept = [decodeNumberOrNull(chain[state.earliest]) ?? 0, decodeNumber(chain[state.latest])] as const;
      if (time !== undefined && (time < kept[0] || time > kept[1]))
        throw new StoreError('unavailable', `Block ${block} of chain ${chainId} cannot have time ${time}.`);
      const [earliest, latest] = time === undefined ? kept : [time, time];
      const expiry = encodeRights(`0x${earliest.toString(16).padStart(10, '0')}`);
      const asked = { block, owners: owners.length };
      const exclusive = await readLastGrants(
        engine,
        exclusiveGrantsStatement(dialect, isHead),
        [chainId, expiry],
        { ...asked, lists: exclusiveLists(query) },
        (rights) => countsAt({ rights }, earliest),
      );
      const lists = target === undefined ? [] : passingLists(query, target);
      const passing = await readLastGrants(engine, ownerGrantsStatement(dialect, isHead), [chainId], {
        ...asked,
        lists,
      });
      // A revocation that is settled meanwhile rewrites history.
      const unsettled = await findUnsettled(chainId, block, target === undefined ? [] : owners);
      const read = exclusive.read + passing.read;
      return { earliest, latest, exclusive: exclusive.grants, passing: passing.grants, unsettled, read };
    });
  };
}
