import { expect, test } from 'bun:test';
import { createActivity, HISTORY_DAYS } from './activity.ts';
import { startEvm } from './evm.ts';
import { FINALITY_BLOCKS } from './sandbox-settings.ts';

test.each([
  ['late', 1 - Number.EPSILON],
  ['early', 0],
])('a history is made, and all of it is final, however %s its random calls', async (_, drawn) => {
  const startedAt = Math.floor(Date.now() / 1000) - HISTORY_DAYS * 86_400;
  const evm = await startEvm({ since: new Date(startedAt * 1000) });
  try {
    const activity = createActivity(evm.rpc, () => drawn);
    await activity.fundTestAccounts();
    await activity.makeHistory(startedAt);
    const tip = Number(await evm.rpc.call('eth_blockNumber', []));
    const timeOf = async (number: number) => {
      const block = await evm.rpc.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
      return Number((block as { timestamp: string }).timestamp);
    };
    expect((await timeOf(tip)) - (await timeOf(tip - FINALITY_BLOCKS))).toBeGreaterThan(60);
  } finally {
    await evm.stop();
  }
});
