import { expect, test } from 'bun:test';
import { createHeadReads } from './pinned.ts';

test('a page as of the head is read once, and a second time only if the head has moved on since the last read', async () => {
  const readAtHead = createHeadReads();
  const readsOf = async (block: number, head: number) => {
    const reads: ('open spans' | 'all spans')[] = [];
    await readAtHead(1, block, async (isHead) => {
      reads.push(isHead ? 'open spans' : 'all spans');
      return { head };
    });
    return reads;
  };
  expect(await readsOf(100, 100)).toEqual(['open spans']);
  expect(await readsOf(100, 101)).toEqual(['open spans', 'all spans']);
  expect(await readsOf(100, 101)).toEqual(['all spans']);
  expect(await readsOf(101, 101)).toEqual(['open spans']);
});
