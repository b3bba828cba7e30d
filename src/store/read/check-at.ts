// Checks a question as of a block.

import { type AnyQuestion, grantingKeys, type Question } from '../../registry/check.ts';
import type { DelegationKey } from '../../registry/delegation.ts';
import type { Param } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { params } from '../rows/bulk.ts';
import { decodeFlag, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { encodeKey } from '../rows/key-columns.ts';
import type { CheckResult, HeldDelegation } from '../store.ts';
import { ANSWER_BLOCK, ANSWER_BLOCK_NAMES, answerBlockDecoder } from './answer-block.ts';
import { countV1 } from './check-now.ts';
import type { HeldColumns } from './held-columns.ts';
import { once } from './once.ts';
import { requireIndexed, unsettledRevocation } from './refusals.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';
import { asNumber, isPairUnsettled } from './unsettled.ts';

function encodeParams(
  chainId: number,
  { from, to }: Question | AnyQuestion,
  block: number,
  keys: readonly DelegationKey[],
  hash: IndexHash,
): Param[] {
  const cells: Param[] = [chainId, hash.hot(chainId, to), encodeHex(from), encodeHex(to), block];
  for (const key of keys) {
    const [kind, , , contract, tokenId, rights] = encodeKey(key);
    cells.push(hash.key(key), kind, contract, tokenId, rights);
  }
  return cells;
}

/** Returns a row for each delegation that held, with the position of its key; one row without any where none held. */
export const checkAtStatement = <D extends HeldDelegation>(held: HeldColumns<D>) =>
  once((keysOfV2: number, keysOfV1: number) => {
    const span = 'chain, amount, since_block, since_log';
    const pair = `hot = $2 AND chain = $1 AND from_addr = $3 AND to_addr = $4`;
    const spans = Array.from({ length: keysOfV2 + keysOfV1 }, (_, position) => {
      const [hash, kind, contract, tokenId, rights] = params(6 + 5 * position, 5);
      const key = `${pair} AND version = ${position < keysOfV2 ? 2 : 1} AND key = ${hash} /*pg AND kind >= 0*/ AND kind = ${kind}
        AND contract = ${contract} AND token_id = ${tokenId} AND rights = ${rights}`;
      // Spans of one delegation never overlap: of the closed ones only the first to end after the block can hold at it.
      return `SELECT ${position} AS position, ${span} FROM span INDEXED BY span_open_vault
          WHERE ${key} AND until_block IS NULL AND since_block <= $5
        UNION ALL
        SELECT ${position} AS position, ${span} FROM (SELECT ${span} FROM span INDEXED BY span_closed_vault
          WHERE ${key} AND until_block > $5 AND since_block < until_block ORDER BY until_block LIMIT 1) AS ended${position} WHERE since_block <= $5`;
    });
    const none = `SELECT 0 AS position, ${span} FROM span WHERE ${pair} AND 1 = 0`;
    const unsettled = keysOfV1 > 0 ? asNumber(isPairUnsettled({ from: '$3', to: '$4', hot: '$2' }, '$5')) : '0';
    const names = ['unsettled', ...ANSWER_BLOCK_NAMES, 'position', ...held.names] as const;
    const statement = stateStatement(
      names,
      (
        select,
      ) => `SELECT ${select({ ...STATE, unsettled, ...ANSWER_BLOCK, position: 's.position', ...held.expressions })}
        FROM chain c LEFT JOIN block b ON b.chain = $1 AND b.number = $5
          LEFT JOIN (${spans.length === 0 ? none : spans.join('\n UNION ALL ')}) s ON s.chain = c.chain ${held.joins}
        WHERE c.chain = $1`,
    );
    const { at } = statement;
    return { ...statement, decodeBlock: answerBlockDecoder(at), decodeHeld: held.decoder(at) };
  });

export function createCheckAt<D extends HeldDelegation>(
  read: StateReader,
  hash: IndexHash,
  held: HeldColumns<D>,
): (chainId: number, question: Question | AnyQuestion, block: number) => Promise<CheckResult<D>> {
  const statementFor = checkAtStatement(held);
  return async (chainId, question, block) => {
    const keys = grantingKeys(question);
    const keysOfV1 = countV1(keys);
    const statement = statementFor(keys.length - keysOfV1, keysOfV1);
    const cells = encodeParams(chainId, question, block, keys, hash);
    const { rows, state, head } = await read(chainId, statement, cells);
    requireIndexed(chainId, block, state.firstBlock, head.number);
    const [first = []] = rows;
    if (decodeFlag(first[statement.at.unsettled])) throw unsettledRevocation(question.from);
    const granting: D[] = [];
    for (const row of rows) {
      const position = decodeNumberOrNull(row[statement.at.position]);
      const key = position === null ? undefined : keys[position];
      if (key !== undefined) granting.push(statement.decodeHeld(key, row));
    }
    return { chain: state, block: statement.decodeBlock(block, first), granting };
  };
}
