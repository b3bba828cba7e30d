// Checks many questions at the head in one statement: of any chains, versions and scopes, all as of one snapshot.

import { type AnyQuestion, grantingKeys, type Question } from '../../registry/check.ts';
import { type DelegationKey, sameDelegation } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import { createBatches } from '../batches.ts';
import type { Engine, Row } from '../engine.ts';
import type { StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { arrayParams } from '../rows/bulk.ts';
import { decodeFlag, decodeNumber, encodeHex } from '../rows/cells.ts';
import { type ColumnTypes, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import type { CheckResult, HeldDelegation } from '../store.ts';
import type { CheckNow } from './check-now.ts';
import type { HeldColumns } from './held-columns.ts';
import { notIndexed, unsettledRevocation } from './refusals.ts';
import { createStatesReader, STATE, stateStatement } from './state-reader.ts';
import { asNumber, HEAD, isPairUnsettled } from './unsettled.ts';

export interface HeadQuestion {
  readonly chainId: number;
  readonly question: Question | AnyQuestion;
}

/** The most questions of a statement. */
const SIZE = 64;

/** What the statement takes for each delegation that would grant. `to_addr` is null unless its pair must be settled. */
const TYPES: ColumnTypes = { chain: 'bigint', hot: 'bigint', key: 'bigint', from_addr: 'bytea', to_addr: 'bytea' };
/** The key of a question that nothing grants: no span has this hash. */
const NO_KEY = -1;

/** Returns the rows of the chains $1, then those of lookups, by their position from 1 on: found spans, and unsettled pairs. */
export const checkBatchStatement = <D extends HeldDelegation>(held: HeldColumns<D>) => {
  const names = ['position', 'unsettled', 'version', ...KEY.names, ...held.names] as const;
  const statement = stateStatement(names, (select) => {
    const chains = `SELECT ${select({ ...STATE, position: 'c.chain', unsettled: '0' })}
      FROM chain c WHERE c.chain = ANY ($1::bigint[])`;
    // OFFSET 0 keeps PostgreSQL from reading the whole index once for all lookups, as it does while a table is small.
    const spans = `SELECT ${select({ position: 'q.position', version: 's.version', ...ofTable('s', KEY.names), ...held.expressions })}
      FROM q CROSS JOIN LATERAL (SELECT * FROM span o INDEXED BY span_open_vault
        WHERE o.hot = q.hot AND o.key = q.key AND o.from_addr = q.from_addr AND o.kind >= 0 AND o.until_block IS NULL
          AND o.chain = q.chain OFFSET 0) AS s ${held.joins}`;
    const pair = { from: 'q.from_addr', to: 'q.to_addr', hot: 'q.hot' };
    const unsettled = `SELECT ${select({ position: 'q.position', unsettled: '1' })} FROM q JOIN chain c ON c.chain = q.chain
      WHERE q.to_addr IS NOT NULL AND ${asNumber(isPairUnsettled(pair, HEAD, 'q.chain'))} = 1`;
    return `WITH q (${Object.keys(TYPES).join(', ')}, position) AS MATERIALIZED (
        SELECT * FROM unnest(${arrayParams(Object.values(TYPES), 2)}) WITH ORDINALITY)
      ${chains} UNION ALL ${spans} UNION ALL ${unsettled}`;
  });
  const { at } = statement;
  return { ...statement, decodeKey: keyDecoder(at), decodeHeld: held.decoder(at) };
};

/** The lookups of the questions in order, one of each question at least. */
function encodeLookups(questions: readonly HeadQuestion[], hash: IndexHash) {
  const keys: DelegationKey[][] = [];
  const chains = new Set<number>();
  const [chain, hot, key, from, to]: [number[], number[], number[], Uint8Array[], (Uint8Array | null)[]] = [
    [],
    [],
    [],
    [],
    [],
  ];
  for (const { chainId, question } of questions) {
    const own = grantingKeys(question);
    keys.push(own);
    chains.add(chainId);
    const [hotHash, vault] = [hash.hot(chainId, question.to), encodeHex(question.from)];
    const lastIsV1 = own.at(-1)?.version === 1;
    for (let turn = 0; turn < Math.max(1, own.length); turn++) {
      const one = own[turn];
      chain.push(chainId);
      hot.push(hotHash);
      key.push(one === undefined ? NO_KEY : hash.key(one));
      from.push(vault);
      to.push(lastIsV1 && turn === own.length - 1 ? encodeHex(question.to) : null);
    }
  }
  return { keys, columns: [[...chains], chain, hot, key, from, to] };
}

export function createCheckBatch<D extends HeldDelegation>(
  readColumns: NonNullable<Engine['readColumns']>,
  hash: IndexHash,
  held: HeldColumns<D>,
): (questions: readonly HeadQuestion[]) => Promise<(CheckResult<D> | StoreError)[]> {
  const statement = checkBatchStatement(held);
  const { at, decodeKey, decodeHeld } = statement;
  const decodePosition = (row: Row) => decodeNumber(row[at.position]);
  const readStates = createStatesReader(statement, decodePosition);
  return async (questions) => {
    const { keys, columns } = encodeLookups(questions, hash);
    const { rows, states } = await readStates((sql) => readColumns(sql, columns));
    const unsettled = new Set<number>();
    const found = new Map<number, D[]>();
    for (const row of rows) {
      const position = decodePosition(row);
      if (decodeFlag(row[at.unsettled])) unsettled.add(position);
      else {
        const one = decodeHeld(decodeKey(decodeNumber(row[at.version]) as Version, row), row);
        found.set(position, [...(found.get(position) ?? []), one]);
      }
    }
    let end = 0;
    return questions.map(({ chainId, question }, turn) => {
      const own = keys[turn] as DelegationKey[];
      const first = end + 1;
      end += Math.max(1, own.length);
      const state = states.get(chainId);
      if (state === undefined || state.head === null) return notIndexed(chainId);
      if (unsettled.has(end)) return unsettledRevocation(question.from);
      // A hash may collide, so there may be spans of other delegations.
      const granting = own.flatMap((key, nth) =>
        (found.get(first + nth) ?? []).filter((one) => sameDelegation(key, one)),
      );
      return { chain: state, block: state.head, granting };
    });
  };
}

/** Checks one by one while the database is idle, and in batches while it is busy. */
export function batchChecks<D extends HeldDelegation>(
  one: CheckNow<D>,
  many: (questions: readonly HeadQuestion[]) => Promise<(CheckResult<D> | StoreError)[]>,
): CheckNow<D> {
  const check = createBatches<HeadQuestion, CheckResult<D>>({
    one: ({ chainId, question }) => one(chainId, question),
    many,
    size: SIZE,
  });
  return (chainId, question) => check({ chainId, question });
}
