// delegations rewind: forgets the newest blocks of a chain, so that they are read again.

import type { Environment } from '../service/config.ts';
import { readConfig } from '../service/config.ts';
import { UsageError } from '../service/usage-error.ts';
import { openStore } from '../store/open.ts';
import { type Command, chainOf } from './command.ts';
import { writeOut } from './output.ts';

export const rewind: Command = {
  name: 'rewind',
  summary: 'forget the newest blocks of a chain',
  usage: '--chain <id> --to <block>',
  about: `Forgets everything above a block and opens the chain again: the way out by hand where a chain is halted. The index goes back
to the newest block at or below <block> whose hash it kept, and reads on from there.

A follower that runs meanwhile finds itself overtaken, and goes on from there.`,
  options: {
    chain: { value: '<id>', about: 'the chain' },
    to: { value: '<block>', about: 'the last block that is to stay' },
  },
  examples: ['delegations rewind --chain 1 --to 18000000'],
  async run(call) {
    const to = call.number('to');
    const { chainId } = chainOf(call);
    if (to === undefined) throw new UsageError('--to is missing: which block is to be the last one?');
    await rewindTo(call.environment, chainId, to);
  },
};

async function rewindTo(environment: Environment, chainId: number, to: number): Promise<void> {
  const store = await openStore(readConfig(environment).databaseUrl);
  try {
    const known = await store.chain(chainId);
    if (known?.head == null) throw new UsageError(`Chain ${chainId} is not in this store.`);
    if (to >= known.head.number)
      throw new UsageError(`Chain ${chainId} is at block ${known.head.number}: nothing to forget.`);
    const kept = await store.newestBlock(chainId, to);
    if (kept === null) throw new UsageError(`No block at or below ${to} was kept: begin anew with an empty store.`);
    const { epoch, head } = await store.claim(chainId, known.firstBlock);
    // In one commit: a follower that is running may claim the chain right after it.
    await store.apply({ chainId, epoch, after: head, rollbackTo: kept.number, blocks: [], head: kept, resume: true });
    await writeOut(`Chain ${chainId} is at block ${kept.number} again; it was at ${known.head.number}.\n`);
  } finally {
    await store.close();
  }
}
