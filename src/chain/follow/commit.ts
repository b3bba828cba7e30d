// Commits a range of blocks on top of a common ancestor, and rolls back what the index had above it.

import type { BlockInput, BlockRef, CommitInput } from '../../store/store.ts';
import { splitBlocks } from '../../store/write/apply.ts';
import type { Context } from '../compare/context.ts';
import type { Header } from '../rpc/node.ts';

/** The newest block that the index and the chain have in common. Its hash is null before the first block. */
export type Ancestor = Pick<BlockRef, 'number'> & { readonly hash: BlockRef['hash'] | null };

/** Consecutive blocks: those with logs, and the last one. */
export interface BlockRange {
  readonly end: Header;
  readonly blocks: readonly BlockInput[];
  /** Its logs are still to be proven before they are served. Without it, that stays as it was. */
  readonly isProving?: boolean;
}

/** The rollback is part of the first transaction. */
export type Commit = (range: BlockRange, ancestor: Ancestor, isVerified?: boolean) => Promise<void>;

/** Logs per transaction, so that other writers get a turn. A quarter of this is a third slower. */
const MAX_LOGS = 20_000;

export function createCommit(context: Context, onLogs: (count: number, mayHaveRevocations: boolean) => void): Commit {
  const { network, store, onEvent } = context;
  const { chainId } = network;

  return async ({ end, blocks, isProving }, ancestor, isVerified = false) => {
    const before = context.state;
    if (before === null) return;
    const rollback =
      before.head !== null && ancestor.number < before.head.number ? { rollbackTo: ancestor.number } : {};
    const parts = splitBlocks(blocks, MAX_LOGS);
    for (const [position, part] of parts.entries()) {
      const last = position === parts.length - 1 ? end : (part.at(-1) as BlockRef);
      const head = { number: last.number, hash: last.hash, timestamp: last.timestamp };
      await context.commit((state) => {
        const input: CommitInput = {
          chainId,
          epoch: state.epoch,
          after: state.head,
          blocks: part,
          head,
          ...(position === 0 ? rollback : {}),
          ...(isVerified ? { verified: head.number } : {}),
          ...(isProving === undefined ? {} : { proving: isProving }),
        };
        return store.apply(input);
      });
      const logs = part.flatMap((block) => block.logs);
      const hasUnnamed = logs.some(({ event, revoked }) => event.type === 'unknownRevoked' && !revoked);
      onLogs(logs.length, 'rollbackTo' in rollback || hasUnnamed);
    }
    if ('rollbackTo' in rollback) onEvent({ type: 'reorg', from: before.head?.number ?? 0, to: ancestor.number });
  };
}
