// Checks one question, at the head or as of a block: one index lookup for each delegation that would grant it.

import { type AnyQuestion, faultOfQuestion, grantingKeys, type Question } from '../../registry/check.ts';
import { type DelegationKey, sameDelegation } from '../../registry/delegation.ts';
import { hasUnnamedRevocations } from '../../registry/versions.ts';
import type { Dialect, Param } from '../engine.ts';
import { requireBlockNumber, requireIndexed, StoreError, unsettledRevocation } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { ANSWER_BLOCK, answerBlockDecoder } from '../rows/block-row.ts';
import { decodeFlag, decodeNumber, encodeHex } from '../rows/cells.ts';
import { namesOf, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import { asNumber, params } from '../rows/sql.ts';
import type { CheckResult, HeldDelegation } from '../store.ts';
import type { HeldColumns } from './held-columns.ts';
import { byShape, cellsOfKeys, encodeKeys, heldSpans, type SpanCells } from './key-spans.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';
import { HEAD, isPairUnsettled } from './unsettled.ts';

export function requireQuestion(question: Question | AnyQuestion): void {
  const fault = faultOfQuestion(question);
  if (fault !== null) throw new StoreError('bad-question', fault);
}

/**
 * Returns the chain's row, then the spans that held, each with the position of its key. $1 is the chain, $2 the block if there is one. At
 * the head, spans are found by hashes alone, which may collide, and compared here: fewer parameters cost 7% less.
 */
export function checkStatement<D extends HeldDelegation>(
  dialect: Dialect['name'],
  held: HeldColumns<D>,
  keys: readonly DelegationKey[],
  isNow: boolean,
) {
  const block = isNow ? null : '$2';
  const [hot = '', from = '', ...rest] = params(isNow ? 2 : 3, 3 + keys.length);
  const to = (isNow ? rest.at(-1) : rest[0]) as string;
  const hasV1 = keys.some(({ version }) => hasUnnamedRevocations(version));
  const unsettled = hasV1 ? asNumber(isPairUnsettled(dialect, { hot, from, to }, block ?? HEAD)) : '0';
  const more = isNow ? KEY.names : namesOf(ANSWER_BLOCK);
  const names = ['unsettled', 'position', ...namesOf(held.expressions), ...more] as const;
  const statement = stateStatement(names, (select) => {
    const chain = isNow
      ? `SELECT ${select({ ...STATE, unsettled })} FROM chain c WHERE c.chain = $1`
      : `SELECT ${select({ ...STATE, unsettled, ...ANSWER_BLOCK })} FROM chain c
          LEFT JOIN block b ON b.chain = c.chain AND b.number = $2 WHERE c.chain = $1`;
    // One SELECT per key: an IN or a join costs SQLite twice as much.
    const spans = cellsOfKeys(keys, 6).flatMap((exact, position) => {
      const cells: SpanCells = isNow
        ? { key: rest[position] as string, version: exact.version }
        : { ...exact, to_addr: to };
      const selected = { position: String(position), ...ofTable('s', KEY.names), ...held.expressions };
      return heldSpans(dialect, select(selected), { hot, from_addr: from, chain: '$1', ...cells }, block);
    });
    return [chain, ...spans].join('\n UNION ALL ');
  });
  const { col } = statement;
  const decoders = { decodeBlock: answerBlockDecoder(col), decodeKey: keyDecoder(col), decodeHeld: held.decoder(col) };
  return { ...statement, ...decoders, hasV1 };
}

export function createCheck<D extends HeldDelegation>(
  dialect: Dialect['name'],
  states: StateReader,
  hash: IndexHash,
  held: HeldColumns<D>,
): (chainId: number, question: Question | AnyQuestion, block?: number) => Promise<CheckResult<D>> {
  const statementFor = byShape((keys, isNow) => checkStatement(dialect, held, keys, isNow));
  return async (chainId, question, block) => {
    requireQuestion(question);
    if (block !== undefined) requireBlockNumber(block);
    const keys = grantingKeys(question);
    const isNow = block === undefined;
    const statement = statementFor(keys, isNow);
    const { col, hasV1, decodeBlock, decodeKey, decodeHeld } = statement;
    const cells: Param[] = isNow ? [chainId] : [chainId, block];
    if (keys.length > 0) {
      cells.push(hash.hot(chainId, question.to), encodeHex(question.from));
      if (!isNow) cells.push(encodeHex(question.to), ...encodeKeys(keys, hash));
      else for (const key of keys) cells.push(hash.key(key));
      if (isNow && hasV1) cells.push(encodeHex(question.to));
    }
    const { rows, state, head } = await states.one(chainId, statement, cells);
    if (!isNow) requireIndexed(chainId, block, state.firstBlock, head.number);
    const [chain = [], ...spans] = rows;
    if (decodeFlag(chain[col.unsettled])) throw unsettledRevocation(question.from);
    const granting = spans.flatMap((row) => {
      const key = keys[decodeNumber(row[col.position])] as DelegationKey;
      return isNow && !sameDelegation(key, decodeKey(key.version, row)) ? [] : [decodeHeld(key, row)];
    });
    return { chain: state, block: isNow ? head : decodeBlock(block, chain), granting };
  };
}
