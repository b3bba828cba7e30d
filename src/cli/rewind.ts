// delegations rewind: forgets the newest blocks of a chain, so that they are read again.

import { parseArgs } from 'node:util';
import { openStore } from '../store/open.ts';
import { readConfig } from './config.ts';
import { UsageError } from './usage.ts';

export const REWIND_HELP = `Usage: delegations rewind --chain <id> --to <block>

Forgets everything above a block and opens the chain again: the way out by hand where a final block has changed. The index
goes back to the newest block at or below <block> whose hash it kept, and reads on from there.

Stop the service first: a follower that runs meanwhile finds itself overtaken, and stops.

For example: delegations rewind --chain 1 --to 18000000
`;

export async function rewind(environment: Readonly<Record<string, string | undefined>>, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { chain: { type: 'string' }, to: { type: 'string' } } });
  const number = (name: 'chain' | 'to') => {
    const text = values[name];
    if (text === undefined || !/^\d{1,15}$/.test(text)) throw new UsageError(`--${name} needs a whole number.`);
    return Number(text);
  };
  const [chainId, to] = [number('chain'), number('to')];
  const store = await openStore(readConfig(environment).databaseUrl);
  try {
    const known = await store.chain(chainId);
    if (known?.head == null) throw new UsageError(`Chain ${chainId} is not in this store.`);
    if (to >= known.head.number)
      throw new UsageError(`Chain ${chainId} is at block ${known.head.number}: nothing to forget.`);
    const kept = (await store.blocks(chainId, { from: known.firstBlock, to })).at(-1);
    if (kept === undefined)
      throw new UsageError(`No block at or below ${to} was kept: begin anew with an empty store.`);
    const { epoch, head } = await store.claim(chainId, known.firstBlock);
    await store.apply({ chainId, epoch, after: head, rollbackTo: kept.number, blocks: [], head: kept });
    await store.report(chainId, epoch, { shut: null });
    process.stdout.write(`Chain ${chainId} is at block ${kept.number} again; it was at ${known.head.number}.\n`);
  } finally {
    await store.close();
  }
}
