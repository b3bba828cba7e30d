// Tests checks that arrive together: PostgreSQL answers them with one statement, as if each had been asked alone.

import { afterAll, expect, test } from 'bun:test';
import { type AnyQuestion, answer, type Question } from '../src/registry/check.ts';
import { type Address, type Bytes32, NO_RIGHTS } from '../src/registry/delegation.ts';
import type { Engine } from '../src/store/engine.ts';
import type { StoreError } from '../src/store/errors.ts';
import { createIndexHash, readIdentity } from '../src/store/index-hash.ts';
import { openEngine, openStore } from '../src/store/open.ts';
import { createReads } from '../src/store/read/reads.ts';
import type { BlockRef } from '../src/store/store.ts';
import { asksAll, asksErc20, asksV1, newChain } from './support/chain.ts';
import { block, COLD, granted, HOT, revocation } from './support/fixtures.ts';
import { questionsFor, truthOf } from './support/histories.ts';
import type { Model } from './support/model.ts';
import { postgresDatabase } from './support/postgres-database.ts';
import { createWriter, stepsOf } from './support/random-writer.ts';

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

/** A store to write to, and a reader of it that counts the lookups of each gathered statement. */
async function open() {
  const url = await postgresDatabase();
  const store = await openStore(url);
  const engine = (await openEngine(url, { readOnly: true, role: 'api' })) as Engine;
  const { secret } = await readIdentity(engine);
  const gathered: number[] = [];
  const readMany: Engine['readMany'] = (sql, shared, rows) => {
    gathered.push(rows.length);
    return (engine.readMany as NonNullable<Engine['readMany']>)(sql, shared, rows);
  };
  ends.push(store.close, engine.close);
  const { check } = createReads({ ...engine, readMany }, createIndexHash(secret));
  return { url, store, check, gathered };
}

test('each answer is true at the block that it names, through commits and reorgs of two chains', async () => {
  const { store, check, gathered } = await open();
  const truths = new Map<Bytes32, Model>();
  const writers = [await createWriter(store, 1, truths), await createWriter(store, 2, truths)];
  const steps = stepsOf(150, 5);
  const [first = { depth: 0, blocks: [] }] = steps.filter(({ depth }) => depth === 0);
  for (const write of writers) await write(0, first.blocks);

  let isDone = false;
  const named = new Set<string>();
  const write = async () => {
    for (const { depth, blocks } of steps) {
      if (isDone) return;
      await Promise.all(writers.map((one) => one(depth, blocks)));
    }
  };
  const ask = async (caller: number) => {
    for (let turn = caller; !isDone; turn += 7) {
      const chainId = 1 + (turn % 2);
      const questions = questionsFor(turn);
      const question = questions[turn % questions.length] as Question | AnyQuestion;
      const { block: at, granting, chain } = await check(chainId, question);
      expect(chain.chainId).toBe(chainId);
      expect(chain.head).toEqual(at as BlockRef);
      expect(answer(question, granting)).toBe(truthOf(truths.get(at.hash as Bytes32) as Model, question));
      named.add(at.hash as Bytes32);
    }
  };
  // The first to end, with an error or not, ends the others.
  const end = () => {
    isDone = true;
  };
  const asking = Array.from({ length: 40 }, (_, caller) => ask(caller));
  await Promise.all([write(), ...asking].map((one) => one.finally(end)));
  // Answers came from many blocks, and from gathered checks.
  expect(named.size).toBeGreaterThan(20);
  expect(Math.max(...gathered)).toBeGreaterThan(20);
});

test('a question that fails hurts no other that it was gathered with', async () => {
  const { store, check, gathered } = await open();
  const [chain, other] = [await newChain(store), await newChain(store)];
  const empty = await newChain(store);
  await chain.add([block(101, [granted('ALL')]), block(102, [granted('ALL', { version: 1, rights: null })])]);
  await chain.add([revocation(103)]);
  await other.add([block(101, [granted('ERC20', { amount: 5n })])]);
  const nobody: Question = { ...asksAll, from: `0x${'0'.repeat(40)}` };
  const asked: [number, Question | AnyQuestion][] = [
    [chain.chainId, asksAll],
    [chain.chainId, asksV1],
    [chain.chainId, { version: 'any', scope: 'all', from: COLD, to: HOT, rights: NO_RIGHTS }],
    [chain.chainId, { ...asksV1, to: COLD }],
    [empty.chainId, asksAll],
    [999, asksV1],
    [other.chainId, asksErc20],
    [other.chainId, asksV1],
    [chain.chainId, nobody],
    [chain.chainId, { ...asksAll, to: 'nonsense' as Address }],
    [chain.chainId, asksAll],
  ];
  const outcome = ([chainId, question]: (typeof asked)[number]) =>
    check(chainId, question).then(
      ({ granting }) => answer(question, granting),
      (error: StoreError) => error.code,
    );
  const single: Awaited<ReturnType<typeof outcome>>[] = [];
  for (const one of asked) single.push(await outcome(one));
  expect(gathered).toEqual([]);
  const refused = 'revocation-unread';
  const started = 'not-started';
  expect(single).toEqual([true, refused, refused, false, started, started, 5n, false, false, 'bad-question', true]);
  expect(await Promise.all(asked.map(outcome))).toEqual(single);
  expect(gathered.length).toBeGreaterThan(0);
});

test('a statement that fails, fails each of its questions', async () => {
  const { url, store, check } = await open();
  const chain = await newChain(store);
  await chain.add([block(101, [granted('ALL')])]);
  const admin = new Bun.SQL(url, { max: 1 });
  ends.push(() => admin.close());
  const outcomes = async () => {
    const all = Array.from({ length: 10 }, () => check(chain.chainId, asksAll));
    return (await Promise.allSettled(all)).map((one) =>
      one.status === 'fulfilled' ? answer(asksAll, one.value.granting) : (one.reason as StoreError).code,
    );
  };
  expect(await outcomes()).toEqual(Array(10).fill(true));
  await admin.unsafe('ALTER TABLE span RENAME TO gone');
  expect(await outcomes()).toEqual(Array(10).fill('failed'));
  await admin.unsafe('ALTER TABLE gone RENAME TO span');
  expect(await outcomes()).toEqual(Array(10).fill(true));

  // The connections are lost while the statements run.
  const watcher = new Bun.SQL(url, { max: 1 });
  ends.push(() => watcher.close());
  const blocked = `SELECT pid FROM pg_stat_activity
    WHERE application_name = 'delegations-api' AND wait_event_type = 'Lock'`;
  const lost = await admin.begin(async (transaction) => {
    await transaction.unsafe('LOCK TABLE span IN ACCESS EXCLUSIVE MODE');
    const failing = outcomes();
    // The first check, and the batch of the others.
    while ((await watcher.unsafe(blocked)).length < 2) await Bun.sleep(1);
    await watcher.unsafe(`SELECT pg_terminate_backend(pid) FROM (${blocked}) AS backends`);
    return failing;
  });
  expect(lost).toEqual(Array(10).fill('unavailable'));
  expect(await outcomes()).toEqual(Array(10).fill(true));
});
