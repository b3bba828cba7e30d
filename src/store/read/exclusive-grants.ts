// Finds the grants of owners that can decide who acts alone for them: of each class the last one that held at the block and counts at
// its time.

import type { Bytes32 } from '../../registry/delegation.ts';
import { countsAt } from '../../registry/exclusive.ts';
import { neverGrants } from '../../registry/versions.ts';
import type { Dialect, Engine } from '../engine.ts';
import { requireBlockNumber, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeNumber, decodeNumberOrNull, encodeHex, encodeRights } from '../rows/cells.ts';
import { encodeClass, isOfClass } from '../rows/span-index.ts';
import { once } from '../rows/sql.ts';
import type { Store } from '../store.ts';
import { readLastGrants, selectLastGrants } from './last-grants.ts';
import { createUnchanged } from './unchanged.ts';

const VERSION = 2 as const;
/** The hash of an owner, a class, and the owner. */
const TYPES = ['bigint', 'bytea', 'smallint', 'bytea', 'bytea', 'bytea'];

/** Returns the last grants of a class that an owner made. $3 is the least expiry that counts, without zeros at its end. */
export const exclusiveGrantsStatement = once((dialect: Dialect['name'], isHead: boolean): string =>
  selectLastGrants(dialect, isHead, {
    index: 'exclusive_from',
    first: 4,
    types: TYPES,
    where: ([cold, ...cells]) => `s.cold = ${cold} AND ${isOfClass('s', cells)} AND s.from_addr = ${cells.at(-1)}`,
    // Of a grant that has expired nothing more is looked up.
    detail: (expression) => `CASE WHEN substr(s.rights, 28) >= $3 THEN ${expression} END`,
  }),
);

/** The time of the newest kept block up to the block, and of the oldest from it on. Both are its own if it is kept. */
const timeAround = (condition: string, order: string) => `CASE WHEN c.head_number = $2 THEN c.head_timestamp ELSE
  (SELECT t.timestamp FROM block t WHERE t.chain = $1 AND t.number ${condition} $2 ORDER BY t.number ${order} LIMIT 1) END`;

export function createExclusiveGrants(engine: Engine, hash: IndexHash): Store['exclusiveGrants'] {
  const { col: state, readUnchanged } = createUnchanged(engine, {
    earliest: timeAround('<=', 'DESC'),
    // The head is kept in the chain's own row.
    latest: `COALESCE(${timeAround('>=', 'ASC')}, c.head_timestamp)`,
  });

  return async ({ chainId, at: pinned, owners, classes, time }) => {
    requireBlockNumber(pinned.block);
    return readUnchanged(chainId, pinned, async (isHead, chain) => {
      // Before the first kept block, nothing was granted.
      const kept = [decodeNumberOrNull(chain[state.earliest]) ?? 0, decodeNumber(chain[state.latest])] as const;
      if (time !== undefined && (time < kept[0] || time > kept[1]))
        throw new StoreError('unavailable', `Block ${pinned.block} of chain ${chainId} cannot have time ${time}.`);
      const [earliest, latest] = time === undefined ? kept : [time, time];
      const expiry = encodeRights(`0x${earliest.toString(16).padStart(10, '0')}`);
      const lists = owners.flatMap((from, owner) =>
        neverGrants(VERSION, from)
          ? []
          : classes.map((of) => ({
              ...{ owner, key: { version: VERSION, kind: of.kind, from, contract: of.contract, tokenId: of.tokenId } },
              cells: [hash.cold(chainId, from), ...encodeClass(of), encodeHex(from)],
            })),
      );
      const sql = exclusiveGrantsStatement(engine.dialect.name, isHead);
      const asked = { block: pinned.block, owners: owners.length, lists };
      const counts = (rights: Bytes32 | null) => countsAt({ rights }, earliest);
      return { earliest, latest, ...(await readLastGrants(engine, sql, [chainId, expiry], asked, counts)) };
    });
  };
}
