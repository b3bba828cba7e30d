// Checks many questions as of one block in a few statements, and proves afterwards that history did not change meanwhile.

import { type AnyQuestion, answer, grantingKeys, type Question } from '../../registry/check.ts';
import type { Delegation } from '../../registry/delegation.ts';
import { hasUnnamedRevocations } from '../../registry/versions.ts';
import type { Dialect, Engine, Param } from '../engine.ts';
import { findDispute } from '../halt.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeAmount, decodeHex, decodeNumber, EMPTY, encodeHex } from '../rows/cells.ts';
import { decodeDisputes } from '../rows/chain-row.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { encodeKeyBetween, LOOKUP_TYPES } from '../rows/key-columns.ts';
import { arrayParams, once, params } from '../rows/sql.ts';
import type { Store } from '../store.ts';
import { requireQuestion } from './check.ts';
import { heldSpans, type SpanCells } from './key-spans.ts';
import { createUnchanged } from './unchanged.ts';
import { isPairUnsettled, unsettledBy } from './unsettled.ts';

const NAMES = Object.keys(LOOKUP_TYPES);
const FILLER: readonly Param[] = Object.values(LOOKUP_TYPES).map((type) => (type === 'bytea' ? EMPTY : -1));
/** The delegations of a statement of SQLite. The last one is filled up with what no span has. */
const CHUNK = 256;

/** What the statement returns for each delegation that held: its position in the statement, and the amount. */
const FOUND = columns('position', 'amount');

/** $1 is the chain; as of another block than the head $2 is the block. The delegations follow. */
export const checkManyStatement = once((dialect: Dialect['name'], isHead: boolean): string => {
  const block = isHead ? null : '$2';
  const first = isHead ? 2 : 3;
  const cells: SpanCells = { ...ofTable('q', NAMES), chain: '$1' };
  // PostgreSQL counts from 1 on.
  const found = FOUND.select({ position: dialect === 'sqlite' ? 'q.position' : 'q.position - 1', amount: 's.amount' });
  const names = `q (${NAMES.join(', ')}, position)`;
  if (dialect === 'sqlite') {
    const rows = Array.from(
      { length: CHUNK },
      (_, row) => `(${params(first + row * NAMES.length, NAMES.length).join(', ')}, ${row})`,
    );
    const spans = heldSpans(dialect, found, cells, block, 'q CROSS JOIN ');
    return `WITH ${names} AS (VALUES ${rows.join(', ')}) ${spans.join(' UNION ALL ')}`;
  }
  // OFFSET 0 keeps PostgreSQL from reading the whole index once for all lookups, as it does while a table is small.
  const spans = heldSpans(dialect, 's.amount', cells, block).map((select) => `(${select} OFFSET 0)`);
  return `SELECT ${found} FROM unnest(${arrayParams(Object.values(LOOKUP_TYPES), first)}) WITH ORDINALITY AS ${names}
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
    const granting: Pick<Delegation, 'amount'>[][] = questions.map(() => []);
    const lookups: Param[][] = [];
    /** The position of each lookup's question. */
    const askedBy: number[] = [];
    for (const [position, question] of questions.entries()) {
      const [hot, from, to] = [hash.hot(chainId, question.to), encodeHex(question.from), encodeHex(question.to)];
      for (const key of grantingKeys(question)) {
        lookups.push([hot, hash.key(key), key.version, ...encodeKeyBetween(key, from, to)]);
        askedBy.push(position);
      }
    }
    const sql = checkManyStatement(dialect, block === null);
    const shared = block === null ? [chainId] : [chainId, block];
    const size = readMany === null ? CHUNK : lookups.length;
    for (let first = 0; first < lookups.length; first += size) {
      const chunk = lookups.slice(first, first + size);
      const filled = () => [
        ...shared,
        ...chunk.flat(),
        ...Array(size - chunk.length)
          .fill(FILLER)
          .flat(),
      ];
      const rows = await (readMany?.(sql, shared, chunk) ?? engine.rows(sql, filled()));
      for (const row of rows) {
        const position = askedBy[first + decodeNumber(row[FOUND.col.position])] as number;
        granting[position]?.push({ amount: decodeAmount(row[FOUND.col.amount]) });
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
