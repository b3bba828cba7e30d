import { expect, test } from 'bun:test';
import vectors from '../../../test/vectors/receipts.json' with { type: 'json' };
import type { Bytes32 } from '../../registry/delegation.ts';
import type { Json } from '../rpc/node.ts';
import { receiptsRoot, stateSyncHash } from './receipts.ts';

test.each(vectors.map((one) => [`${one.chain} ${one.number}`, one] as const))('%s', (_, block) => {
  const hash = stateSyncHash({ stateSync: true }, { number: block.number, hash: block.hash as Bytes32 });
  const receipts = (block.receipts as Json[]).filter((one) => one['transactionHash'] !== hash);
  expect(receiptsRoot(receipts) === block.receiptsRoot).toBe(block.comesOut as boolean);
});
