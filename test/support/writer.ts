// Runs as a process that writes to a store until it is killed. In every block, the amount that COLD delegates to HOT encodes the
// block's number and branch, so that each answer can be compared with the block that it names. Prints each committed head.

import { openStore } from '../../src/store/open.ts';
import type { BlockInput, ChainState } from '../../src/store/store.ts';
import { block, granted } from './fixtures.ts';

export const amountAt = (number: number, branch: number) => BigInt(number) * 1_000_000n + BigInt(branch);

function writerBlock(number: number, branch: number): BlockInput {
  // Further grants make the commit large enough to be killed in the middle.
  const others = Array.from({ length: 30 }, (_, id) =>
    granted('ERC721', { tokenId: BigInt(number) * 100n + BigInt(id), contract: `0x${'dd'.repeat(20)}` }),
  );
  return block(number, [...others, granted('ERC20', { amount: amountAt(number, branch) })], branch);
}

type Head = Pick<BlockInput, 'number' | 'hash'>;

/** What is committed in a turn, by this or another process. Every fifth commit is a reorg. */
export function nextCommit(head: Head | null, turn: number): { blocks: BlockInput[]; rollbackTo?: number } {
  const top = head?.number ?? 0;
  const reorg = turn % 5 === 4 && top > 10;
  const from = reorg ? top - 3 : top;
  const branch = Number.parseInt(head?.hash.slice(2, 10) ?? '0', 16) + (reorg ? 1 : 0);
  const blocks = Array.from({ length: 5 }, (_, offset) => writerBlock(from + 1 + offset, branch));
  return reorg ? { blocks, rollbackTo: from } : { blocks };
}

if (import.meta.main) {
  const [url = '', chain = '1'] = process.argv.slice(2);
  const chainId = Number(chain);
  const store = await openStore(url);
  let state: ChainState = await store.claim(chainId, 1);
  for (let turn = 0; ; turn++) {
    const commit = nextCommit(state.head, turn);
    const head = commit.blocks.at(-1) as BlockInput;
    state = await store.apply({ chainId, epoch: state.epoch, after: state.head, head, ...commit });
    process.stdout.write(`${head.number} ${head.hash}\n`);
  }
}
