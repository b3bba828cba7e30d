// Batches of 10,000 questions as lines: the server holds one slice of answers at a time, also for callers that read slowly.

import { expect, test } from 'bun:test';
import { openAccounts } from '../src/accounts/accounts.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, CONTRACT, granted } from './support/fixtures.ts';
import { LITTLE_GARBAGE, ownMemory } from './support/processes.ts';
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
  const served = await startServe(database, { MAX_LAG_1: '86400', ...LITTLE_GARBAGE });

  // Two thirds of the questions are wrong: a refusal has the longest answer, and costs least.
  const lines = Array.from({ length: 10_000 }, (_, turn) =>
    JSON.stringify({
      check: turn % 3 === 0 ? 'all' : 'erc721',
      from: COLD,
      to: address(0x1000 + (turn % 2000)),
      ...(turn % 3 === 0 ? {} : { contract: CONTRACT }),
    }),
  );
  const body = `${lines.join('\n')}\n`;
  const send = () =>
    fetch(`${served.url}/registry/any/check`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-ndjson', 'x-api-key': key?.text ?? '' },
    });
  let bytes = 0;
  const answer = async () => {
    const text = await (await send()).text();
    bytes += text.length;
    const received = text.trimEnd().split('\n');
    expect([received.length, received.at(-1)]).toEqual([10_002, '{"complete":false}']);
  };
  /** The memory after more rounds of four batches. */
  const after = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) await Promise.all([answer(), answer(), answer(), answer()]);
    return ownMemory(served.pid);
  };

  const few = await after(3);
  bytes = 0;
  const many = await after(5);

  // Callers that have not read their answers hold one slice each.
  const slow = (await Promise.all(Array.from({ length: 5 }, send))).map(({ body }) => body?.getReader());
  await Promise.all(slow.map((reader) => reader?.read()));
  const unread = ownMemory(served.pid);
  for (const reader of slow) {
    let end = '';
    for (let part = await reader?.read(); part?.value; part = await reader?.read())
      end = (end + new TextDecoder().decode(part.value)).slice(-30);
    expect(end).toEndWith('{"complete":false}\n');
  }
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(
    `batches of 10,000 lines: ${megabytes(few)} after 12, ${megabytes(many)} after 32, ${megabytes(unread)} with 5 unread`,
  );
  // The answers of the batches between take more.
  expect(many - few).toBeLessThan(bytes);
  expect(unread - few).toBeLessThan(bytes);
  await served.stop();
});
