// Batches of 10,000 questions as lines: the server holds one slice of answers at a time, also for callers that read slowly.

import { expect, test } from 'bun:test';
import { openAccounts } from '../src/accounts/accounts.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, CONTRACT, granted } from './support/fixtures.ts';
import { ownMemory } from './support/memory.ts';
import { startServe } from './support/serve-process.ts';

test('the memory of the server stays flat, however many batches it answers and however slowly they are read', async () => {
  const database = `sqlite:${temporaryPath('large-batch.db')}`;
  const store = await openStore(database);
  const { epoch } = await store.claim(1, 100);
  const grants = Array.from({ length: 1000 }, (_, turn) => granted('ALL', { to: address(0x1000 + turn) }));
  const head = { ...block(101, grants), timestamp: Math.floor(Date.now() / 1000) };
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  await store.close();
  const accounts = await openAccounts(database);
  const key = await accounts.create({ label: 'one', now: head.timestamp });
  await accounts.close();
  const served = await startServe(database, { MAX_LAG_1: '86400' });

  // A third of the questions is wrong: a refusal has the longest answer.
  const lines = Array.from({ length: 10_000 }, (_, turn) =>
    JSON.stringify({
      check: turn % 3 === 0 ? 'erc721' : 'all',
      from: COLD,
      to: address(0x1000 + (turn % 2000)),
      ...(turn % 3 === 0 ? { contract: CONTRACT } : {}),
    }),
  );
  const body = `${lines.join('\n')}\n`;
  const send = () =>
    fetch(`${served.url}/registry/any/check`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-ndjson', 'x-api-key': key?.text ?? '' },
    });
  const answer = async () => {
    const received = (await (await send()).text()).trimEnd().split('\n');
    expect([received.length, received.at(-1)]).toEqual([10_002, '{"complete":false}']);
  };
  /** The least memory between rounds: what is not garbage. Ends early once it is as little as `enough`. */
  const leastOf = async (rounds: number, enough = 0) => {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds && least > enough; round++) {
      await Promise.all([answer(), answer(), answer(), answer()]);
      least = Math.min(least, ownMemory(served.pid));
    }
    return least;
  };
  /** What rounds may differ by. */
  const SOME = 60e6;

  await leastOf(4);
  const before = await leastOf(6);
  // What leaks has leaked by then. Garbage can stay for some rounds more.
  await leastOf(10);
  const after = await leastOf(20, before + SOME);

  // Callers that have not read their answers hold one slice each.
  const slow = await Promise.all(Array.from({ length: 8 }, send));
  await Bun.sleep(500);
  const unread = ownMemory(served.pid);
  for (const response of slow) expect((await response.text()).endsWith('{"complete":false}\n')).toBe(true);
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(
    `batches of 10,000 lines: ${megabytes(before)} after 40, ${megabytes(after)} after more than 80, ${megabytes(unread)} with 8 unread`,
  );
  expect(after - before).toBeLessThanOrEqual(SOME);
  expect(unread - before).toBeLessThan(200e6);
  await served.stop();
});
