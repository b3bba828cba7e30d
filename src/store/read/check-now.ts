// Checks a question at the head: one index lookup for each delegation that would grant it.

import { grantingKeys, type Question } from '../../registry/check.ts';
import { type DelegationKey, sameDelegation } from '../../registry/delegation.ts';
import { hasUnnamedRevocations, type Version } from '../../registry/versions.ts';
import type { Param } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { params } from '../rows/bulk.ts';
import { decodeFlag, encodeHex } from '../rows/cells.ts';
import { ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import type { CheckResult, HeldDelegation } from '../store.ts';
import type { HeldColumns } from './held-columns.ts';
import { once } from './once.ts';
import { unsettledRevocation } from './refusals.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';
import { asNumber, HEAD, isPairUnsettled } from './unsettled.ts';

function encodeParams(chainId: number, question: Question, keys: readonly DelegationKey[], hash: IndexHash): Param[] {
  const cells: Param[] = [chainId];
  if (keys.length === 0) return cells;
  cells.push(hash.hot(chainId, question.to), encodeHex(question.from));
  for (const key of keys) cells.push(hash.key(key));
  if (hasUnnamedRevocations(question.version)) cells.push(encodeHex(question.to));
  return cells;
}

/** Returns the chain's row, then the spans. A hash may collide, so there may be spans of other delegations. */
export const checkNowStatement = <D extends HeldDelegation>(held: HeldColumns<D>) =>
  once((version: Version, keys: number) => {
    const wallets = { from: '$3', to: `$${4 + keys}`, hot: '$2' };
    const unsettled = hasUnnamedRevocations(version) ? asNumber(isPairUnsettled(wallets, HEAD)) : '0';
    const statement = stateStatement(['unsettled', ...KEY.names, ...held.names], (select) => {
      const chain = `SELECT ${select({ ...STATE, unsettled })} FROM chain c WHERE c.chain = $1`;
      // One SELECT per key: an IN or a join costs SQLite twice as much.
      const spans = params(4, keys).map(
        (key) => `SELECT ${select({ ...ofTable('s', KEY.names), ...held.expressions })}
          FROM span s INDEXED BY span_open_vault ${held.joins}
          WHERE s.hot = $2 AND s.key = ${key} AND s.from_addr = $3 /*pg AND s.kind >= 0*/ AND s.until_block IS NULL
            AND s.chain = $1 AND s.version = ${version}`,
      );
      return [chain, ...spans].join('\n UNION ALL ');
    });
    const { at } = statement;
    return { ...statement, decodeKey: keyDecoder(at), decodeHeld: held.decoder(at) };
  });

export function createCheckNow<D extends HeldDelegation>(
  read: StateReader,
  hash: IndexHash,
  held: HeldColumns<D>,
): (chainId: number, question: Question) => Promise<CheckResult<D>> {
  const statementFor = checkNowStatement(held);
  return async (chainId, question) => {
    const { version, from } = question;
    const keys = grantingKeys(question);
    const statement = statementFor(version, keys.length);
    const { rows, state, head } = await read(chainId, statement, encodeParams(chainId, question, keys, hash));
    const [chainRow = [], ...spanRows] = rows;
    if (decodeFlag(chainRow[statement.at.unsettled])) throw unsettledRevocation(from);
    const found = spanRows.map((row) => statement.decodeHeld(statement.decodeKey(version, row), row));
    const granting = found.length === 0 ? [] : keys.flatMap((key) => found.filter((one) => sameDelegation(key, one)));
    return { chain: state, block: head, granting };
  };
}
