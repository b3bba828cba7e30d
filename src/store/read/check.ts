// Checks one question, at the head or as of a block: one index lookup for each delegation that would grant it.

import { type AnyQuestion, faultOfQuestion, grantingKeys, type Question } from '../../registry/check.ts';
import type { DelegationKey } from '../../registry/delegation.ts';
import { hasUnnamedRevocations } from '../../registry/versions.ts';
import type { Dialect, Param } from '../engine.ts';
import { requireBlockNumber, requireIndexed, StoreError, unsettledRevocation } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { ANSWER_BLOCK, ANSWER_BLOCK_NAMES, answerBlockDecoder } from '../rows/block-row.ts';
import { decodeFlag, decodeNumber, encodeHex } from '../rows/cells.ts';
import { asNumber, params } from '../rows/sql.ts';
import type { CheckResult, HeldDelegation } from '../store.ts';
import type { HeldColumns } from './held-columns.ts';
import { byShape, cellsOfKeys, encodeKeys, heldSpans } from './key-spans.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';
import { HEAD, isPairUnsettled } from './unsettled.ts';

export function requireQuestion(question: Question | AnyQuestion): void {
  const fault = faultOfQuestion(question);
  if (fault !== null) throw new StoreError('bad-question', fault);
}

/** Returns the chain's row, then the spans that held, each with the position of its key. $1 is the chain, $2 the block if there is one. */
export function checkStatement<D extends HeldDelegation>(
  dialect: Dialect['name'],
  held: HeldColumns<D>,
  keys: readonly DelegationKey[],
  isNow: boolean,
) {
  const block = isNow ? null : '$2';
  const first = isNow ? 2 : 3;
  const [hot, from, to] = params(first, 3) as [string, string, string];
  const hasV1 = keys.some(({ version }) => hasUnnamedRevocations(version));
  const unsettled = hasV1 ? asNumber(isPairUnsettled(dialect, { hot, from, to }, block ?? HEAD)) : '0';
  const names = ['unsettled', 'position', ...ANSWER_BLOCK_NAMES, ...held.names] as const;
  const statement = stateStatement(names, (select) => {
    const chain = isNow
      ? `SELECT ${select({ ...STATE, unsettled })} FROM chain c WHERE c.chain = $1`
      : `SELECT ${select({ ...STATE, unsettled, ...ANSWER_BLOCK })} FROM chain c
          LEFT JOIN block b ON b.chain = c.chain AND b.number = $2 WHERE c.chain = $1`;
    // One SELECT per key: an IN or a join costs SQLite twice as much.
    const spans = cellsOfKeys(keys, first + 3).flatMap((cells, position) =>
      heldSpans(
        dialect,
        select({ position: String(position), ...held.expressions }),
        { ...cells, hot, from_addr: from, to_addr: to, chain: '$1' },
        block,
      ),
    );
    return [chain, ...spans].join('\n UNION ALL ');
  });
  const { col } = statement;
  return { ...statement, decodeBlock: answerBlockDecoder(col), decodeHeld: held.decoder(col) };
}

export function createCheck<D extends HeldDelegation>(
  dialect: Dialect['name'],
  read: StateReader,
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
    const cells: Param[] = isNow ? [chainId] : [chainId, block];
    if (keys.length > 0) {
      const { from, to } = question;
      cells.push(hash.hot(chainId, to), encodeHex(from), encodeHex(to), ...encodeKeys(keys, hash));
    }
    const { rows, state, head } = await read(chainId, statement, cells);
    if (!isNow) requireIndexed(chainId, block, state.firstBlock, head.number);
    const { col, decodeBlock, decodeHeld } = statement;
    const [chain = [], ...spans] = rows;
    if (decodeFlag(chain[col.unsettled])) throw unsettledRevocation(question.from);
    return {
      chain: state,
      block: isNow ? head : decodeBlock(block, chain),
      granting: spans.map((row) => decodeHeld(keys[decodeNumber(row[col.position])] as DelegationKey, row)),
    };
  };
}
