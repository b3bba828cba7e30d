// Reads rows together with the chain's state of the same snapshot. The state is only read again after a new commit.

import type { Engine, Param, Row } from '../engine.ts';
import { notIndexed } from '../errors.ts';
import { decodeNumber } from '../rows/cells.ts';
import { CHAIN, chainDecoder } from '../rows/chain-row.ts';
import { type Cols, columns, type Expressions, ofTable } from '../rows/columns.ts';
import type { BlockRef, ChainState } from '../store.ts';

type StateColumn = 'commit_id' | (typeof CHAIN.names)[number];

/** The columns of the chain's own row, in a statement that reads it as `c`. The commit id is unique to one commit. */
export const STATE: Readonly<Record<StateColumn, string>> = {
  commit_id: 'c.commits + c.stamp',
  ...ofTable('c', CHAIN.names),
};

/** A statement whose first row is the chain's. */
export interface StateStatement<Name extends string> {
  readonly col: Cols<Name>;
  /** Returns the commit id and the named columns. */
  readonly sql: string;
  /** Returns the chain's state too. */
  readonly sqlWithState: string;
  decodeCommit(row: Row): number;
  /** Decodes a row of `sqlWithState`. */
  decodeState(row: Row): ChainState;
}

/** `build` selects the chain's row by `STATE`, whether or not the state is part of the result. */
export function stateStatement<const Name extends string>(
  names: readonly Name[],
  build: (select: (expressions: Expressions<Name | StateColumn>) => string) => string,
): StateStatement<Name> {
  const short = columns<Name | 'commit_id'>('commit_id', ...names);
  // The state comes last, so every other column has the same position in both.
  const long = columns<Name | StateColumn>('commit_id', ...names, ...CHAIN.names);
  const { col } = short;
  return {
    col,
    sql: build(short.select),
    sqlWithState: build(long.select),
    decodeCommit: (row) => decodeNumber(row[col.commit_id]),
    decodeState: chainDecoder(long.col),
  };
}

export interface RowsWithState {
  readonly rows: Row[];
  readonly state: ChainState;
  readonly head: BlockRef;
}

export type StateReader = (
  chainId: number,
  statement: StateStatement<string>,
  params: readonly Param[],
) => Promise<RowsWithState>;

interface KnownState {
  readonly commit: number;
  readonly state: ChainState;
}

export function createStateReader(engine: Engine): StateReader {
  /** Each chain's state at its newest known commit. */
  const known = new Map<number, KnownState>();
  return async (chainId, statement, params) => {
    let rows = await engine.rows(statement.sql, params);
    let newest = known.get(chainId);
    if (rows[0] !== undefined && statement.decodeCommit(rows[0]) !== newest?.commit) {
      rows = await engine.rows(statement.sqlWithState, params);
      newest = rows[0] && { commit: statement.decodeCommit(rows[0]), state: statement.decodeState(rows[0]) };
      if (newest !== undefined) known.set(chainId, newest);
    }
    if (rows[0] === undefined || newest === undefined || newest.state.head === null) throw notIndexed(chainId);
    return { rows, state: newest.state, head: newest.state.head };
  };
}

export interface RowsWithStates {
  /** Without those of the chains. */
  readonly rows: Row[];
  /** The state of each chain that is in the store. */
  readonly states: ReadonlyMap<number, ChainState>;
}

/** The same for a statement that returns the rows of several chains among others, which have no commit id. */
export function createStatesReader(
  statement: StateStatement<string>,
  decodeChainId: (row: Row) => number,
): (read: (sql: string) => Promise<Row[]>) => Promise<RowsWithStates> {
  const known = new Map<number, KnownState>();
  const isChain = (row: Row) => row[statement.col['commit_id'] as number] !== null;
  return async (read) => {
    let all = await read(statement.sql);
    const isKnown = (row: Row) => statement.decodeCommit(row) === known.get(decodeChainId(row))?.commit;
    if (!all.every((row) => !isChain(row) || isKnown(row))) {
      all = await read(statement.sqlWithState);
      for (const row of all.filter(isChain))
        known.set(decodeChainId(row), { commit: statement.decodeCommit(row), state: statement.decodeState(row) });
    }
    const states = new Map<number, ChainState>();
    const rows: Row[] = [];
    for (const row of all) {
      if (!isChain(row)) rows.push(row);
      else states.set(decodeChainId(row), (known.get(decodeChainId(row)) as KnownState).state);
    }
    return { rows, states };
  };
}
