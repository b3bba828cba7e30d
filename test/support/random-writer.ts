// Writes random blocks and reorgs to a store, and remembers what is true at each block that is or was the head.

import fc from 'fast-check';
import type { Address, Bytes32 } from '../../src/registry/delegation.ts';
import type { BlockRef, Store } from '../../src/store/store.ts';
import { hash } from './fixtures.ts';
import { anyStep, eventOfCall, type HistoryBlock } from './histories.ts';
import { createModel, type Model } from './model.ts';

/** Random blocks, in place of the last `depth` ones. */
export const stepsOf = (many: number, seed: number) =>
  fc.sample(anyStep, { numRuns: many, seed }).flatMap((step) => {
    if (step.type === 'append') return [{ depth: 0, blocks: step.blocks }];
    return step.type === 'reorg' ? [{ depth: step.depth, blocks: step.blocks }] : [];
  });

/** `truths` is the model at every block that was ever the head, by hash: it is there before the commit. */
export async function createWriter(store: Store, chainId: number, truths: Map<Bytes32, Model>) {
  const { epoch } = await store.claim(chainId, 1);
  let history: (BlockRef & Pick<HistoryBlock, 'calls'>)[] = [];
  let head: BlockRef | null = null;
  let hashes = 0;
  return async (depth: number, blocks: readonly HistoryBlock[]) => {
    const kept = history.slice(0, Math.max(1, history.length - depth));
    const rollback = depth > 0 && kept.length > 0 ? { rollbackTo: kept.at(-1)?.number ?? 0 } : {};
    if (depth > 0) history = kept;
    const added = blocks.map(({ gap, seconds, calls }) => {
      const last = history.at(-1);
      const own = { number: (last?.number ?? 0) + gap, timestamp: (last?.timestamp ?? 1e9) + seconds };
      const one = { ...own, hash: hash(++hashes, chainId), calls };
      history.push(one);
      return one;
    });
    const { number, timestamp, hash: own } = history.at(-1) as BlockRef;
    const newHead = { number, timestamp, hash: own };
    const model = createModel();
    for (const { calls } of history) for (const { call } of calls) model.call(call);
    // The newest is the last.
    truths.delete(newHead.hash);
    truths.set(newHead.hash, model);
    const inputs = added.map(({ calls, ...ref }) => ({
      ...ref,
      logs: calls.map(({ call }, logIndex) => {
        const delegate = (call[2] === 'revokeSelf' ? call[1] : call[3][0]) as Address;
        const event = eventOfCall(call);
        const log = { logIndex, transactionHash: hash(logIndex), event };
        return event.type === 'unknownRevoked' ? { ...log, revoked: delegate } : log;
      }),
    }));
    await store.apply({ chainId, epoch, after: head, blocks: inputs, head: newHead, ...rollback });
    head = newHead;
  };
}
