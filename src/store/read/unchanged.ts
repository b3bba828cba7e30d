// Reads in several statements as of one block, and proves afterwards that history did not change meanwhile.

import type { Engine, Row } from '../engine.ts';
import { decodeNumber } from '../rows/cells.ts';
import { columns, type Expressions, namesOf } from '../rows/columns.ts';
import type { ListQuery } from '../store.ts';
import { encodePinned, PINNED_NAMES, pinnedColumns, pinnedRequirement } from './pinned.ts';

/** `more` are columns of the chain's row `c`, which is given to what reads. As of the head, closed spans need not be read. */
export function createUnchanged<const Name extends string>(engine: Engine, more: Expressions<Name>) {
  const STATE = columns<(typeof PINNED_NAMES)[number] | 'revision' | Name>(
    ...PINNED_NAMES,
    'revision',
    ...namesOf(more),
  );
  const expressions: Expressions<string> = { ...pinnedColumns(null), revision: 'c.revision', ...more };
  const sql = `SELECT ${STATE.select(expressions as Parameters<typeof STATE.select>[0])} FROM chain c WHERE c.chain = $1`;
  const requirePinned = pinnedRequirement(STATE.col);
  async function readUnchanged<T>(
    chainId: number,
    pinned: ListQuery['at'],
    read: (isHead: boolean, state: Row) => Promise<T>,
  ): Promise<T> {
    const readState = async () => {
      const [state = []] = await engine.rows(sql, encodePinned(chainId, pinned));
      requirePinned(chainId, pinned.block, state);
      return { state, revision: decodeNumber(state[STATE.col.revision]) };
    };
    const before = await readState();
    const isHead = decodeNumber(before.state[STATE.col.head_number]) === pinned.block;
    const found = await read(isHead, before.state);
    const { revision } = await readState();
    // A commit came between, perhaps one that a reorg has taken back since. What it ended held at the block, and was closed then.
    return isHead && revision !== before.revision ? readUnchanged(chainId, pinned, read) : found;
  }
  return { col: STATE.col, readUnchanged };
}
