// Mixed questions over HTTP beside commits and reorgs: every answer is true at the block whose hash it names, and that block is not
// older than the last commit before the request.

import { expect, test } from 'bun:test';
import { checkUrl, listUrl } from '../src/api/url.ts';
import type { AnyQuestion, Question } from '../src/registry/check.ts';
import type { Address, Bytes32 } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import { ENGINES } from './support/engines.ts';
import { questionsFor, truthOf } from './support/histories.ts';
import type { Model } from './support/model.ts';
import { asText, delegationsOf } from './support/questions.ts';
import { createWriter, stepsOf } from './support/random-writer.ts';
import { serving } from './support/serving.ts';
import { WALLETS } from './support/wallets.ts';

/** For longer runs. */
const { STORM_STEPS = '150', STORM_SEED = '6' } = process.env;
const CALLERS = 24;
const BATCH = 5;
/** Between two commits. */
const ANSWERS = 15;

/** An answer, and what it should be by the truth at its block. */
interface Asked {
  readonly hash: Bytes32;
  readonly said: unknown;
  readonly truth: (model: Model) => unknown;
}

const plain = (value: unknown) => (typeof value === 'bigint' ? String(value) : value);
const truthsOf = (questions: readonly (Question | AnyQuestion)[]) => (model: Model) =>
  questions.map((one) => plain(truthOf(model, one)));

async function ask(url: string, turn: number): Promise<Asked> {
  const questions = questionsFor(turn);
  const question = questions[turn % questions.length] as Question | AnyQuestion;
  const get = async (path: string) => {
    const response = await fetch(`${url}${path}&numbers=string`);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    return { text, hash: response.headers.get('x-block-hash') as Bytes32 };
  };
  if (turn % 10 === 0) {
    const version = turn % 20 === 0 ? 1 : 2;
    const wallet = WALLETS[turn % WALLETS.length] as Address;
    const { text, hash } = await get(listUrl(version, wallet, { detail: 'full' }));
    const said = delegationsOf(text, version).map(asText).sort();
    return { hash, said, truth: (model) => [...new Set(model.list(version, wallet).map(asText))].sort() };
  }
  if (turn % 10 === 1) {
    const { text, hash } = await get(`${checkUrl(question)}&explain=true`);
    return { hash, said: [JSON.parse(text).result], truth: truthsOf([question]) };
  }
  if (turn % 10 === 2) {
    const rows = Array.from({ length: BATCH }, (_, more) => questionsFor(turn + more)).flat();
    const sent = rows.map(({ scope, ...row }) => ({ ...row, check: scope }));
    const body = JSON.stringify({ questions: sent }, (_, value) => plain(value));
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/registry/any/check?numbers=string`, { method: 'POST', body, headers });
    const whole = await response.text();
    if (response.status !== 200) throw new Error(whole);
    const { answers, chains } = JSON.parse(whole) as {
      answers: { result: unknown }[];
      chains: { block: { hash: Bytes32 } }[];
    };
    return { hash: chains[0]?.block.hash as Bytes32, said: answers.map(({ result }) => result), truth: truthsOf(rows) };
  }
  const { text, hash } = await get(checkUrl(question));
  return { hash, said: [JSON.parse(text)], truth: truthsOf([question]) };
}

for (const engine of ENGINES) {
  test(`on ${engine.name}, through commits and reorgs`, async () => {
    const url = await engine.fresh();
    await using store = await openStore(url);
    await using read = await openStore(url, { role: 'api' });
    const truths = new Map<Bytes32, Model>();
    const write = await createWriter(store, 1, truths);
    const steps = stepsOf(Number(STORM_STEPS), Number(STORM_SEED));
    const far = 4e9;
    const server = serving(read, far, { maxLag: () => far });
    await using _stopped = { [Symbol.asyncDispose]: server.stop };
    /** How many commits there were, and the last with each head. */
    let commits = 0;
    const lastOf = new Map<Bytes32, number>();
    const commit = async ({ depth, blocks }: (typeof steps)[number]) => {
      const writing = write(depth, blocks);
      lastOf.set([...truths.keys()].at(-1) as Bytes32, commits + 1);
      await writing;
      commits++;
    };
    await commit({ depth: 0, blocks: steps.find(({ depth }) => depth === 0)?.blocks ?? [] });

    let isDone = false;
    let answers = 0;
    const named = new Set<Bytes32>();
    const asking = async (caller: number) => {
      for (let turn = caller; !isDone; turn += CALLERS + 1) {
        const before = commits;
        const { hash, said, truth } = await ask(server.url, turn);
        expect(said).toEqual(truth(truths.get(hash) as Model));
        expect(lastOf.get(hash)).toBeGreaterThanOrEqual(before);
        named.add(hash);
        answers++;
      }
    };
    const end = () => {
      isDone = true;
    };
    const writing = async () => {
      for (const step of steps) {
        if (isDone) return;
        await commit(step);
        for (const most = answers + ANSWERS; !isDone && answers < most; ) await Bun.sleep(1);
      }
    };
    await Promise.all(
      [writing(), ...Array.from({ length: CALLERS }, (_, caller) => asking(caller))].map((one) => one.finally(end)),
    );
    console.log(`${answers} answers at ${named.size} blocks of ${commits} commits: 0 different`);
    expect(named.size).toBeGreaterThan(30);
  });
}
