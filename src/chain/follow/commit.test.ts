import { expect, test } from 'bun:test';
import { block, granted } from '../../../test/support/fixtures.ts';
import type { ChainState, CommitInput } from '../../store/store.ts';
import type { Context } from '../compare/context.ts';
import type { Header } from '../rpc/node.ts';
import { createCommit } from './commit.ts';

test('a range that takes several transactions rolls back in the first alone: a later one would remove what it wrote', async () => {
  const batches: CommitInput[] = [];
  let state = { epoch: 1, head: block(105, [], 1) } as unknown as ChainState;
  const context = {
    network: { chainId: 1 },
    get state() {
      return state;
    },
    store: {
      async apply(batch: CommitInput) {
        batches.push(batch);
        return { ...state, head: batch.head };
      },
    },
    async commit(change: (from: ChainState) => Promise<ChainState>) {
      state = await change(state);
      return state;
    },
    onEvent() {},
  } as unknown as Context;
  const [log] = block(101, [granted('ALL')]).logs;
  const busy = (number: number) => ({ ...block(number), logs: Array(15_000).fill(log) });
  const commit = createCommit(context, () => {});
  await commit({ end: block(104) as unknown as Header, blocks: [busy(101), busy(102), busy(103)] }, block(100));
  expect(batches.map(({ rollbackTo, after, head }) => [rollbackTo, after?.number, head.number])).toEqual([
    [100, 105, 101],
    [undefined, 101, 102],
    [undefined, 102, 104],
  ]);
});
