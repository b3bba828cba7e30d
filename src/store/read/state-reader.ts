// Reads rows together with the chain's state of the same snapshot. The state is only read again after a new commit.

import type { Awaitable, Engine, Param, Row } from '../engine.ts';
import { notIndexed } from '../errors.ts';
import { decodeNumberOrNull } from '../rows/cells.ts';
import { CHAIN, chainDecoder } from '../rows/chain-row.ts';
import { columns, type Expressions, ofTable } from '../rows/columns.ts';
import type { ChainState } from '../store.ts';
import { othersOfTurn } from '../turns.ts';

type StateColumn = 'commit_id' | (typeof CHAIN.names)[number];

/** The columns of the chain's own row, in a statement that reads it as `c`. The commit id is unique to one commit. */
export const STATE: Readonly<Record<StateColumn, string>> = {
  commit_id: 'c.commits + c.stamp',
  ...ofTable('c', CHAIN.names),
};

/** A statement whose first row is the chain's. */
export type StateStatement<Name extends string> = ReturnType<typeof stateStatement<Name>>;

/** `build` selects the chain's row by `STATE`, whether or not the state is part of the result. */
export function stateStatement<const Name extends string>(
  names: readonly Name[],
  build: (select: (expressions: Expressions<Name | StateColumn>) => string) => string,
) {
  const short = columns<Name | 'commit_id'>('commit_id', ...names);
  // The state comes last, so every other column has the same position in both.
  const long = columns<Name | StateColumn>('commit_id', ...names, ...CHAIN.names);
  const { col } = short;
  return {
    col,
    /** Returns the commit id and the named columns. */
    sql: build(short.select),
    /** Returns the chain's state too. */
    sqlWithState: build(long.select),
    /** Null for a row that is not a chain's. */
    decodeCommit: (row: Row) => decodeNumberOrNull(row[col.commit_id]),
    /** Decodes a row of `sqlWithState`. */
    decodeState: chainDecoder(long.col),
  };
}

export type StateReader = ReturnType<typeof createStateReader>;

export function createStateReader(engine: Engine) {
  /** Each chain's state at its newest known commit. */
  const known = new Map<number, { readonly commit: number; readonly state: ChainState }>();
  /** Of a row whose commit is known, or that has the state. */
  function stateOf(chainId: number, statement: StateStatement<string>, row: Row): ChainState {
    const commit = statement.decodeCommit(row) as number;
    const last = known.get(chainId);
    if (last?.commit === commit) return last.state;
    const state = statement.decodeState(row);
    known.set(chainId, { commit, state });
    return state;
  }

  /** For a statement that returns the rows of several chains among others. `chainOf` names the chain of such a row. */
  async function many(
    statement: StateStatement<string>,
    read: (sql: string) => Awaitable<Row[]>,
    chainOf: (row: Row) => number,
  ) {
    const isNew = (row: Row) => {
      const commit = statement.decodeCommit(row);
      return commit !== null && commit !== known.get(chainOf(row))?.commit;
    };
    let rows = await read(statement.sql);
    if (rows.some(isNew)) rows = await read(statement.sqlWithState);
    const states = new Map<number, ChainState>();
    for (const row of rows)
      if (statement.decodeCommit(row) !== null) states.set(chainOf(row), stateOf(chainOf(row), statement, row));
    return { rows, states };
  }
  return {
    many,
    async one(chainId: number, statement: StateStatement<string>, params: readonly Param[]) {
      await othersOfTurn;
      let rows = await engine.rows(statement.sql, params);
      if (rows[0] !== undefined && statement.decodeCommit(rows[0]) !== known.get(chainId)?.commit)
        rows = await engine.rows(statement.sqlWithState, params);
      const state = rows[0] && stateOf(chainId, statement, rows[0]);
      if (!state?.head) throw notIndexed(chainId);
      return { rows, state, head: state.head };
    },
  };
}
