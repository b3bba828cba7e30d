import { expect, test } from 'bun:test';
import type { Node } from './node.ts';
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
