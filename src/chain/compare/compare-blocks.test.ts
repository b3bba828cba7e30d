// Times that came from logs: who must confirm them.

import { expect, test } from 'bun:test';
import { block, hash } from '../../../test/support/fixtures.ts';
import type { BlockRef, ConfirmedBlock } from '../../store/store.ts';
import { compareTimes } from './compare-blocks.ts';
import type { Context } from './context.ts';
import type { Reports } from './provider-logs.ts';

const STORED: BlockRef = block(101);

/** What is stored of a block whose time came from logs, if providers have these times for it in logs and in headers. */
async function compare(inLogs: readonly number[], header: object | null, isProven = false) {
  let confirmed: readonly ConfirmedBlock[] = [];
  const context = {
    network: { chainId: 1 },
    proof: { isProven },
    onEvent() {},
    store: {
      uncheckedTimes: async () => [STORED],
      confirm: async (_: number, __: number, blocks: readonly ConfirmedBlock[]) => {
        confirmed = blocks;
      },
    },
    commit: (run: (state: object) => Promise<unknown>) => run({ epoch: 1 }),
  } as unknown as Context;
  const node = {
    headers: async () => {
      if (header === null) throw new Error('no header');
      return [{ ...STORED, json: {}, ...header }];
    },
  };
  const answers = inLogs.map((timestamp) => ({ provider: { node }, blocks: new Map([[101, { timestamp }]]) }));
  await compareTimes(context, answers as unknown as Reports, 100, 102);
  // A time says nothing about the logs of its block.
  expect(confirmed.some(({ isProven }) => isProven)).toBe(false);
  return confirmed.map(({ timestamp }) => timestamp);
}

test('the logs of a second provider confirm a time, and those of one alone do not', async () => {
  const { timestamp } = STORED;
  expect(await compare([timestamp, timestamp], null)).toEqual([timestamp]);
  expect(await compare([timestamp], null)).toEqual([]);
  expect(await compare([timestamp, timestamp + 1], null)).toEqual([]);
});

test('the header of the block decides, but not that of another one, nor one that does not hash to its hash', async () => {
  const header = { timestamp: STORED.timestamp + 5 };
  expect(await compare([STORED.timestamp], header)).toEqual([header.timestamp]);
  expect(await compare([STORED.timestamp], { ...header, hash: hash(101, 1) })).toEqual([]);
  expect(await compare([STORED.timestamp], header, true)).toEqual([]);
});
