// delegations rewind: rolls a chain back so that its newest blocks are read again.

import { readConfig } from '../service/config.ts';
import { rewindChain } from '../service/rewind-chain.ts';
import { UsageError } from '../service/usage-error.ts';
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
    const rolledBack = await rewindChain(readConfig(call.environment).databaseUrl, chainId, to);
    await writeOut(`Chain ${chainId}: rolled back from block ${rolledBack.from} to block ${rolledBack.to}.\n`);
  },
};
