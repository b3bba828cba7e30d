// Settles which logs a block has, and blames the providers that returned others.

import type { LogRecord } from '../store/store.ts';
import { eventKeys, isEqual } from './compare-logs.ts';
import type { FollowerContext } from './context.ts';
import { Untrusted } from './errors.ts';
import type { LogEntry } from './log-dispute.ts';
import type { BlockId } from './node.ts';
import { logsOfBlock, type ProviderLogs } from './provider-logs.ts';
import type { Provider } from './provider-pool.ts';
import { heldBefore } from './settle-by-registry.ts';
import { settleLogs } from './settle-logs.ts';

export interface SettledBlock {
  /** The block's logs, in order. */
  readonly entries: readonly LogEntry[];
  /** Providers that returned other logs. */
  readonly wrong: readonly Provider[];
}

export async function settleBlock(
  context: FollowerContext,
  answers: readonly ProviderLogs[],
  block: BlockId,
  stored: readonly LogRecord[],
): Promise<SettledBlock> {
  const { network } = context;
  const reports = answers.map((answer) => ({ provider: answer.provider, logs: logsOfBlock(answer, block) }));
  const before = heldBefore(context, block.number);
  const entries = await settleLogs(network, { block, reports, stored, before });
  const keys = entries.map(({ key }) => key);
  const wrong = reports.flatMap(({ provider, logs }) => (isEqual(eventKeys(network, logs), keys) ? [] : [provider]));
  for (const provider of wrong)
    context.blame(provider, new Untrusted(`the provider returned wrong logs of block ${block.number}`));
  return { entries, wrong };
}
