import { expect, test } from 'bun:test';
import { hash } from '../../../test/support/fixtures.ts';
import type { NodeLog } from './node.ts';
import { groupLogs } from './registry-logs.ts';

const log = (more: Partial<NodeLog> = {}) =>
  ({
    ...{ address: '0x1', topics: [], data: '0x', blockNumber: 101, blockHash: hash(101), blockTimestamp: null },
    ...{ transactionHash: hash(7), transactionIndex: 0, logIndex: 0, ...more },
  }) as NodeLog;

test('a log that comes twice counts once', () => {
  expect(groupLogs([log(), log()])).toMatchObject([{ number: 101, logs: [{ logIndex: 0 }] }]);
});

test('logs of one block on two branches, or two logs in one place, are not accepted', () => {
  expect(() => groupLogs([log(), log({ logIndex: 1, blockHash: hash(101, 1) })])).toThrow('different block hashes');
  expect(() => groupLogs([log(), log({ data: '0x01' })])).toThrow('two logs with index 0');
});
