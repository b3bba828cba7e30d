// The audit: what it finds and repairs, which provider it blames, and how many calls a quiet chain costs.

import { describe, expect, test } from 'bun:test';
import { type FakeNode, Refusal, withoutProofs } from '../../../test/support/fake-node.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { WALLETS } from '../../../test/support/wallets.ts';
import { createWorld, FIRST } from '../../../test/support/world.ts';
import type { Question } from '../../registry/check.ts';
import { NO_RIGHTS } from '../../registry/delegation.ts';
import { type Dispute, walletsOf } from '../../store/halt.ts';
import type { ChainState } from '../../store/store.ts';
import { encodeCheck, listsAbout, questionsAbout } from '../audit/registry-answers.ts';
import { createAuditor } from './auditor.ts';

const SAYS_YES = withoutProofs((question, honest) =>
  question.method === 'eth_call' ? `0x${'1'.padStart(64, '0')}` : honest(),
);

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
    await world.one.catchUp();
  }
  expect((await world.one.store.chain(1))?.verified).not.toBeNull();
  node.fault = null;
  // Blocks at the head were proven, so the node was found out, and backs off.
  world.one.clock += 30_000;
  return { world, node };
}

describe('the audit of logs', () => {
  test('finds logs that were withheld during the backfill, repairs them, and counts them', async () => {
    const { world } = await withGaps(3);
    const truth = world.chain.flatMap(({ transactions }) => transactions).length;
    const before = (await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10_000 })).length;
    expect(before).toBeLessThan(truth);
    const result = await world.one.follower.audit(FIRST, FIRST + 200);
    expect(result?.repaired).toBe(truth - before);
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
    await world.one.catchUp();
    node.fault = (question, honest) => (question.method === 'eth_getLogs' ? [] : honest());
    expect(await world.one.follower.audit(FIRST, FIRST + 200)).toMatchObject({ repaired: 0, isComplete: true });
    expect(world.one.providers.all[0]?.failure?.cause).toBe('wrong-data');
    expect((await world.one.store.chain(1))?.halt).toBeNull();
    node.fault = null;
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    await world.close();
  });

  test('without proofs, removes a log that no receipt has', async () => {
    const world = await createWorld({ blocks: 120, isProvable: false });
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
    await world.one.catchUp();
    node.fault = null;
    world.one.clock += 30_000;
    const result = await world.one.follower.audit(FIRST, FIRST + 200);
    expect(result?.repaired).toBe(1);
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
    await world.one.catchUp();
    const logs = await world.one.store.logs(1, { from: FIRST, to: FIRST + 200, limit: 10_000 });
    const questions = questionsAbout(logs);
    expect(questions.length).toBeGreaterThan(100);
    const lists = questions.flatMap(listsAbout);
    const result = await world.one.follower.auditAnswers(questions, lists);
    expect(result).toEqual({ asked: questions.length, wrong: [] });
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
    ['checks', everything, []],
    ['lists', [], everything.flatMap(listsAbout)],
  ] as const)(
    '%s that differ refuse their wallets, until all blocks are compared and repaired',
    async (_, checks, lists) => {
      const { world } = await withGaps(2);
      const { follower, store, events } = world.one;
      const wrong = (await follower.auditAnswers(checks, lists))?.wrong ?? [];
      expect(wrong.length).toBeGreaterThan(0);
      const { halt, disputes = [] } = (await store.chain(1)) ?? {};
      expect(halt).toBeNull();
      const pairOf = ({ vault, delegate }: Pick<Dispute, 'vault' | 'delegate'>) => `${vault} ${delegate}`;
      expect(new Set(disputes.map(pairOf))).toEqual(new Set(wrong.map(walletsOf).map(pairOf)));
      expect(events.map(({ type }) => type)).toContain('differs');
      await world.rest();
      expect(await world.expectRight()).toBeNull();
      expect((await store.chain(1))?.disputes).toEqual([]);
      expect((await follower.auditAnswers(checks, lists))?.wrong).toEqual([]);
      await world.close();
    },
  );

  test('a provider that takes one block a call settles them too', async () => {
    const { world, node } = await withGaps(2);
    const { follower, store } = world.one;
    expect((await follower.auditAnswers(everything))?.wrong.length).toBeGreaterThan(0);
    node.fault = ({ method, params: [filter] }, honest) => {
      if (method === 'eth_getLogs' && filter.blockHash === undefined && filter.fromBlock !== filter.toBlock)
        throw new Refusal(-32_005, 'block range is too large');
      return honest();
    };
    await world.rest(12);
    expect(await world.expectRight()).toBeNull();
    expect((await store.chain(1))?.disputes).toEqual([]);
    await world.close();
  });

  test('wallets stay disputed while comparing all blocks does not settle it, over a restart too', async () => {
    const world = await createWorld({ blocks: 120 });
    const [node] = world.nodes as [FakeNode];
    await world.one.catchUp();
    node.fault = SAYS_YES;
    expect((await world.one.follower.auditAnswers(everything))?.wrong.length).toBeGreaterThan(0);
    const disputed = (await world.one.store.chain(1))?.disputes;
    for (let turn = 0; turn < 3; turn++) {
      world.one.clock += 601_000;
      await world.one.catchUp();
      if (turn === 1) world.one.restart();
      expect((await world.one.store.chain(1))?.disputes).toEqual(disputed as never);
    }
    // It was the node, and there was no other to tell.
    node.fault = null;
    await world.rest();
    world.one.clock += 601_000;
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    expect((await world.one.store.chain(1))?.disputes).toEqual([]);
    await world.close();
  });

  test('a node that contradicts another node and the index disputes nothing, and without proof it is not blamed', async () => {
    const world = await createWorld({ blocks: 120, nodes: 2 });
    await world.one.catchUp();
    const [liar] = world.nodes as [FakeNode, FakeNode];
    liar.fault = SAYS_YES;
    expect((await world.one.follower.auditAnswers(everything))?.wrong).toEqual([]);
    expect((await world.one.store.chain(1))?.disputes).toEqual([]);
    expect(world.one.providers.all.map(({ failure }) => failure)).toEqual([null, null]);
    await world.close();
  });

  test('a dispute about final logs ends when all agree about them, also if one has not seen the newest blocks', async () => {
    const world = await createWorld({ blocks: 120, nodes: 2, isProvable: false });
    const { store } = world.one;
    await world.one.catchUp();
    const { epoch, verified } = (await store.chain(1)) as ChainState;
    const [vault] = WALLETS;
    const disputes = [{ vault, delegate: null, since: 5, block: (verified as number) - 9, statement: null }];
    await store.report(1, epoch, { disputes });
    const [, late] = world.nodes as [FakeNode, FakeNode];
    late.chain = late.chain.filter(({ number }) => number <= (verified as number));
    world.one.restart();
    await world.one.catchUp();
    expect((await store.chain(1))?.disputes).toEqual([]);
    await world.close();
  });

  test('behind the last log, answers are drawn from the first', async () => {
    const world = await createWorld({ blocks: 120 });
    await world.one.catchUp();
    const { follower, store } = world.one;
    const [first] = await store.logs(1, { from: FIRST, to: FIRST + 200, limit: 1 });
    const early = Object.create(store, {
      logs: { value: async (_: number, { from }: { from: number }) => (from > FIRST ? [] : [first]) },
    });
    const auditor = createAuditor(
      follower,
      MAINNET,
      early,
      () => world.one.clock,
      () => 0.9,
    );
    world.one.clock += 301_000;
    await auditor.run();
    expect(auditor.done.compared).toBeGreaterThan(0);
    await world.close();
  });

  test('denied checks are compared with the registry, and wrong ones are disputed', async () => {
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
    expect(auditor.done.compared).toBe(0);
    auditor.addDenied(wronged.slice(0, 1));
    await round();
    expect(auditor.done.compared).toBeGreaterThan(0);
    expect((await store.chain(1))?.disputes.map(({ vault }) => vault)).toContain(wronged[0]?.from as never);
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
  expect(auditor.done.audited).toBeGreaterThan(0);
  expect(total).toBeLessThanOrEqual(1500);
  await world.close();
});

describe('the round of lengths after an import', () => {
  const at = { imported: null as { to: number; comparedFrom: number; isCounted: boolean } | null, isBehind: false };
  const begun: (number | undefined)[] = [];
  const ended: number[] = [];
  /** Each round has two parts. */
  const follower = {
    get state() {
      return { firstBlock: 1, verified: 100, agreedBlock: 100, ...at };
    },
    get isBehind() {
      return at.isBehind;
    },
    isBusy: false,
    rangeSize: () => 100,
    audit: async () => null,
    auditAnswers: async () => null,
    auditImported: async () => null,
    prove: async () => false,
    async auditLengths(begin?: number) {
      begun.push(begin);
      return { compared: 1, isEnd: begun.length % 2 === 0 };
    },
    async importCounted(to: number) {
      ended.push(to);
    },
  };

  test('begins at the first wallet, when the backfill after it has ended, and is about that import', async () => {
    const clock = { now: 0 };
    const auditor = createAuditor(
      follower as never,
      MAINNET,
      { logs: async () => [] } as never,
      () => clock.now,
      () => 0.5,
    );
    const run = async () => {
      clock.now += 61_000;
      await auditor.run();
    };
    await run();
    expect(begun).toEqual([expect.any(Number)]);
    expect(begun[0]).toBeGreaterThan(0);
    at.imported = { to: 50, comparedFrom: 1, isCounted: false };
    at.isBehind = true;
    await run();
    expect([begun.length, ended]).toEqual([2, []]);
    at.isBehind = false;
    await run();
    expect(begun.slice(2)).toEqual([0]);
    // Blocks were added to the import in the middle of the round.
    at.imported = { to: 60, comparedFrom: 1, isCounted: false };
    begun.length = 0;
    await run();
    await run();
    expect([begun, ended]).toEqual([[0, undefined], [60]]);
  });
});
