import { expect, test } from 'bun:test';
import { type Following, following } from '../../test/support/following.ts';
import { type HistoryNodeOptions, startHistoryNode } from '../../test/support/history-node.ts';
import { readStoredLogs } from './stored-blocks.ts';

/** Blocks with logs. The rest of the chain is newer, so that these are old history. */
const OLD = 10_000;
const TIP = 21_000;
const inOld = (logs: (block: number) => number) => (block: number) => (block <= OLD ? logs(block) : 0);
const LONG = 100_000;

async function backfill(
  options: Partial<HistoryNodeOptions>,
  run: (one: Following, node: ReturnType<typeof startHistoryNode>) => Promise<void>,
): Promise<void> {
  const node = startHistoryNode({ tip: TIP, logsIn: inOld(() => 2), ...options });
  const one = await following([node], { firstBlock: 1, clock: node.time * 1000 });
  try {
    await run(one, node);
    const stored = await readStoredLogs(one.store, 1, 1, LONG);
    const found = stored.map(({ block, logIndex }) => `${block.number}/${logIndex}`);
    expect(found.find((log, position) => log !== node.logs[position])).toBeUndefined();
    expect(found.length).toBe(node.logs.length);
  } finally {
    await one.close();
    await node.stop();
  }
}

test('a backfill holds a bounded number of logs', async () => {
  const served = new Set<number>();
  let most = 0;
  let committed = () => 0;
  await backfill(
    {
      logsIn: inOld(() => 3),
      answer(logs, { from, to }) {
        for (let block = from; block <= Math.min(to, OLD); block++) served.add(block);
        most = Math.max(most, 3 * (served.size - committed()));
        return logs;
      },
    },
    async (one) => {
      committed = () => one.follower.state?.head?.number ?? 0;
      await one.settle(1);
      expect(one.errors).toEqual([]);
    },
  );
  // The first response, of 2,000 blocks, shows how many logs to expect.
  expect(most).toBeGreaterThanOrEqual(6000);
  expect(most).toBeLessThanOrEqual(12_000 + 6000);
});

test('a provider with a limit of 2,000 blocks is asked for each block about once', async () => {
  await backfill(
    {
      tip: LONG + TIP - OLD,
      logsIn: (block) => (block % 8 === 0 && block <= LONG ? 1 : 0),
      answer(logs, { from, to }) {
        if (to - from >= 2000) throw new Error('block range too large');
        return logs;
      },
    },
    async (one, node) => {
      await one.settle(1);
      expect(one.errors).toEqual([]);
      expect(one.follower.state?.head?.number).toBeGreaterThanOrEqual(LONG);
      // Learning the limit costs some of these.
      expect(node.calls.get('eth_getLogs')).toBeLessThanOrEqual(1.3 * (LONG / 2000));
      expect(node.calls.get('eth_getBlockByNumber')).toBeLessThanOrEqual(12);
    },
  );
});

for (const [name, keep] of [
  ['oldest', (count: number) => [0, count] as const],
  ['newest', (count: number) => [-count, undefined] as const],
] as const) {
  test(`old history is complete if the provider returns only the ${name} logs`, async () => {
    await backfill({ logsIn: inOld((block) => block % 4), answer: (logs) => logs.slice(...keep(700)) }, async (one) => {
      await one.settle();
      expect(one.errors).toEqual([]);
    });
  });
}

test('old history is complete if only a few blocks have logs', async () => {
  await backfill(
    { logsIn: inOld((block) => (block % 1700 === 5 ? 3 : 0)), answer: (logs) => logs.slice(0, 4) },
    (one) => one.settle(),
  );
});

test('a rate limit delays a backfill and does not fail it', async () => {
  let requests = 0;
  let rejected = 0;
  await backfill(
    {
      logsIn: inOld((block) => (block % 8 === 0 ? 1 : 0)),
      reject(range) {
        if (range === null || ++requests % 3 !== 0) return null;
        rejected++;
        return new Response('slow down', { status: 429, headers: { 'retry-after': '0' } });
      },
    },
    async (one) => {
      await one.settle(1);
      expect(one.errors).toEqual([]);
      expect(one.follower.state?.head?.number).toBeGreaterThanOrEqual(OLD);
    },
  );
  expect(rejected).toBeGreaterThan(1);
});

test('what was read before a failed call is committed', async () => {
  let isBroken = true;
  await backfill(
    { reject: (range) => (isBroken && (range?.to ?? 0) > 6000 ? new Response('', { status: 503 }) : null) },
    async (one) => {
      await one.settle(1);
      expect(one.errors).toHaveLength(1);
      expect(one.follower.state?.head?.number).toBeGreaterThan(2000);
      isBroken = false;
      await one.settle();
    },
  );
});
