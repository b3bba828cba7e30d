// The lag over the last day in /networks.

import { expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { appOf } from '../../../test/support/serving.ts';
import { openStore } from '../../store/open.ts';

const NOW = 1_800_000_000 + 86_400;

test('has a null for each ten minutes without a sample, up to the last whole ten minutes', async () => {
  const url = `sqlite:${temporaryPath('lag.db')}`;
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  for (const [ago, seconds] of [
    [3000, 12],
    [2400, 90],
    [1200, 15],
  ] as const)
    await store.recordLag(epoch, { chainId: 1, at: NOW - ago, seconds });
  await store.close();

  // As after a restart, and in a process without a follower.
  const reader = await openStore(url, { readOnly: true });
  const historyAt = async (now: number) => {
    const response = await appOf(reader, now).fetch(new Request('http://localhost/networks'));
    return ((await response.json()) as { lagHistory: unknown }[])[0]?.lagHistory;
  };
  expect(await historyAt(NOW + 90)).toEqual({
    since: NOW - 3000,
    stepSeconds: 600,
    seconds: [12, 90, null, 15, null],
  });
  // A day later, the samples are too old.
  expect(await historyAt(NOW + 86_400)).toBeNull();
  await reader.close();
});
