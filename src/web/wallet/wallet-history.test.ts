import { expect, test } from 'bun:test';
import { type PastRow, timelineOf } from './wallet-history.ts';

const at = (block: number, logIndex = 0, timestamp = 1000) => ({
  block,
  logIndex,
  timestamp,
  transactionHash: `0x${'0'.repeat(64)}`,
});

const row = (amount: string | null, since: ReturnType<typeof at>, until: ReturnType<typeof at> | null): PastRow => ({
  direction: 'outgoing',
  grant: {
    version: 2,
    type: amount === null ? 'ALL' : 'TOKEN',
    from: `0x${'a'.repeat(40)}`,
    to: `0x${'b'.repeat(40)}`,
    contract: amount === null ? null : `0x${'c'.repeat(40)}`,
    tokenId: null,
    standard: amount === null ? null : 'ERC20',
    rights: `0x${'0'.repeat(64)}`,
    rightsText: null,
    rightsName: null,
    rightsId: `0x${'0'.repeat(48)}`,
    expires: null,
    amount,
    chainId: 1,
    since,
    until,
  },
});

const told = (rows: readonly PastRow[], hasNewest = true) =>
  timelineOf(rows, hasNewest).map(({ kind, grant, before, at: { block, logIndex } }) =>
    [kind, ...(before === null ? [] : [before.amount, grant.amount]), block, logIndex].join(' '),
  );

test('events of one second are in the order of their blocks and logs, newest first', () => {
  const rows = [row(null, at(5, 1), at(6, 0)), row(null, at(6, 2), null), row(null, at(5, 0), at(5, 1))];
  expect(told(rows.slice(0, 2))).toEqual(['began 6 2', 'ended 6 0', 'began 5 1']);
});

test('a changed amount is one change, not an end and a beginning', () => {
  const rows = [row('7', at(9, 4), at(12)), row('5', at(6, 2), at(9, 4)), row('3', at(5), at(6, 2))];
  expect(told(rows)).toEqual(['ended 12 0', 'changed 5 7 9 4', 'changed 3 5 6 2', 'began 5 0']);
});

test('without the newest grants the end of an amount may be a change, and the end of anything else is an end', () => {
  expect(told([row('5', at(6), at(9))], false)).toEqual(['gone 9 0', 'began 6 0']);
  expect(told([row(null, at(6), at(9))], false)).toEqual(['ended 9 0', 'began 6 0']);
});
