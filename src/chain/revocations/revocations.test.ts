// The queue of wallets whose revocations are not settled.

import { expect, test } from 'bun:test';
import { address } from '../../../test/support/fixtures.ts';
import type { Context } from '../compare/context.ts';
import { createRevocationQueue } from './revocations.ts';

const VAULTS = Array.from({ length: 450 }, (_, turn) => address(0x1000 + turn));

function queueOf(vaults = VAULTS) {
  let now = 0;
  const store = {
    unsettledVaults: async (_: number, after: string | null, limit: number) =>
      vaults.filter((vault) => after === null || vault > after).slice(0, limit),
  };
  const queue = createRevocationQueue({ network: { chainId: 1 }, store, now: () => now } as unknown as Context);
  const at = (ms: number) => {
    now = ms;
  };
  return { queue, at };
}

test('all wallets have their turn, two hundred at a time, and then the first again', async () => {
  const { queue } = queueOf();
  const turns = [];
  for (let turn = 0; turn < 4; turn++) turns.push(await queue.due());
  expect(turns.map((due) => due.length)).toEqual([200, 200, 50, 200]);
  expect(new Set(turns.slice(0, 3).flat()).size).toBe(450);
  expect(turns[3]).toEqual(turns[0] as never);
});

test('a wallet that was asked about comes first, whichever turn it is, and one that failed waits longer each time', async () => {
  const { queue, at } = queueOf();
  const [first, last] = [VAULTS[0] as never, VAULTS[449] as never];
  queue.prioritize(last, first);
  expect((await queue.due())[0]).toBe(last);
  expect([queue.takeRequested(last), queue.takeRequested(last)]).toEqual([[first], []]);
  for (const [failures, pause] of [5000, 10_000, 20_000].entries()) {
    at(0);
    expect(queue.postpone(first)).toBe(failures);
    at(pause - 1);
    const isDue = async () => {
      for (let turn = 0; turn < 3; turn++) if ((await queue.due()).includes(first)) return true;
      return false;
    };
    expect(await isDue()).toBe(false);
    at(pause);
    expect(await isDue()).toBe(true);
  }
  queue.clearBackoff(first);
  expect(queue.postpone(first)).toBe(0);
});

test('where nothing is left to settle, a wallet that was asked about is looked at nevertheless', async () => {
  const { queue } = queueOf([]);
  await queue.due();
  expect(queue.isEmpty()).toBe(true);
  const [vault, delegate] = VAULTS as [never, never];
  queue.prioritize(vault, delegate);
  expect(queue.isEmpty()).toBe(false);
  expect(await queue.due()).toEqual([vault]);
});
