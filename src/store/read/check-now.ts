// Checks a question at the head: one index lookup for each delegation that would grant it.

import { type AnyQuestion, grantingKeys, type Question } from '../../registry/check.ts';
import { type DelegationKey, sameDelegation } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import type { Param } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { params } from '../rows/bulk.ts';
import { decodeFlag, decodeNumber, encodeHex } from '../rows/cells.ts';
import { ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import type { CheckResult, HeldDelegation } from '../store.ts';
import type { HeldColumns } from './held-columns.ts';
import { once } from './once.ts';
import { unsettledRevocation } from './refusals.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';
import { asNumber, HEAD, isPairUnsettled } from './unsettled.ts';

function encodeParams(
  chainId: number,
  question: Question | AnyQuestion,
  keys: readonly DelegationKey[],
  hasV1: boolean,
  hash: IndexHash,
): Param[] {
  const cells: Param[] = [chainId];
  if (keys.length === 0) return cells;
  cells.push(hash.hot(chainId, question.to), encodeHex(question.from));
  for (const key of keys) cells.push(hash.key(key));
  if (hasV1) cells.push(encodeHex(question.to));
  return cells;
}

/** Returns the chain's row, then the spans. A hash may collide, so there may be spans of other delegations. */
export const checkNowStatement = <D extends HeldDelegation>(held: HeldColumns<D>) =>
  once((keysOfV2: number, keysOfV1: number) => {
    const keys = keysOfV2 + keysOfV1;
    const wallets = { from: '$3', to: `$${4 + keys}`, hot: '$2' };
    const unsettled = keysOfV1 > 0 ? asNumber(isPairUnsettled(wallets, HEAD)) : '0';
    const statement = stateStatement(['unsettled', 'version', ...KEY.names, ...held.names], (select) => {
      const chain = `SELECT ${select({ ...STATE, unsettled })} FROM chain c WHERE c.chain = $1`;
      // One SELECT per key: an IN or a join costs SQLite twice as much.
      const spans = params(4, keys).map((key, position) => {
        const version = position < keysOfV2 ? 2 : 1;
        return `SELECT ${select({ version: String(version), ...ofTable('s', KEY.names), ...held.expressions })}
          FROM span s INDEXED BY span_open_vault ${held.joins}
          WHERE s.hot = $2 AND s.key = ${key} AND s.from_addr = $3 /*pg AND s.kind >= 0*/ AND s.until_block IS NULL
            AND s.chain = $1 AND s.version = ${version}`;
      });
      return [chain, ...spans].join('\n UNION ALL ');
    });
    const { at } = statement;
    return { ...statement, decodeKey: keyDecoder(at), decodeHeld: held.decoder(at) };
  });

/** Of both versions, the keys of v1 come last. */
export function countV1(keys: readonly DelegationKey[]): number {
  let count = 0;
  while (keys[keys.length - 1 - count]?.version === 1) count++;
  return count;
}

export type CheckNow<D extends HeldDelegation> = (
  chainId: number,
  question: Question | AnyQuestion,
) => Promise<CheckResult<D>>;

export function createCheckNow<D extends HeldDelegation>(
  read: StateReader,
  hash: IndexHash,
  held: HeldColumns<D>,
): CheckNow<D> {
  const statementFor = checkNowStatement(held);
  return async (chainId, question) => {
    const keys = grantingKeys(question);
    const keysOfV1 = countV1(keys);
    const statement = statementFor(keys.length - keysOfV1, keysOfV1);
    const cells = encodeParams(chainId, question, keys, keysOfV1 > 0, hash);
    const { rows, state, head } = await read(chainId, statement, cells);
    const [chainRow = [], ...spanRows] = rows;
    if (decodeFlag(chainRow[statement.at.unsettled])) throw unsettledRevocation(question.from);
    const { at, decodeHeld, decodeKey } = statement;
    const found = spanRows.map((row) => decodeHeld(decodeKey(decodeNumber(row[at.version]) as Version, row), row));
    const granting = found.length === 0 ? [] : keys.flatMap((key) => found.filter((one) => sameDelegation(key, one)));
    return { chain: state, block: head, granting };
  };
}
