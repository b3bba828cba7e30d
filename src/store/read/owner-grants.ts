// Finds the last grants of many owners that pass a check, whoever they are to: of each key the last one that held at the block.

import { grantingKeys } from '../../registry/check.ts';
import type { Address } from '../../registry/delegation.ts';
import type { Dialect, Engine } from '../engine.ts';
import { requireBlockNumber } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, encodeHex } from '../rows/cells.ts';
import { KEY_TYPES as ALL_KEY_TYPES, encodeKeyBetween } from '../rows/key-columns.ts';
import { once } from '../rows/sql.ts';
import type { Store } from '../store.ts';
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

/** Whether a revocation of the owner $3 may have ended something that held at the block. */
export const ownerUnsettledStatement = (dialect: Dialect['name']) =>
  `SELECT 1 FROM chain c WHERE c.chain = $1 AND EXISTS (SELECT 1 ${unsettledBy(dialect, '$2')}
    AND r.vault = $3 AND ${mayHaveEnded(dialect, null, '$2')})`;

export function createOwnerGrants(engine: Engine, hash: IndexHash): Store['ownerGrants'] {
  const dialect = engine.dialect.name;
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
      const lists = owners.flatMap((from, owner) => {
        const question = { ...target, from, to: from };
        requireQuestion(question);
        const [cold, own] = [hash.cold(chainId, from), encodeHex(from)];
        return grantingKeys(question).map((key) => ({
          ...{ owner, key },
          // Whoever it is to.
          cells: [cold, hash.key(key), key.version, ...encodeKeyBetween(key, own, own).toSpliced(2, 1)],
        }));
      });
      const asked = { block: pinned.block, owners: owners.length, lists };
      const found = await readLastGrants(engine, ownerGrantsStatement(dialect, isHead), [chainId], asked);
      // A revocation that is settled meanwhile rewrites history.
      return { ...found, unsettled: await findUnsettled(chainId, pinned.block, owners) };
    });
  };
}
