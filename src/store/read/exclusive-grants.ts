// Finds the grants of owners that can decide who acts alone for them: of each class the last one that held at the block and counts at
// its time.

import { KINDS } from '../../registry/delegation.ts';
import { countsAt } from '../../registry/exclusive.ts';
import { neverGrants } from '../../registry/versions.ts';
import type { Engine } from '../engine.ts';
import { requireBlockNumber, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeNumberOrNull, decodeRights, EMPTY, encodeHex, encodeUint } from '../rows/cells.ts';
import type { DetailedDelegation, Store } from '../store.ts';
import { DETAILED } from './held-columns.ts';
import { createLastGrants, LAST_ROW } from './last-grants.ts';
import { createUnchanged } from './unchanged.ts';

const VERSION = 2;
const decodeHeld = DETAILED.decoder(LAST_ROW.col);

/** The time of the newest kept block up to the block, and of the oldest from it on. Both are its own if it is kept. */
const timeAround = (condition: string, order: string) => `CASE WHEN c.head_number = $2 THEN c.head_timestamp ELSE
  (SELECT t.timestamp FROM block t WHERE t.chain = $1 AND t.number ${condition} $2 ORDER BY t.number ${order} LIMIT 1) END`;

export function createExclusiveGrants(engine: Engine, hash: IndexHash): Store['exclusiveGrants'] {
  const readLast = createLastGrants(engine, 'exclusive_from');
  const { col, readUnchanged } = createUnchanged(engine, {
    earliest: timeAround('<=', 'DESC'),
    // The head is kept in the chain's own row.
    latest: `COALESCE(${timeAround('>=', 'ASC')}, c.head_timestamp)`,
  });

  return async ({ chainId, at: pinned, owners, classes, time }) => {
    requireBlockNumber(pinned.block);
    return readUnchanged(chainId, pinned, async (isHead, state) => {
      const [earliest, latest] = [col.earliest, col.latest].map((at) => decodeNumberOrNull(state[at]));
      if (earliest == null || latest == null)
        throw new StoreError('failed', `The times around block ${pinned.block} are unknown.`);
      if (time !== undefined && (time < earliest || time > latest))
        throw new StoreError('failed', `Time ${time} is not that of block ${pinned.block} of chain ${chainId}.`);
      const from = time ?? earliest;
      const lookups = owners.flatMap((owner, position) => {
        if (neverGrants(VERSION, owner)) return [];
        const [cold, from_addr] = [hash.cold(chainId, owner), encodeHex(owner)];
        return classes.map(({ kind, contract, tokenId, id }) => ({
          position,
          cells: {
            cold,
            from_addr,
            kind: KINDS[kind].code,
            contract: contract === null ? EMPTY : encodeHex(contract),
            token_id: tokenId === null ? EMPTY : encodeUint(tokenId),
            id: encodeHex(id),
          },
          decode(row: Parameters<typeof decodeHeld>[1]): DetailedDelegation | null {
            const rights = decodeRights(row[LAST_ROW.col.rights]);
            if (!countsAt({ rights }, from)) return null;
            const pair = { from: owner, to: decodeHex(row[LAST_ROW.col.to_addr]) };
            return decodeHeld({ version: VERSION, kind, ...pair, contract, tokenId, rights }, row);
          },
        }));
      });
      const { lasts, read } = await readLast(chainId, pinned.block, isHead, lookups);
      const grants: DetailedDelegation[][] = owners.map(() => []);
      for (const [turn, last] of lasts.entries()) if (last !== null) grants[lookups[turn]?.position ?? -1]?.push(last);
      return { earliest: from, latest: time ?? latest, grants, read };
    });
  };
}
