import { expect, test } from 'bun:test';
import type { Node, NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';
import { createScanner } from './scanner.ts';

/** The sizes of the calls for 2,000 blocks to a node that refuses more than 500 in this way. */
async function sizesAsked(...error: ConstructorParameters<typeof RpcError>): Promise<number[]> {
  const sizes: number[] = [];
  const node = {
    async logs(_: unknown, from: number, to: number) {
      sizes.push(to - from + 1);
      if (to - from >= 500) throw new RpcError(...error);
      return [];
    },
  } as unknown as Node;
  await createScanner(node, { address: [], topics: [] })
    .fetchLogs(1, 2000)
    .catch(() => {});
  return sizes;
}

test('a range that may be too large is read in parts', async () => {
  expect(await sizesAsked('refused', 'too many')).toEqual([2000, 1000, 500, 500, 500, 500]);
  expect(await sizesAsked('refused', 'limited to 500 blocks')).toEqual([2000, 500, 1000, 500, 500, 500]);
  expect(await sizesAsked('refused', 'too many', { httpStatus: 400 })).toHaveLength(6);
});

test('a smaller range does not help against what is not about its size', async () => {
  for (const httpStatus of [401, 403, 429, 500, 502, 503, 504])
    expect([httpStatus, await sizesAsked('refused', 'no', { httpStatus })]).toEqual([httpStatus, [2000]]);
  expect(await sizesAsked('refused', 'pruned', { rpcCode: 4444 })).toEqual([2000]);
});

const logAt = (blockNumber: number, logIndex: number) =>
  ({
    address: '0x',
    topics: [],
    data: '0x',
    blockNumber,
    blockHash: `0x${blockNumber}`,
    logIndex,
  }) as unknown as NodeLog;

/** Returns so many logs in each call, of the first block of the range. */
const nodeWith = (logs: () => number) =>
  ({
    logs: async (_: unknown, from: number) => Array.from({ length: logs() }, (_, index) => logAt(from, index)),
  }) as unknown as Node;

test('ranges become smaller where a response has more than 2,500 logs, and stay as they are where it has as many', async () => {
  let logs = 2500;
  const scanner = createScanner(
    nodeWith(() => logs),
    { address: [], topics: [] },
  );
  await scanner.fetchUnchecked(1, 1000);
  expect(scanner.rangeSize()).toBe(2000);
  logs = 2501;
  await scanner.fetchUnchecked(1, 1000);
  expect(scanner.rangeSize()).toBe(999);
});

test('a block with 100 logs is read event by event too, and one with fewer is not', async () => {
  for (const [logs, calls] of [
    [99, 1],
    [100, 3],
  ] as const) {
    let asked = 0;
    const node = nodeWith(() => {
      asked++;
      return logs;
    });
    const scanner = createScanner(node, { address: [], topics: [['0x1', '0x2']] });
    expect(await scanner.fetchLogs(7, 7)).toHaveLength(logs);
    expect(asked).toBe(calls);
  }
});

test('one of several calls tries a larger range, and another one does if it fails for another reason', async () => {
  let isDown = false;
  const node = nodeWith(() => {
    if (isDown) throw new RpcError('refused', 'no', { httpStatus: 503 });
    return 0;
  });
  const scanner = createScanner(node, { address: [], topics: [] });
  await scanner.fetchUnchecked(1, 2000);
  expect([scanner.nextSize(), scanner.nextSize()]).toEqual([4000, 2000]);
  isDown = true;
  await expect(scanner.fetchUnchecked(2001, 6000)).rejects.toThrow('no');
  expect([scanner.nextSize(), scanner.nextSize()]).toEqual([4000, 2000]);
});

test('a range doubles while the double is below a size that was refused, and to it after eight calls', async () => {
  let logs = () => 0;
  const scanner = createScanner(
    nodeWith(() => logs()),
    { address: [], topics: [] },
  );
  logs = () => {
    throw new RpcError('refused', 'too many');
  };
  expect(await scanner.fetchUnchecked(1, 5000)).toBeNull();
  logs = () => 0;
  const sizes: number[] = [];
  for (let turn = 0; turn < 9; turn++) {
    sizes.push(scanner.rangeSize());
    await scanner.fetchUnchecked(1, scanner.rangeSize());
  }
  expect(sizes).toEqual([2000, ...Array(7).fill(4000), 8000]);
});
