// Many questions as of one block: a few hundred keys a statement, and afterwards the proof that history did not change
// meanwhile.

import { answer, faultOfQuestion, grantingKeys, type Question } from '../registry/check.ts';
import type { Delegation } from '../registry/delegation.ts';
import type { Version } from '../registry/versions.ts';
import { amountOf, bytesOf, cellsBetween, hexOf, numberOf } from './encoding.ts';
import type { BulkStatement, Engine, Param } from './engine.ts';
import { StoreError } from './errors.ts';
import type { IndexHash } from './index-hash.ts';
import { isUnsettled, unsettledVaults } from './queries.ts';
import { requireIndexed } from './read.ts';
import type { ListQuery } from './store.ts';
import { type Columns, KEY_COLUMNS } from './tables.ts';

/** How many keys SQLite is asked for in one statement. */
const KEYS = 256;
/** What a key's row has: the question's position, the short forms, and the columns of the key. */
const COLUMNS: Columns = {
  position: 'bigint',
  cold: 'bigint',
  hot: 'bigint',
  key: 'bigint',
  ...KEY_COLUMNS,
};
const NAMES = Object.keys(COLUMNS);
const WIDTH = NAMES.length;
/** Of no key: fills a statement up to its size. */
const NOTHING: Param[] = NAMES.map((_, column) => (column < 5 ? -1 : new Uint8Array(0)));

const same = (span: string) =>
  NAMES.slice(1)
    .map((name) => `${span}.${name} = q.${name}`)
    .join(' AND ');

/** $1 chain, $2 block, and behind them the rows. Each gives the position and amount of what held at the block. */
export function statement(version: Version, isHead: boolean): BulkStatement {
  const of = (span: string) =>
    `${same(span)} AND ${span}.key >= 0 AND ${span}.chain = $1 AND ${span}.version = ${version}`;
  const rows = Array.from({ length: KEYS }, (_, row) => {
    return `(${NAMES.map((_, column) => `$${3 + row * WIDTH + column}`).join(', ')})`;
  });
  const open = `SELECT q.position, s.amount FROM q CROSS JOIN span s INDEXED BY span_open_pair
    WHERE ${of('s')} AND s.until_block IS NULL AND s.since_block <= $2`;
  // As in a single check: of the closed spans only the first to end after the block can hold at it.
  const ended = (span: string, what: string) => `SELECT ${what} FROM span ${span} INDEXED BY span_closed_pair
    WHERE ${of(span)} AND ${span}.until_block > $2 AND ${span}.since_block < ${span}.until_block ORDER BY ${span}.until_block LIMIT 1`;
  const closed = `SELECT q.position, s.amount FROM q CROSS JOIN span s
    WHERE s.rowid = (${ended('e', 'e.rowid')}) AND s.since_block <= $2`;
  const arrays = Object.values(COLUMNS).map((type, column) => `$${3 + column}::${type}[]`);
  return {
    sqlite: `WITH q (${NAMES.join(', ')}) AS (VALUES ${rows.join(', ')}) ${isHead ? open : `${open} UNION ALL ${closed}`}`,
    postgres: `SELECT q.position, h.amount FROM unnest(${arrays.join(', ')}) AS q (${NAMES.join(', ')})
      CROSS JOIN LATERAL (
        (SELECT s.amount FROM span s WHERE ${of('s')} AND s.until_block IS NULL AND s.since_block <= $2 LIMIT 1)
        UNION ALL
        (SELECT amount FROM (${ended('e', 'e.amount, e.since_block').replace(/ INDEXED BY \w+/, '')}) AS f
          WHERE f.since_block <= $2)) AS h`,
  };
}

const STATEMENTS = new Map<string, BulkStatement>();
function statementOf(version: Version, isHead: boolean): BulkStatement {
  const name = `${version} ${isHead}`;
  const known = STATEMENTS.get(name) ?? statement(version, isHead);
  STATEMENTS.set(name, known);
  return known;
}

/** The chain's first block, head, and whether the revision still stands. */
const AFTERWARDS = `SELECT c.first_block, c.head_number,
    EXISTS (SELECT 1 FROM rewrite w WHERE w.chain = $1 AND w.revision > $3 AND w.from_block <= $2)
  FROM chain c WHERE c.chain = $1`;
const UNSETTLED_VAULTS = unsettledVaults('$2');
/** $1 chain, $2 block, $3 hot, $4 from, $5 to */
const UNSETTLED_PAIR = `SELECT 1 FROM chain WHERE chain = $1
  AND ${isUnsettled({ from: '$4', to: '$5', hot: '$3' }, '$2')}`;

/** Only what `answer` looks at. */
type Granted = Pick<Delegation, 'amount'>;

export function createCheckMany(engine: Engine, short: IndexHash) {
  const checkMany = async (
    chainId: number,
    questions: readonly Question[],
    at: ListQuery['at'],
  ): Promise<(boolean | bigint | null)[]> => {
    const rows: Record<Version, Param[][]> = { 1: [], 2: [] };
    for (const [position, question] of questions.entries()) {
      const fault = faultOfQuestion(question);
      if (fault !== null) throw new StoreError('bad-question', fault);
      const [cold, hot] = [short.cold(chainId, question.from), short.hot(chainId, question.to)];
      const [from, to] = [bytesOf(question.from), bytesOf(question.to)];
      for (const key of grantingKeys(question)) {
        rows[question.version].push([position, cold, hot, short.key(key), ...cellsBetween(key, from, to)]);
      }
    }
    const [before] = await engine.rows('SELECT head_number FROM chain WHERE chain = $1', [chainId]);
    const isHead = numberOf(before?.[0] ?? -1) === at.block;
    const granting = await read(chainId, rows, at.block, isHead);
    // Before the proof: what is settled meanwhile is a rewrite.
    const unsettled = await unsettledAmong(chainId, questions, at.block);
    const [state = []] = await engine.rows(AFTERWARDS, [chainId, at.block, at.revision]);
    const [first, head] = [state[0] ?? null, state[1] ?? null].map((cell) => (cell === null ? null : numberOf(cell)));
    requireIndexed(chainId, at.block, first ?? null, head ?? null);
    if (Number(state[2]) !== 0) {
      throw new StoreError('rewritten', `Chain ${chainId}: history up to block ${at.block} has changed since.`);
    }
    // A commit came between: what it ended held at the block, and is among the closed ones now. Those never open again
    // without a rewrite.
    if (isHead && head !== at.block) return checkMany(chainId, questions, at);
    return questions.map((question, position) =>
      unsettled.has(position) ? null : answer(question, granting.get(position) ?? []),
    );
  };

  /** The positions of the questions that a revocation which is not settled keeps from being answered. */
  async function unsettledAmong(chainId: number, questions: readonly Question[], block: number): Promise<Set<number>> {
    const found = new Set<number>();
    if (!questions.some(({ version }) => version === 1)) return found;
    const rows = await engine.rows(UNSETTLED_VAULTS, [chainId, block]);
    const vaults = new Set<string>(rows.map(([vault]) => hexOf(vault)));
    for (const [position, { version, from, to }] of vaults.size === 0 ? [] : questions.entries()) {
      if (version !== 1 || !vaults.has(from)) continue;
      const pair = [short.hot(chainId, to), bytesOf(from), bytesOf(to)];
      if ((await engine.rows(UNSETTLED_PAIR, [chainId, block, ...pair])).length > 0) found.add(position);
    }
    return found;
  }

  async function read(chainId: number, rows: Record<Version, Param[][]>, block: number, isHead: boolean) {
    const granting = new Map<number, Granted[]>();
    for (const version of [1, 2] as const) {
      if (rows[version].length === 0) continue;
      const found = await engine.many(statementOf(version, isHead), [chainId, block], rows[version], {
        size: KEYS,
        filler: NOTHING,
      });
      for (const [position, amount] of found) {
        const place = numberOf(position);
        const known = granting.get(place);
        const granted = { amount: amountOf(amount) };
        if (known === undefined) granting.set(place, [granted]);
        else known.push(granted);
      }
    }
    return granting;
  }

  return checkMany;
}
