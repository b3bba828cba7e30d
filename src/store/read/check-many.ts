// Checks many questions as of one block in a few statements, and proves afterwards that history did not change meanwhile.

import { type AnyQuestion, answer, grantingKeys, type Question } from '../../registry/check.ts';
import { type Delegation, type DelegationKey, sameDelegation } from '../../registry/delegation.ts';
import { hasUnnamedRevocations, type Version } from '../../registry/versions.ts';
import type { Dialect, Engine, Param } from '../engine.ts';
import { findDispute } from '../halt.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeAmount, decodeHex, decodeNumber, encodeHex } from '../rows/cells.ts';
import { decodeDisputes } from '../rows/chain-row.ts';
import { type ColumnTypes, columns, ofTable } from '../rows/columns.ts';
import { encodeKeyBetween, KEY, keyDecoder, LOOKUP_TYPES } from '../rows/key-columns.ts';
import { arrayParams, once, params } from '../rows/sql.ts';
import type { Store } from '../store.ts';
import { requireQuestion } from './check.ts';
import { heldSpans, type SpanCells } from './key-spans.ts';
import { createUnchanged } from './unchanged.ts';
import { isPairUnsettled, unsettledBy } from './unsettled.ts';

/**
 * What a delegation is looked up by. At the head the first columns of the index do, and what is found is compared here: with fewer parameters
 * the statement costs a third less. As of a block, the first span to end is looked for, and must not be one of another delegation.
 */
const HEAD_TYPES = { hot: 'bigint', key: 'bigint', from_addr: 'bytea' } as const satisfies Partial<typeof LOOKUP_TYPES>;
/** The delegations of a statement of SQLite. The last one is filled up with nulls, which match nothing. */
const CHUNK = 256;

/** What the statement returns for each delegation that held, with the position of its lookup. */
const FOUND = columns('position', 'amount', 'version', ...KEY.names);
const decodeKey = keyDecoder(FOUND.col);

/** $1 is the chain; as of another block than the head $2 is the block. The delegations follow. */
export const checkManyStatement = once((dialect: Dialect['name'], isHead: boolean): string => {
  const [block, first] = isHead ? [null, 2] : ['$2', 3];
  const types: ColumnTypes = isHead ? HEAD_TYPES : LOOKUP_TYPES;
  const names = Object.keys(types);
  const cells: SpanCells = { ...ofTable('q', names), chain: '$1' };
  // PostgreSQL counts from 1 on.
  const position = dialect === 'sqlite' ? 'q.position' : 'q.position - 1';
  const found = FOUND.select({ ...ofTable('s', FOUND.names), position });
  const asked = `q (${names.join(', ')}, position)`;
  if (dialect === 'sqlite') {
    const rows = Array.from(
      { length: CHUNK },
      (_, row) => `(${params(first + row * names.length, names.length).join(', ')}, ${row})`,
    );
    const spans = heldSpans(dialect, found, cells, block, 'q CROSS JOIN ');
    return `WITH ${asked} AS (VALUES ${rows.join(', ')}) ${spans.join(' UNION ALL ')}`;
  }
  // OFFSET 0 keeps PostgreSQL from reading the whole index once for all lookups, as it does while a table is small.
  const spans = heldSpans(dialect, 's.*', cells, block).map((select) => `(${select} OFFSET 0)`);
  return `SELECT ${found} FROM unnest(${arrayParams(Object.values(types), first)}) WITH ORDINALITY AS ${asked}
    CROSS JOIN LATERAL (${spans.join(' UNION ALL ')}) AS s`;
});

const hasV1 = ({ version }: Question | AnyQuestion) => version === 'any' || hasUnnamedRevocations(version);

export function createCheckMany(engine: Engine, hash: IndexHash): Store['checkMany'] {
  const { readMany } = engine;
  const dialect = engine.dialect.name;
  const unsettledVaults = `SELECT DISTINCT r.vault ${unsettledBy(dialect, '$2')}`;
  const unsettledPair = `SELECT 1 FROM chain WHERE chain = $1
    AND ${isPairUnsettled(dialect, { hot: '$3', from: '$4', to: '$5' }, '$2')}`;

  const { col, readUnchanged } = createUnchanged(engine, { disputes: 'c.disputes' });

  const checkMany: Store['checkMany'] = async (chainId, questions, pinned) => {
    for (const question of questions) requireQuestion(question);
    return readUnchanged(chainId, pinned, async (isHead, state) => {
      const granting = await readGranting(chainId, questions, isHead ? null : pinned.block);
      // A revocation that is settled meanwhile rewrites history.
      const unsettled = await findUnsettled(chainId, questions, pinned.block);
      const disputed = decodeDisputes(state[col.disputes]);
      return questions.map((question, position) =>
        unsettled.has(position) || findDispute(disputed, question) ? null : answer(question, granting[position] ?? []),
      );
    });
  };

  /** The part that `answer` looks at of the delegations that held, by question. */
  async function readGranting(
    chainId: number,
    questions: readonly (Question | AnyQuestion)[],
    block: number | null,
  ): Promise<readonly Pick<Delegation, 'amount'>[][]> {
    const isHead = block === null;
    const granting = questions.map((): Pick<Delegation, 'amount'>[] => []);
    const lookups: { position: number; key: DelegationKey; cells: Param[] }[] = [];
    for (const [position, question] of questions.entries()) {
      const [hot, from, to] = [hash.hot(chainId, question.to), encodeHex(question.from), question.to];
      for (const key of grantingKeys(question)) {
        const more = isHead ? [from] : [key.version, ...encodeKeyBetween(key, from, encodeHex(to))];
        lookups.push({ position, key, cells: [hot, hash.key(key), ...more] });
      }
    }
    const sql = checkManyStatement(dialect, isHead);
    const shared = isHead ? [chainId] : [chainId, block];
    const size = readMany === null ? CHUNK : lookups.length;
    for (let first = 0; first < lookups.length; first += size) {
      const rows = lookups.slice(first, first + size).map(({ cells }) => cells);
      const rest = Array((size - rows.length) * (rows[0]?.length ?? 0)).fill(null);
      for (const row of await (readMany?.(sql, shared, rows) ??
        engine.rows(sql, [...shared, ...rows.flat(), ...rest]))) {
        const { key, position } = lookups[first + decodeNumber(row[FOUND.col.position])] as (typeof lookups)[number];
        const found = decodeKey(decodeNumber(row[FOUND.col.version]) as Version, row);
        if (sameDelegation(key, found)) granting[position]?.push({ amount: decodeAmount(row[FOUND.col.amount]) });
      }
    }
    return granting;
  }

  /** The positions of questions whose answer depends on a revocation that is not settled. */
  async function findUnsettled(
    chainId: number,
    questions: readonly (Question | AnyQuestion)[],
    block: number,
  ): Promise<ReadonlySet<number>> {
    const found = new Set<number>();
    if (!questions.some(hasV1)) return found;
    const rows = await engine.rows(unsettledVaults, [chainId, block]);
    const vaults = new Set<string>(rows.map(([vault]) => decodeHex(vault)));
    for (const [position, question] of vaults.size === 0 ? [] : questions.entries()) {
      const { from, to } = question;
      if (!hasV1(question) || !vaults.has(from)) continue;
      const pair = [hash.hot(chainId, to), encodeHex(from), encodeHex(to)];
      if ((await engine.rows(unsettledPair, [chainId, block, ...pair])).length > 0) found.add(position);
    }
    return found;
  }

  return checkMany;
}
