// delegations rewind: rolls a chain back so that its newest blocks are read again.

import { readConfig } from '../service/config.ts';
import { UsageError } from '../service/usage-error.ts';
import { openStore } from '../store/open.ts';
import { type Command, requireNetwork } from './command.ts';
import { writeOut } from './output.ts';

export const rewind: Command = {
  name: 'rewind',
  summary: 'roll a chain back to an older block',
  usage: '--chain <id> --to <block>',
  about: `Rolls the index back to <block> and resumes a halted chain. If the hash of <block> is not stored, it rolls back to the newest
older block that has one. A running follower continues from there.`,
  options: {
    chain: { value: '<id>', about: 'chain id' },
    to: { value: '<block>', about: 'last block to keep' },
  },
  examples: ['delegations rewind --chain 1 --to 18000000'],
  async run(call) {
    const to = call.number('to');
    const { chainId } = requireNetwork(call);
    if (to === undefined) throw new UsageError('--to is missing. Example: --to 18000000');
    await rewindChain(readConfig(call.environment).databaseUrl, chainId, to);
  },
};

/** Rolls back to the newest block at or below `to` whose hash is stored. */
async function rewindChain(databaseUrl: string, chainId: number, to: number): Promise<void> {
  await using store = await openStore(databaseUrl, { mustExist: true });
  const state = await store.chain(chainId);
  if (state?.head == null) throw new UsageError(`Chain ${chainId} is not in this database.`);
  if (to >= state.head.number)
    throw new UsageError(`Nothing to roll back: chain ${chainId} is at block ${state.head.number}.`);
  const target = await store.newestBlock(chainId, to);
  if (target === null)
    throw new UsageError(`No block hash is stored at or below ${to}. Start again with an empty database.`);
  const { epoch, head } = await store.claim(chainId, state.firstBlock);
  // One commit: a running follower can claim the chain right after it.
  const back = { rollbackTo: target.number, head: target, resume: true } as const;
  await store.apply({ chainId, epoch, after: head, blocks: [], ...back });
  await writeOut(`Chain ${chainId}: rolled back from block ${state.head.number} to block ${target.number}.\n`);
}
