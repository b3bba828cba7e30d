// Applies a commit: an optional rollback, then new blocks, their logs, spans and settlements, and the new head.

import { rejectWrite, StoreError } from '../errors.ts';
import { BLOCK, decodeBlock } from '../rows/block-row.ts';
import type { ChainState, CommitInput } from '../store.ts';
import { type LockedWriter, recordRewrite, stampRevision, writeState } from './chain-writer.ts';
import { deriveBlocks } from './derive.ts';
import { insertBlocks, insertLogs } from './insert.ts';
import { pruneBlocks, rollBack } from './rollback.ts';
import { addSettledEnds, recordSettlements } from './settle.ts';

/** Logs per statement: what a client computes between two of them must take much less than the server lets it idle. */
const PART_LOGS = 5000;

export async function apply(writer: LockedWriter, commit: CommitInput): Promise<ChainState> {
  const { tx, chainId, before } = writer;
  const { rollbackTo, blocks, head } = commit;
  requireHead(before, commit);
  if ((blocks[0]?.number ?? head.number) < before.firstBlock)
    rejectWrite(chainId, `the index starts at block ${before.firstBlock}`);
  const changedFrom = rollbackTo === undefined ? null : await rollBack(writer, rollbackTo);
  await requireNext(writer, commit);

  await insertBlocks(tx, chainId, blocks.at(-1)?.number === head.number ? blocks : [...blocks, head]);
  for (const part of splitBlocks(blocks, PART_LOGS)) {
    await insertLogs(tx, chainId, part);
    const applied = part.map((block) => ({ number: block.number, logs: addSettledEnds(block) }));
    await deriveBlocks(writer, applied);
  }
  for (const { settlements = [] } of blocks) await recordSettlements(writer, settlements);

  const state = stateAfter(before, commit);
  if (changedFrom !== null) await recordRewrite(writer, changedFrom);
  if ((state.verified ?? -1) > (before.verified ?? -1)) await pruneBlocks(writer, state.verified ?? -1);
  if (state.revision !== before.revision) await stampRevision(tx, state);
  return writeState(writer, state);
}

/** The commit must be built on the stored head. */
function requireHead({ head }: ChainState, { chainId, after }: CommitInput): void {
  if (head?.number === after?.number && head?.hash === after?.hash) return;
  const [stored, built] = [head, after].map((block) => (block ? `block ${block.number} (${block.hash})` : 'no block'));
  throw new StoreError('overtaken', `Chain ${chainId}: the head is ${stored}, but the commit was built on ${built}.`);
}

const NEWEST = `SELECT ${BLOCK.sql} FROM block WHERE chain = $1 ORDER BY number DESC LIMIT 1`;

/** The commit must not be older than the newest kept block, nor contradict it. */
async function requireNext({ tx, chainId }: LockedWriter, { blocks, head }: CommitInput): Promise<void> {
  const [row] = await tx.rows(NEWEST, [chainId]);
  if (row === undefined) return;
  const newest = decodeBlock(row);
  const [next = head] = blocks;
  if (next.timestamp < newest.timestamp)
    rejectWrite(chainId, `block ${next.number} is older than block ${newest.number}`);
  if (newest.number === head.number && (newest.hash !== head.hash || newest.timestamp !== head.timestamp))
    rejectWrite(chainId, `block ${newest.number} is stored with another hash or time`);
}

function stateAfter(before: ChainState, commit: CommitInput): ChainState {
  const { rollbackTo, verified, blocks, head, resume, proving } = commit;
  const kept = rollbackTo ?? Number.POSITIVE_INFINITY;
  const verifiedNow = Math.max(verified ?? -1, Math.min(before.verified ?? -1, kept));
  const isChanged = rollbackTo !== undefined || blocks.some(({ logs }) => logs.length > 0);
  return {
    ...before,
    head: { number: head.number, hash: head.hash, timestamp: head.timestamp },
    verified: verifiedNow < 0 ? null : verifiedNow,
    // A lower head was not confirmed by any provider yet.
    confirmedAt: head.number < (before.head?.number ?? 0) ? null : before.confirmedAt,
    agreedBlock: before.agreedBlock === null ? null : Math.min(before.agreedBlock, kept),
    halt: resume ? null : before.halt,
    proving: proving ?? before.proving,
    revision: before.revision + (isChanged ? 1 : 0),
  };
}

/** Splits whole blocks into parts of at most this many logs; a larger block is a part of its own. There is always one part. */
export function splitBlocks<Block extends { readonly logs: readonly unknown[] }>(
  blocks: readonly Block[],
  maxLogs: number,
): Block[][] {
  const parts: Block[][] = [[]];
  let logs = 0;
  for (const block of blocks) {
    if (logs > 0 && logs + block.logs.length > maxLogs) {
      parts.push([]);
      logs = 0;
    }
    parts.at(-1)?.push(block);
    logs += block.logs.length;
  }
  return parts;
}
