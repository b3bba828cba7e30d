import { expect, test } from 'bun:test';
import { hash } from '../../../test/support/fixtures.ts';
import { isBytes32, parseLogs } from './node.ts';

test('a log without a transaction has the hash of none', () => {
  const log = { address: `0x${'1'.repeat(40)}`, topics: [], data: '0x', blockNumber: '0x1', logIndex: '0x0' };
  const [parsed] = parseLogs([{ ...log, blockHash: hash(1), removed: false }]);
  expect(parsed).toMatchObject({ transactionHash: hash(0), transactionIndex: 0 });
  expect(isBytes32(parsed?.transactionHash)).toBe(true);
});
