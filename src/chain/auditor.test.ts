// The audit: what it finds and repairs, which provider it blames, and how many calls a quiet chain costs.

import { describe, expect, test } from 'bun:test';
import type { FakeNode } from '../../test/support/fake-node.ts';
import { WALLETS } from '../../test/support/lives.ts';
import { MAINNET } from '../../test/support/vectors.ts';
import { createWorld, FIRST } from '../../test/support/world.ts';
import type { Question } from '../registry/check.ts';
import { NO_RIGHTS } from '../registry/delegation.ts';
import { listsAbout, questionsAbout } from './audit-subjects.ts';
import { createAuditor } from './auditor.ts';
import { encodeCheck } from './registry-calls.ts';

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
  test('finds logs that were withheld during the backfill, repairs them, and counts them', async () => {
    const { world } = await withGaps(3);
    const truth = world.chain.flatMap(({ transactions }) => transactions).length;
    const before = (await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10_000 })).length;
    expect(before).toBeLessThan(truth);
    const result = await world.one.follower.audit(FIRST, FIRST + 200);
    expect(result?.repaired).toBeGreaterThan(0);
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
    expect(await world.one.follower.audit(FIRST, FIRST + 200)).toMatchObject({ repaired: 0, isComplete: true });
    expect(world.one.providers.all[0]?.failure?.cause).toBe('wrong-data');
    expect((await world.one.store.chain(1))?.halt).toBeNull();
    node.fault = null;
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    await world.close();
  });

  test('removes a log that no receipt has', async () => {
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
    expect(result?.repaired).toBeGreaterThan(0);
    expect(await world.expectRight()).toBeNull();
    for (const block of world.chain.filter((_, turn) => turn % 7 === 0)) {
      expect(await world.differenceAsOf(block)).toBeNull();
    }
    await world.close();
  });
});

/** The same grant to somebody else. */
const forged = ({ topics }: Record<string, unknown>) => {
  const [event, from] = topics as string[];
  return [event, from, `0x${'0'.repeat(24)}${'99'.repeat(20)}`];
};

describe('the audit of answers', () => {
  test('agrees with the registry if the index is right', async () => {
    const world = await createWorld({ blocks: 120 });
    await world.one.settle();
    const logs = await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10_000 });
    const questions = questionsAbout(logs);
    expect(questions.length).toBeGreaterThan(100);
    const lists = questions.flatMap(listsAbout);
    const result = await world.one.follower.auditAnswers([...questions, ...lists]);
    expect(result).toEqual({ asked: questions.length + lists.length, wrong: [] });
    await world.close();
  });

  /** Of every pair, both versions' check of everything, and every list. */
  const everything = WALLETS.flatMap((from) =>
    WALLETS.flatMap((to) => [
      { version: 2, scope: 'all', from, to, rights: NO_RIGHTS } as const,
      { version: 1, scope: 'all', from, to } as const,
    ]),
  );

  test.each([
    ['checks', everything],
    ['lists', everything.flatMap(listsAbout)],
  ])('%s that differ halt the chain, until all of it is compared and repaired', async (_, subjects) => {
    const { world } = await withGaps(2);
    const { follower, store, events } = world.one;
    const result = await follower.auditAnswers(subjects);
    expect(result?.wrong.length).toBeGreaterThan(0);
    expect((await store.chain(1))?.halt?.code).toBe('registry-mismatch');
    expect(events.map(({ type }) => type)).toContain('differs');
    expect(await follower.audit(FIRST, FIRST + 200)).toBeNull();
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    expect((await follower.auditAnswers(subjects))?.wrong).toEqual([]);
    await world.close();
  });

  test('the chain stays halted while comparing all blocks does not clear the mismatch', async () => {
    const world = await createWorld({ blocks: 120 });
    const [node] = world.nodes as [FakeNode];
    await world.one.settle();
    node.fault = (question, honest) => (question.method === 'eth_call' ? `0x${'1'.padStart(64, '0')}` : honest());
    expect((await world.one.follower.auditAnswers(everything))?.wrong.length).toBeGreaterThan(0);
    for (let turn = 0; turn < 3; turn++) {
      world.one.clock += 601_000;
      await world.one.settle();
      expect((await world.one.store.chain(1))?.halt?.code).toBe('registry-mismatch');
    }
    // A restart says it again: nobody reads a log from its beginning.
    const halted = world.one.events.filter(({ type }) => type === 'halted');
    expect(halted).toMatchObject([
      { code: 'registry-mismatch', since: expect.any(Number), cause: expect.any(String), help: expect.any(String) },
    ]);
    world.one.events.length = 0;
    world.one.restart();
    await world.one.settle();
    expect(world.one.events.filter(({ type }) => type === 'halted')).toEqual(halted);
    // It was the node, and there was no other to tell.
    node.fault = null;
    await world.rest();
    world.one.clock += 601_000;
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    await world.close();
  });

  test('a node that contradicts another node and the index is blamed, and the chain is not halted', async () => {
    const world = await createWorld({ blocks: 120, nodes: 2 });
    await world.one.settle();
    const [liar] = world.nodes as [FakeNode, FakeNode];
    liar.fault = (question, honest) => (question.method === 'eth_call' ? `0x${'1'.padStart(64, '0')}` : honest());
    await expect(world.one.follower.auditAnswers(everything)).rejects.toThrow('another provider agrees with the index');
    expect((await world.one.store.chain(1))?.halt).toBeNull();
    await world.close();
  });

  test('denied checks are compared with the registry, and wrong ones halt the chain', async () => {
    const { world } = await withGaps(2);
    const { follower, store } = world.one;
    const verified = (await store.chain(1))?.verified as number;
    const block = world.chain.find(({ number }) => number === verified);
    const wronged: Question[] = [];
    for (const question of everything) {
      const { granting } = await store.check(1, question, verified);
      if (granting.length === 0 && block?.check?.(encodeCheck(question))?.endsWith('1')) wronged.push(question);
    }
    expect(wronged.length).toBeGreaterThan(0);
    // Of logs, nothing is compared here and nothing is drawn from: only what was asked can tell.
    const blind = Object.create(follower, { audit: { value: async () => null } });
    const empty = Object.create(store, { logs: { value: async () => [] } });
    const auditor = createAuditor(blind, MAINNET, empty, () => world.one.clock);
    const round = async () => {
      world.one.clock += 301_000;
      await auditor.run();
    };
    await round();
    expect(auditor.answers).toBe(0);
    auditor.addDenied(wronged.slice(0, 1));
    await round();
    expect(auditor.answers).toBeGreaterThan(0);
    expect((await store.chain(1))?.halt?.code).toBe('registry-mismatch');
    await world.close();
  });
});

test('a quiet chain of twelve-second blocks costs at most 1,500 calls an hour, the audit included', async () => {
  const world = await createWorld({ blocks: 200, finalizedDepth: 64 });
  const [node] = world.nodes as [FakeNode];
  await world.rest();
  const auditor = createAuditor(world.one.follower, MAINNET, world.one.store, () => world.one.clock);
  const asked = questionsAbout(await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10 }));
  node.calls.clear();
  for (let turn = 0; turn < 300; turn++) {
    auditor.addDenied(asked);
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
  expect(total).toBeLessThanOrEqual(1500);
  await world.close();
});
