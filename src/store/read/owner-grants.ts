// Finds the last grants of many owners that pass a check, whoever they are to: of each key the last one that held at the block.

import { grantingKeys } from '../../registry/check.ts';
import { type Address, type DelegationKey, KINDS } from '../../registry/delegation.ts';
import type { Dialect, Engine, Row } from '../engine.ts';
import { requireBlockNumber } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeNumber, EMPTY, encodeHex, encodeRights, encodeUint } from '../rows/cells.ts';
import type { DetailedDelegation, Store } from '../store.ts';
import { requireQuestion } from './check.ts';
import { DETAILED } from './held-columns.ts';
import { createLastGrants, LAST_ROW } from './last-grants.ts';
import { createUnchanged } from './unchanged.ts';
import { mayHaveEnded, unsettledBy } from './unsettled.ts';

const decodeHeld = DETAILED.decoder(LAST_ROW.col);

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
  const readLast = createLastGrants(engine, 'last');
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
      const lookups = owners.flatMap((owner, position) => {
        const question = { ...target, from: owner, to: owner };
        requireQuestion(question);
        const owned = { cold: hash.cold(chainId, owner), from_addr: encodeHex(owner) };
        return grantingKeys(question).map((key) => ({
          position,
          cells: { ...owned, ...cellsOf(key), key: hash.key(key) },
          decode: (row: Row): Placed => ({
            delegation: decodeHeld({ ...key, to: decodeHex(row[LAST_ROW.col.to_addr]) }, row),
            place: [decodeNumber(row[LAST_ROW.col.first_block]), decodeNumber(row[LAST_ROW.col.first_log])],
          }),
        }));
      });
      const { lasts, read } = await readLast(chainId, pinned.block, isHead, lookups);
      const placed: Placed[][] = owners.map(() => []);
      for (const [turn, last] of lasts.entries()) if (last !== null) placed[lookups[turn]?.position ?? -1]?.push(last);
      // A revocation that is settled meanwhile rewrites history.
      const unsettled = await findUnsettled(chainId, pinned.block, owners);
      return { grants: placed.map(inListOrder), unsettled, read };
    });
  };
}

const cellsOf = ({ version, kind, contract, tokenId, rights }: DelegationKey) => ({
  version,
  kind: KINDS[kind].code,
  contract: contract === null ? EMPTY : encodeHex(contract),
  token_id: tokenId === null ? EMPTY : encodeUint(tokenId),
  rights: rights === null ? EMPTY : encodeRights(rights),
});

const inListOrder = (grants: readonly Placed[]): DetailedDelegation[] =>
  grants
    .toSorted(({ place: [block, log] }, { place: [otherBlock, otherLog] }) => block - otherBlock || log - otherLog)
    .map(({ delegation }) => delegation);
