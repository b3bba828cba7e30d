// Checks many questions as of one block in a few statements, and proves afterwards that history did not change meanwhile.

import { type AnyQuestion, answer, faultOfQuestion, grantingKeys, type Question } from '../../registry/check.ts';
import type { Delegation } from '../../registry/delegation.ts';
import { ALL_VERSIONS, hasUnnamedRevocations, type Version } from '../../registry/versions.ts';
import type { Engine, Param } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { findDispute } from '../halt.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeAmount, decodeFlag, decodeHex, decodeNumber, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { decodeDisputes } from '../rows/chain-row.ts';
import { columns } from '../rows/columns.ts';
import type { Store } from '../store.ts';
import { CHUNK, checkManyStatement, encodeLookup, FOUND } from './check-many-statement.ts';
import { historyChanged, requireIndexed } from './refusals.ts';
import { isPairUnsettled, unsettledBy } from './unsettled.ts';

const STATE_SQL = 'SELECT head_number, revision, disputes FROM chain WHERE chain = $1';
const PROOF = columns('first_block', 'head_number', 'revision', 'is_rewritten');
/** $1 is the chain, $2 the block, $3 the revision, $4 its stamp or -1. */
const PROOF_SQL = `SELECT ${PROOF.select({
  first_block: 'c.first_block',
  head_number: 'c.head_number',
  revision: 'c.revision',
  is_rewritten: `EXISTS (SELECT 1 FROM rewrite w WHERE w.chain = $1 AND w.revision > $3 AND w.from_block <= $2)
    OR (NOT EXISTS (SELECT 1 FROM revision v WHERE v.chain = $1 AND v.revision = $3 AND v.stamp = $4) AND $4 >= 0)`,
})} FROM chain c WHERE c.chain = $1`;

const UNSETTLED_VAULTS = `SELECT DISTINCT r.vault ${unsettledBy('$2')}`;
/** $1 is the chain, $2 the block. */
const UNSETTLED_PAIR = `SELECT 1 FROM chain WHERE chain = $1
  AND ${isPairUnsettled({ hot: '$3', from: '$4', to: '$5' }, '$2')}`;

const hasV1 = ({ version }: Question | AnyQuestion) => version === 'any' || hasUnnamedRevocations(version);

/** The part of a delegation that `answer` looks at. */
type Granted = Pick<Delegation, 'amount'>;
type Lookups = Readonly<Record<Version, Param[][]>>;

export function createCheckMany(engine: Engine, hash: IndexHash): Store['checkMany'] {
  const checkMany: Store['checkMany'] = async (chainId, questions, at) => {
    const lookups = encodeLookups(chainId, questions);
    const [[headBefore, revision, disputes] = []] = await engine.rows(STATE_SQL, [chainId]);
    // A replica may be behind, and catch up before the proof.
    if (revision !== undefined && decodeNumber(revision) < (at.seen ?? at.revision))
      throw historyChanged(chainId, at.block);
    const isHead = decodeNumberOrNull(headBefore) === at.block;
    const granting = await readGranting(chainId, lookups, at.block, isHead);
    // Before the proof: a revocation that is settled meanwhile rewrites history.
    const unsettled = await findUnsettled(chainId, questions, at.block);
    const [proof = []] = await engine.rows(PROOF_SQL, [chainId, at.block, at.revision, at.stamp ?? -1]);
    const head = decodeNumberOrNull(proof[PROOF.at.head_number]);
    requireIndexed(chainId, at.block, decodeNumberOrNull(proof[PROOF.at.first_block]), head);
    if (decodeFlag(proof[PROOF.at.is_rewritten])) throw historyChanged(chainId, at.block);
    // A commit came between, perhaps one that a reorg has taken back since. What it ended held at the block, and was closed then.
    if (isHead && decodeNumber(proof[PROOF.at.revision]) !== decodeNumber(revision))
      return checkMany(chainId, questions, at);
    const disputed = decodeDisputes(disputes);
    return questions.map((question, position) =>
      unsettled.has(position) || findDispute(disputed, question)
        ? null
        : answer(question, granting.get(position) ?? []),
    );
  };

  function encodeLookups(chainId: number, questions: readonly (Question | AnyQuestion)[]): Lookups {
    const lookups: Lookups = { 1: [], 2: [] };
    for (const [position, question] of questions.entries()) {
      const fault = faultOfQuestion(question);
      if (fault !== null) throw new StoreError('bad-question', fault);
      const cells = {
        position,
        hot: hash.hot(chainId, question.to),
        from: encodeHex(question.from),
        to: encodeHex(question.to),
      };
      for (const key of grantingKeys(question)) lookups[key.version].push(encodeLookup(cells, hash.key(key), key));
    }
    return lookups;
  }

  /** The delegations that held at the block, by the position of their question. */
  async function readGranting(
    chainId: number,
    lookups: Lookups,
    block: number,
    isHead: boolean,
  ): Promise<ReadonlyMap<number, readonly Granted[]>> {
    const granting = new Map<number, Granted[]>();
    for (const version of ALL_VERSIONS) {
      if (lookups[version].length === 0) continue;
      const statement = checkManyStatement(version, isHead);
      for (const row of await engine.many(statement, [chainId, block], lookups[version], CHUNK)) {
        const position = decodeNumber(row[FOUND.at.position]);
        const granted = { amount: decodeAmount(row[FOUND.at.amount]) };
        const known = granting.get(position);
        if (known === undefined) granting.set(position, [granted]);
        else known.push(granted);
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
    const rows = await engine.rows(UNSETTLED_VAULTS, [chainId, block]);
    const vaults = new Set<string>(rows.map(([vault]) => decodeHex(vault)));
    for (const [position, question] of vaults.size === 0 ? [] : questions.entries()) {
      const { from, to } = question;
      if (!hasV1(question) || !vaults.has(from)) continue;
      const pair = [hash.hot(chainId, to), encodeHex(from), encodeHex(to)];
      if ((await engine.rows(UNSETTLED_PAIR, [chainId, block, ...pair])).length > 0) found.add(position);
    }
    return found;
  }

  return checkMany;
}
