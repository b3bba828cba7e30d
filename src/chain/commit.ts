// Writes what was read on top of what we and the chain have in common.

import type { Batch, BlockInput, BlockRef } from '../store/store.ts';
import type { FollowerContext } from './context.ts';
import type { Header } from './node.ts';

export type Ancestor = Pick<BlockRef, 'number'> & { readonly hash: BlockRef['hash'] | null };

/** Consecutive blocks that were read: those with logs, and the last one. */
export interface BlockRange {
  readonly end: Header;
  readonly blocks: readonly BlockInput[];
}

/** What we had above the base goes with the first part. */
export type Commit = (stretch: BlockRange, base: Ancestor, isVerified?: boolean) => Promise<void>;

/** A commit holds no more logs than this, so that others have a turn; a fourth of it would be a third slower. */
const MOST_LOGS = 20_000;

export function createCommit(context: FollowerContext, onLogs: (count: number, hasUnnamed: boolean) => void): Commit {
  const { network, store, onEvent } = context;
  const { chainId } = network;

  return async ({ end, blocks }, base, isVerified = false) => {
    const before = context.state;
    if (before === null) return;
    const rollback = before.head !== null && base.number < before.head.number ? { rollbackTo: base.number } : {};
    const parts = partsOf(blocks);
    for (const [position, part] of parts.entries()) {
      const last = position === parts.length - 1 ? end : (part.at(-1) as BlockRef);
      const head = { number: last.number, hash: last.hash, timestamp: last.timestamp };
      await context.commit((state) => {
        const batch: Batch = {
          chainId,
          epoch: state.epoch,
          after: state.head,
          blocks: part,
          head,
          ...(position === 0 ? rollback : {}),
          ...(isVerified ? { verified: head.number } : {}),
        };
        return store.apply(batch);
      });
      const logs = part.flatMap((block) => block.logs);
      onLogs(
        logs.length,
        'rollbackTo' in rollback || logs.some(({ event, revoked }) => event.type === 'unknownRevoked' && !revoked),
      );
    }
    if ('rollbackTo' in rollback) onEvent({ type: 'reorg', from: before.head?.number ?? 0, to: base.number });
  };
}

/** Whole blocks, so many that no part holds more logs than a commit should. There is always one part. */
function partsOf(blocks: readonly BlockInput[]): BlockInput[][] {
  const parts: BlockInput[][] = [[]];
  let logs = 0;
  for (const block of blocks) {
    if (logs > 0 && logs + block.logs.length > MOST_LOGS) {
      parts.push([]);
      logs = 0;
    }
    parts.at(-1)?.push(block);
    logs += block.logs.length;
  }
  return parts;
}
