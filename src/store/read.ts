// Everything that is asked of the store. Each question is one statement, so each answer is of one snapshot.

import { faultOfQuestion, grantingKeys, type Question } from '../registry/check.ts';
import {
  type Address,
  type Delegation,
  type DelegationKey,
  isAddress,
  sameDelegation,
} from '../registry/delegation.ts';
import { CHAIN_COLUMNS, chainStateOf } from './chain-state.ts';
import { createCheckMany } from './check-many.ts';
import { amountOf, bytesOf, eventOf, hexOf, keyCells, keyOf, numberOf, numberOrNull } from './encoding.ts';
import type { Engine, Param, Row } from './engine.ts';
import { StoreError } from './errors.ts';
import type { IndexHash } from './index-hash.ts';
import { BLOCK_AT_SQL, checkAtSql, checkNowSql, listSql, PIN_SQL, withState } from './queries.ts';
import { createRevocationReads } from './read-revocations.ts';
import type {
  AnswerBlock,
  BlockRef,
  ChainState,
  CheckResult,
  DetailedDelegation,
  HeldDelegation,
  ListPage,
  ListQuery,
  Store,
} from './store.ts';
import { LOG_COLUMNS } from './tables.ts';

type Reads = Omit<
  Store,
  | 'id'
  | 'notices'
  | 'claim'
  | 'apply'
  | 'report'
  | 'repair'
  | 'retime'
  | 'settle'
  | 'unsettle'
  | 'rebuild'
  | 'lease'
  | 'release'
  | 'close'
>;

export function createReads(engine: Engine, short: IndexHash): Reads {
  // What each chain's row said at its newest known commit.
  const known = new Map<number, { readonly commit: number; readonly state: ChainState }>();

  async function stateOf(chainId: number): Promise<ChainState | null> {
    const [row] = await engine.rows(`SELECT ${CHAIN_COLUMNS.join()} FROM chain WHERE chain = $1`, [chainId]);
    return row === undefined ? null : chainStateOf(row);
  }

  /**
   * Reads rows and the chain's state of the same commit. The first row's first cell tells which commit that is: where it is
   * a new one, the statement is asked again together with the state.
   */
  async function rowsWithState(chainId: number, sql: string, params: readonly Param[]) {
    let rows = await engine.rows(sql, params);
    let newest = known.get(chainId);
    if (rows[0] !== undefined && numberOf(rows[0][0]) !== newest?.commit) {
      rows = await engine.rows(withState(sql), params);
      newest = rows[0] && {
        commit: numberOf(rows[0][0]),
        state: chainStateOf(rows[0].slice(-CHAIN_COLUMNS.length)),
      };
      if (newest !== undefined) known.set(chainId, newest);
    }
    if (rows[0] === undefined || newest === undefined || newest.state.head === null) {
      throw notStarted(chainId);
    }
    return { rows, state: newest.state, head: newest.state.head };
  }

  async function checkNow<D extends HeldDelegation>(
    chainId: number,
    question: Question,
    since: Since<D>,
  ): Promise<CheckResult<D>> {
    const keys = grantingKeys(question);
    const cells: Param[] = [chainId];
    if (keys.length > 0) cells.push(short.cold(chainId, question.from), short.hot(chainId, question.to));
    for (const key of keys) cells.push(short.key(key));
    if (question.version === 1) cells.push(bytesOf(question.from), bytesOf(question.to));
    const sql = checkNowSql(question.version, since.detailed, keys.length);
    const { rows, state, head } = await rowsWithState(chainId, sql, cells);
    if (isTrue(rows[0]?.[1])) throw unread(question.from);
    // The first row is the chain's own.
    const found = rows.slice(1).map((row) => heldOf(keyOf(question.version, row, 2), row, 8, since));
    const granting = found.length === 0 ? [] : keys.flatMap((key) => found.filter((held) => sameDelegation(key, held)));
    return { chain: state, block: head, granting };
  }

  async function checkAt<D extends HeldDelegation>(
    chainId: number,
    question: Question,
    block: number,
    since: Since<D>,
  ): Promise<CheckResult<D>> {
    const { version, from, to } = question;
    const keys = grantingKeys(question);
    const cells: Param[] = [
      chainId,
      short.cold(chainId, from),
      short.hot(chainId, to),
      bytesOf(from),
      bytesOf(to),
      block,
    ];
    for (const key of keys) {
      const [kind, , , contract, tokenId, rights] = keyCells(key);
      cells.push(short.key(key), kind, contract, tokenId, rights);
    }
    const sql = checkAtSql(version, since.detailed, keys.length);
    const { rows, state, head } = await rowsWithState(chainId, sql, cells);
    requireIndexed(chainId, block, state.firstBlock, head.number);
    const moment = momentOf(block, rows[0], 2);
    if (isTrue(rows[0]?.[1])) throw unread(from);
    const granting: D[] = [];
    for (const row of rows) {
      const key = row[4] === null ? undefined : keys[numberOf(row[4])];
      if (key !== undefined) granting.push(heldOf(key, row, 5, since));
    }
    return { chain: state, block: moment, granting };
  }

  async function check<D extends HeldDelegation>(chainId: number, question: Question, since: Since<D>, block?: number) {
    const fault = faultOfQuestion(question) ?? faultOfBlock(block ?? 0);
    if (fault !== null) throw new StoreError('bad-question', fault);
    return block === undefined ? checkNow(chainId, question, since) : checkAt(chainId, question, block, since);
  }

  async function list<D extends HeldDelegation>(query: ListQuery, since: Since<D>): Promise<ListPage<D>> {
    const { chainId, version, wallet, direction, at, after, limit, matches } = query;
    const fault = isAddress(wallet) ? faultOfBlock(at.block) : `wallet ${wallet} is not a lower-case address`;
    if (fault !== null) throw new StoreError('bad-question', fault);
    if (!Number.isSafeInteger(limit) || limit < 1)
      throw new StoreError('bad-question', `limit ${limit} is not 1 or more`);
    const rows = await engine.rows(listSql(version, since.detailed, direction), [
      chainId,
      version,
      bytesOf(wallet),
      at.block,
      at.revision,
      after?.block ?? -1,
      after?.logIndex ?? -1,
      limit,
      at.seen ?? at.revision,
      at.stamp ?? -1,
      ...(direction === 'incoming' ? [] : [short.cold(chainId, wallet)]),
      ...(direction === 'outgoing' ? [] : [short.hot(chainId, wallet)]),
    ]);
    const [first = [], ...found] = rows;
    if (isTrue(first[2])) {
      throw new StoreError('rewritten', `Chain ${chainId}: history up to block ${at.block} has changed since.`);
    }
    requireIndexed(chainId, at.block, numberOrNull(first[0] ?? null), numberOrNull(first[1] ?? null));
    if (first[3] !== null && first[3] !== undefined) throw unread(hexOf(first[3]));
    const delegations: D[] = [];
    for (const row of found) {
      if (row[4] !== null && numberOf(row[4]) <= at.block) continue;
      const delegation = heldOf(keyOf(version, row, 5), row, 11, since);
      if (matches === undefined || matches(delegation)) delegations.push(delegation);
    }
    const last = found.length < limit ? undefined : found.at(-1);
    return { delegations, next: last ? { block: numberOf(last[12]), logIndex: numberOf(last[13]) } : null };
  }

  return {
    chain: stateOf,
    chains: async () =>
      (await engine.rows(`SELECT ${CHAIN_COLUMNS.join()} FROM chain ORDER BY chain`, [])).map(chainStateOf),
    async pin(chainId, block) {
      const [row] = await engine.rows(PIN_SQL, [chainId, block ?? -1]);
      const state = row && chainStateOf(row);
      if (state?.head == null) throw notStarted(chainId);
      const stamp = numberOf(row?.[CHAIN_COLUMNS.length]);
      const moment = block === undefined ? state.head : momentOf(block, row, CHAIN_COLUMNS.length + 1);
      return { chain: state, stamp, block: moment };
    },
    check: (chainId, question, block) => check(chainId, question, PLAIN, block),
    explain: (chainId, question, block) => check(chainId, question, DETAILED, block),
    checkMany: createCheckMany(engine, short),
    list: (query) => list(query, PLAIN),
    listDetailed: (query) => list(query, DETAILED),

    async blockAt(chainId, timestamp) {
      const { rows, head } = await rowsWithState(chainId, BLOCK_AT_SQL, [chainId, timestamp]);
      // Until a later time is seen, one more block may still carry this one.
      if (timestamp >= head.timestamp) {
        throw new StoreError('beyond-head', `Chain ${chainId} is indexed up to the time ${head.timestamp}.`);
      }
      const [, number, hash, time, next] = rows[0] ?? [];
      if (number === null) throw new StoreError('before-first', `Chain ${chainId} is not indexed that far back.`);
      return { number: numberOf(number), hash: hexOf(hash), timestamp: numberOf(time), next: numberOf(next) };
    },

    async newestBlock(chainId, atMost) {
      const [row] = await engine.rows(
        'SELECT number, hash, timestamp FROM block WHERE chain = $1 AND number <= $2 ORDER BY number DESC LIMIT 1',
        [chainId, atMost],
      );
      return row === undefined ? null : blockOf(row, 0);
    },

    async blocks(chainId, { from, to }) {
      const rows = await engine.rows(
        'SELECT number, hash, timestamp FROM block WHERE chain = $1 AND number >= $2 AND number <= $3 ORDER BY number',
        [chainId, from, to],
      );
      return rows.map((row) => blockOf(row, 0));
    },

    async logs(chainId, { from, to, after, limit }) {
      const columns = Object.keys(LOG_COLUMNS).map((name) => `l.${name}`);
      const rows = await engine.rows(
        `SELECT b.number, b.hash, b.timestamp, ${columns.join(', ')}
          FROM log l JOIN block b ON b.chain = l.chain AND b.number = l.block
          WHERE l.chain = $1 AND l.block >= $2 AND l.block <= $3 AND (l.block, l.log_index) > ($4, $5)
          ORDER BY l.block, l.log_index LIMIT $6`,
        [chainId, from, to, after?.block ?? -1, after?.logIndex ?? -1, limit],
      );
      return rows.map((row) => ({
        block: blockOf(row, 0),
        logIndex: numberOf(row[4]),
        event: eventOf(row, 5),
        transactionHash: hexOf(row[13]),
        revoked: row[14] === null ? null : hexOf(row[14]),
      }));
    },

    async size() {
      const [row] = await engine.rows(engine.dialect.size, []);
      return numberOf(row?.[0]);
    },

    ...createRevocationReads(engine, short),

    async uncheckedTimes(chainId, { from, to, limit }) {
      const rows = await engine.rows(
        `SELECT number, hash, timestamp FROM block INDEXED BY block_log_time
          WHERE chain = $1 AND number >= $2 AND number <= $3 AND log_time = 1 ORDER BY number LIMIT $4`,
        [chainId, from, to, limit],
      );
      return rows.map((row) => blockOf(row, 0));
    },
  };
}

export const blockOf = (row: Row, at: number): BlockRef => ({
  number: numberOf(row[at]),
  hash: hexOf(row[at + 1]),
  timestamp: numberOf(row[at + 2]),
});

const isTrue = (cell: Row[number]) => cell !== null && cell !== undefined && Number(cell) !== 0;

/** How much of `since` is read: the log's position, or its block's time and its transaction too. */
interface Since<D extends HeldDelegation> {
  readonly detailed: boolean;
  held(delegation: Delegation, row: Row, at: number): D;
}

const PLAIN: Since<HeldDelegation> = {
  detailed: false,
  held: (delegation, row, at) => ({
    ...delegation,
    since: { block: numberOf(row[at]), logIndex: numberOf(row[at + 1]) },
  }),
};
const DETAILED: Since<DetailedDelegation> = {
  detailed: true,
  held: (delegation, row, at) => ({
    ...delegation,
    since: {
      block: numberOf(row[at]),
      logIndex: numberOf(row[at + 1]),
      timestamp: numberOf(row[at + 2]),
      transactionHash: hexOf(row[at + 3]),
    },
  }),
};

/** `at` is the cell of the amount; that of `since` and what belongs to it follow. */
const heldOf = <D extends HeldDelegation>(key: DelegationKey, row: Row, at: number, since: Since<D>): D =>
  since.held({ ...key, amount: amountOf(row[at]) }, row, at + 1);

const faultOfBlock = (block: number) => (Number.isSafeInteger(block) ? null : `block ${block} is not a whole number`);

export function requireIndexed(chainId: number, block: number, first: number | null, head: number | null): void {
  if (first === null || head === null) throw notStarted(chainId);
  if (block > head) throw new StoreError('beyond-head', `Chain ${chainId} is indexed up to block ${head}.`);
  if (block < first) throw new StoreError('before-first', `Chain ${chainId} is indexed from block ${first} on.`);
}

/** `at` is the cell of the hash, which is empty where the block is not kept. */
const momentOf = (number: number, row: Row | undefined, at: number): AnswerBlock => ({
  number,
  hash: row?.[at] == null ? null : hexOf(row[at]),
  timestamp: numberOrNull(row?.[at + 1] ?? null),
});

const notStarted = (chainId: number) =>
  new StoreError('not-started', `Chain ${chainId} is not indexed yet.`, { chainId });

const unread = (vault: Address) =>
  new StoreError('revocation-unread', `A revocation of ${vault} could not be read from the registry at its block.`, {
    vault,
  });
