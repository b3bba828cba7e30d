// Confirms block times that came from logs, by a second provider's logs or by headers, and corrects wrong ones.

import type { BlockRef } from '../../store/store.ts';
import { rootsOf } from '../prove/block.ts';
import type { FollowerContext } from './context.ts';
import type { ProviderLogs } from './provider-logs.ts';

/** Times that are compared in one call. */
const MAX_TIMES = 500;

export async function compareTimes(
  context: FollowerContext,
  answers: readonly ProviderLogs[],
  from: number,
  to: number,
): Promise<void> {
  const { network, store, onEvent } = context;
  const { chainId } = network;
  const unchecked = await store.uncheckedTimes(chainId, { from, to, limit: MAX_TIMES });
  if (unchecked.length === 0) return;
  const isConfirmed = ({ number, timestamp }: BlockRef) => {
    const times = answers.flatMap(({ blocks }) => blocks.get(number)?.timestamp ?? []);
    return times.length > 1 && times.every((time) => time === timestamp);
  };
  const checked = unchecked.filter(isConfirmed);
  const open = unchecked.filter((block) => !isConfirmed(block));
  let wrong = 0;
  for (const { provider } of answers) {
    const left = open.filter(({ number }) => !checked.some((one) => one.number === number));
    if (left.length === 0) break;
    const headers = await provider.node.headers(left.map(({ number }) => number)).catch(() => []);
    for (const [position, header] of headers.entries()) {
      const block = left[position] as BlockRef;
      if (header.hash !== block.hash || (context.proof.isProven && rootsOf(header) === null)) continue;
      if (header.timestamp !== block.timestamp) wrong++;
      checked.push({ ...block, timestamp: header.timestamp });
    }
  }
  if (checked.length === 0) return;
  checked.sort((a, b) => a.number - b.number);
  const confirmed = checked.map((block) => ({ ...block, isProven: false }));
  await context.commit(({ epoch }) => store.confirm(chainId, epoch, confirmed));
  if (wrong > 0) onEvent({ type: 'retimed', block: (checked[0] as BlockRef).number, blocks: wrong });
}
