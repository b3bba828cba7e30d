// The audit: what it finds, what it mends, whom it blames, and what following a quiet chain costs.

import { describe, expect, test } from 'bun:test';
import type { FakeNode } from '../../test/fake-node.ts';
import { WALLETS } from '../../test/lives.ts';
import { MAINNET } from '../../test/vectors.ts';
import { createWorld, FIRST } from '../../test/world.ts';
import { createAuditor } from './auditor.ts';
import { questionsOf } from './pairs.ts';

/** A world whose history was read, and read again, from a node that kept one log in `share` back all the while. */
async function withGaps(share: number) {
  const world = await createWorld({ blocks: 120, seed: 9 });
  const [node] = world.nodes as [FakeNode];
  const isKept = ({ transactionHash }: { transactionHash: string }) =>
    Number.parseInt(transactionHash.slice(2, 10), 16) % share === 0;
  node.fault = (question, honest) => {
    const answer = honest();
    if (question.method !== 'eth_getLogs') return answer;
    return (answer as { transactionHash: string }[]).filter((log) => !isKept(log));
  };
  for (let turn = 0; turn < 3; turn++) {
    world.one.clock += 61_000;
    await world.one.settle();
  }
  expect((await world.one.store.chain(1))?.verified).not.toBeNull();
  node.fault = null;
  return { world, node };
}

describe('the audit of logs', () => {
  test('finds what was kept back while the history was read, mends it, and counts it', async () => {
    const { world } = await withGaps(3);
    const truth = world.chain.flatMap(({ transactions }) => transactions).length;
    const before = (await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10_000 })).length;
    expect(before).toBeLessThan(truth);
    const result = await world.one.follower.audit(FIRST, FIRST + 200);
    expect(result?.missed).toBeGreaterThan(0);
    await world.rest();
    expect((await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10_000 })).length).toBe(truth);
    expect(await world.expectRight()).toBeNull();
    for (const block of world.chain.filter((_, turn) => turn % 7 === 0)) {
      expect(await world.differenceAsOf(block)).toBeNull();
    }
    await world.close();
  });

  test('a node that lacks what its own receipts have is blamed, and the index stays', async () => {
    const world = await createWorld({ blocks: 120 });
    const [node] = world.nodes as [FakeNode];
    await world.one.settle();
    node.fault = (question, honest) => (question.method === 'eth_getLogs' ? [] : honest());
    await expect(world.one.follower.audit(FIRST, FIRST + 200)).rejects.toThrow('the node lacks logs');
    expect((await world.one.store.chain(1))?.shut).toBeNull();
    node.fault = null;
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    await world.close();
  });

  test('a log of ours that no receipt knows shuts the chain', async () => {
    const world = await createWorld({ blocks: 120 });
    const [node] = world.nodes as [FakeNode];
    // A node that makes a log up, while the history is read.
    node.fault = (question, honest) => {
      const answer = honest();
      if (question.method !== 'eth_getLogs') return answer;
      const logs = answer as Record<string, unknown>[];
      const one = logs.find(({ topics }) => (topics as string[]).length === 3);
      return one === undefined
        ? logs
        : [...logs, { ...one, logIndex: '0x99', transactionIndex: '0x99', topics: forged(one) }];
    };
    await world.one.settle();
    node.fault = null;
    const result = await world.one.follower.audit(FIRST, FIRST + 200);
    expect(result?.wrongFrom).not.toBeNull();
    expect((await world.one.store.chain(1))?.shut).toContain('the chain does not have');
    await world.close();
  });
});

/** The same grant to somebody else. */
const forged = ({ topics }: Record<string, unknown>) => {
  const [event, from] = topics as string[];
  return [event, from, `0x${'0'.repeat(24)}${'99'.repeat(20)}`];
};

describe('the audit of pairs', () => {
  test('agrees with the registry where the index is right', async () => {
    const world = await createWorld({ blocks: 120 });
    await world.one.settle();
    const logs = await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10_000 });
    const questions = questionsOf(logs);
    expect(questions.length).toBeGreaterThan(100);
    const result = await world.one.follower.auditPairs(questions);
    expect(result).toEqual({ asked: questions.length, wrong: [] });
    await world.close();
  });

  test('shuts the chain where it is not', async () => {
    const { world } = await withGaps(2);
    const logs = world.chain.flatMap(({ transactions }) => transactions);
    expect(logs.length).toBeGreaterThan(0);
    const questions = WALLETS.flatMap((from) =>
      WALLETS.flatMap((to) => [
        { version: 2, scope: 'all', from, to, rights: `0x${'0'.repeat(64)}` } as const,
        { version: 1, scope: 'all', from, to } as const,
      ]),
    );
    const result = await world.one.follower.auditPairs(questions).catch(() => null);
    expect(result?.wrong.length).toBeGreaterThan(0);
    expect((await world.one.store.chain(1))?.shut).toContain('otherwise than the index');
    await world.close();
  });
});

test('a quiet chain of twelve-second blocks costs at most a thousand calls an hour, the audit included', async () => {
  const world = await createWorld({ blocks: 200, finalizedDepth: 64 });
  const [node] = world.nodes as [FakeNode];
  await world.rest();
  const auditor = createAuditor(world.one.follower, MAINNET, world.one.store, () => world.one.clock);
  node.calls.clear();
  for (let turn = 0; turn < 300; turn++) {
    world.grow(1, () => []);
    world.one.clock = (world.chain.at(-1)?.timestamp ?? 0) * 1000 + 1000;
    await world.one.follower.tick();
    await auditor.run();
  }
  const total = [...node.calls.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    `an hour of a quiet chain: ${total} calls: ${[...node.calls].map(([method, count]) => `${method} ${count}`).join(', ')}`,
  );
  expect(auditor.blocks).toBeGreaterThan(0);
  expect(total).toBeLessThanOrEqual(1000);
  await world.close();
});
