// Gathers the checks at the head that arrive while PostgreSQL is busy, and answers them with one statement: of any chains, versions
// and scopes, all as of one snapshot. It saves a round trip for each.

import { type AnyQuestion, grantingKeys, type Question } from '../../registry/check.ts';
import { type DelegationKey, sameDelegation } from '../../registry/delegation.ts';
import { hasUnnamedRevocations, type Version } from '../../registry/versions.ts';
import type { Engine, Param, Row } from '../engine.ts';
import { notIndexed, type StoreError, unsettledRevocation } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeFlag, decodeNumber, encodeHex } from '../rows/cells.ts';
import { type ColumnTypes, namesOf, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import { arrayParams, asNumber } from '../rows/sql.ts';
import type { CheckResult, HeldDelegation } from '../store.ts';
import { PLAIN } from './held-columns.ts';
import { heldSpans } from './key-spans.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';
import { HEAD, isPairUnsettled } from './unsettled.ts';

export type HeadQuestion = { readonly chainId: number; readonly question: Question | AnyQuestion };
export type HeadResult = CheckResult<HeldDelegation>;

/** What the statement takes for each delegation that would grant. `to_addr` is null unless its pair must be settled. */
const TYPES: ColumnTypes = { chain: 'bigint', hot: 'bigint', key: 'bigint', from_addr: 'bytea', to_addr: 'bytea' };
/** The key of a question that nothing grants: no span has this hash. */
const NO_KEY = -1;

/** Returns the rows of the chains $1, then those of lookups, by their position from 1 on: found spans, and unsettled pairs. */
export const GATHERED = stateStatement(
  ['position', 'unsettled', 'version', ...KEY.names, ...namesOf(PLAIN.expressions)] as const,
  (select) => {
    const chains = `SELECT ${select({ ...STATE, position: 'c.chain', unsettled: '0' })}
      FROM chain c WHERE c.chain = ANY ($1::bigint[])`;
    const cells = { hot: 'q.hot', key: 'q.key', from_addr: 'q.from_addr', chain: 'q.chain' };
    const found = { version: 's.version', ...ofTable('s', KEY.names), ...PLAIN.expressions };
    // OFFSET 0 keeps PostgreSQL from reading the whole index once for all lookups, as it does while a table is small.
    const spans = `SELECT ${select({ position: 'q.position', ...found })}
      FROM q CROSS JOIN LATERAL (${heldSpans('postgres', 's.*', cells, null).join()} OFFSET 0) AS s`;
    const pair = { from: 'q.from_addr', to: 'q.to_addr', hot: 'q.hot' };
    const unsettled = `SELECT ${select({ position: 'q.position', unsettled: '1' })} FROM q JOIN chain c ON c.chain = q.chain
      WHERE q.to_addr IS NOT NULL AND ${asNumber(isPairUnsettled('postgres', pair, HEAD, 'q.chain'))} = 1`;
    return `WITH q (${Object.keys(TYPES).join(', ')}, position) AS MATERIALIZED (
        SELECT * FROM unnest(${arrayParams(Object.values(TYPES), 2)}) WITH ORDINALITY)
      ${chains} UNION ALL ${spans} UNION ALL ${unsettled}`;
  },
);
const { col } = GATHERED;
const decodeKey = keyDecoder(col);
const decodeHeld = PLAIN.decoder(col);
const decodePosition = (row: Row) => decodeNumber(row[col.position]);

/** The lookups of a question: one at least. */
function encodeLookups({ chainId, question }: HeadQuestion, keys: readonly DelegationKey[], hash: IndexHash) {
  const [hot, from] = [hash.hot(chainId, question.to), encodeHex(question.from)];
  if (keys.length === 0) return [[chainId, hot, NO_KEY, from, null]];
  const hasV1 = keys.some(({ version }) => hasUnnamedRevocations(version));
  return keys.map((key, nth): Param[] => {
    const to = hasV1 && nth === keys.length - 1 ? encodeHex(question.to) : null;
    return [chainId, hot, hash.key(key), from, to];
  });
}

export function createCheckGathered(
  readMany: NonNullable<Engine['readMany']>,
  states: StateReader,
  hash: IndexHash,
): (questions: readonly HeadQuestion[]) => Promise<(HeadResult | StoreError)[]> {
  return async (questions) => {
    const asked = questions.map(({ chainId, question }) => ({ chainId, question, keys: grantingKeys(question) }));
    const lookups = asked.flatMap((one) => encodeLookups(one, one.keys, hash));
    const chains = `{${[...new Set(questions.map(({ chainId }) => chainId))].join()}}`;
    const read = await states.many(GATHERED, (sql) => readMany(sql, [chains], lookups), decodePosition);
    const unsettled = new Set<number>();
    const found = new Map<number, HeldDelegation[]>();
    for (const row of read.rows) {
      if (GATHERED.decodeCommit(row) !== null) continue;
      const position = decodePosition(row);
      if (decodeFlag(row[col.unsettled])) {
        unsettled.add(position);
        continue;
      }
      const held = decodeHeld(decodeKey(decodeNumber(row[col.version]) as Version, row), row);
      const others = found.get(position);
      if (others === undefined) found.set(position, [held]);
      else others.push(held);
    }
    let end = 0;
    return asked.map(({ chainId, question, keys }) => {
      const first = end + 1;
      end += Math.max(1, keys.length);
      const state = read.states.get(chainId);
      if (state === undefined || state.head === null) return notIndexed(chainId);
      if (unsettled.has(end)) return unsettledRevocation(question.from);
      // A hash may collide, so there may be spans of other delegations.
      const granting = keys.flatMap((key, nth) =>
        (found.get(first + nth) ?? []).filter((one) => sameDelegation(key, one)),
      );
      return { chain: state, block: state.head, granting };
    });
  };
}

/** The most questions of a statement. */
const MOST = 64;
/** A statement that runs for longer no longer holds back the questions behind it. */
const SLOW_MS = 20;

interface Waiting<Q, A> extends Pick<PromiseWithResolvers<A>, 'resolve' | 'reject'> {
  readonly question: Q;
}

/**
 * A question that finds no statement under way is sent at once. The others wait until that statement returns and go together, so
 * more go together the higher the load. `many` answers in order; each may have an error of its own.
 */
export function gather<Q, A>(
  one: (question: Q) => Promise<A>,
  many: (questions: readonly Q[]) => Promise<readonly (A | Error)[]>,
  most = MOST,
): (question: Q) => Promise<A> {
  let isBusy = false;
  let waiting: Waiting<Q, A>[] = [];

  /** Runs a statement. `isBusy` becomes false when it returns or is slow, whichever comes first. */
  async function send<T>(statement: () => Promise<T>): Promise<T> {
    isBusy = true;
    let isFirst = true;
    const sendNext = () => {
      if (isFirst) sendWaiting();
      isFirst = false;
    };
    const timer = setTimeout(sendNext, SLOW_MS);
    try {
      return await statement();
    } finally {
      clearTimeout(timer);
      sendNext();
    }
  }

  function sendWaiting(): void {
    isBusy = false;
    if (waiting.length === 0) return;
    const gathered = waiting.slice(0, most);
    waiting = waiting.slice(most);
    void sendGathered(gathered);
  }

  async function sendGathered(gathered: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await send(() => many(gathered.map(({ question }) => question)));
      for (const [turn, { resolve, reject }] of gathered.entries()) {
        const answer = answers[turn] as A | Error;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of gathered) reject(error);
    }
  }

  return (question) => {
    if (!isBusy) return send(() => one(question));
    return new Promise((resolve, reject) => waiting.push({ question, resolve, reject }));
  };
}
