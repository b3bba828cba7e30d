// The genuine registries' recorded answers, asked of the store: at the head after every block, and as of every block and
// every second afterwards.

import { describe, expect, test } from 'bun:test';
import { answer } from '../src/registry/check.ts';
import type { Address, Bytes32 } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { ENGINES } from './support/engines.ts';
import { createModel, type Model } from './support/model.ts';
import { asText, type CheckCase, everyQuestion, recordedList, trueAnswers } from './support/questions.ts';
import { blockInput, RECORDINGS } from './support/vectors.ts';

const modelList = (model: Model, version: 1 | 2, wallet: Address) =>
  model
    .held()
    .filter((held) => held.version === version && (held.from === wallet || held.to === wallet))
    .map(asText)
    .sort();

async function storeList(store: Store, chainId: number, version: 1 | 2, wallet: Address, at: number) {
  const revision = (await store.chain(chainId))?.revision ?? 0;
  const texts: string[] = [];
  for (let after: { block: number; logIndex: number } | null | undefined; after !== null; ) {
    const query = { chainId, version, wallet, at: { block: at, revision }, limit: 7 };
    const page = await store.list(after ? { ...query, after } : query);
    texts.push(...page.delegations.map(asText));
    after = page.next;
  }
  return texts.sort();
}

interface Answered extends CheckCase {
  readonly expected: boolean | bigint | undefined;
}

/** One question in `share`, each in its turn. */
const choose = (asked: CheckCase[], truths: (boolean | bigint)[], share: number, turn: number): Answered[] =>
  asked
    .map((question, position) => ({ ...question, expected: truths[position] }))
    .filter((_, position) => position % share === turn % share);

/** Asks all at once, so that PostgreSQL's round trips overlap. */
async function countWrong(store: Store, chainId: number, asked: Answered[], block?: number) {
  const results = await Promise.all(asked.map(({ question }) => store.check(chainId, question, block)));
  const wrong = asked.filter(
    ({ question, expected }, position) => answer(question, results[position]?.granting ?? []) !== expected,
  );
  return { compared: asked.length, wrong: wrong.length };
}

/**
 * At a checkpoint everything is asked. Between two of them the lists, which show every delegation, are compared whole at
 * every block, and of the checks a share, another one at each block; as of a block SQLite is asked all of them.
 */
const SHARES = { SQLite: { now: 4, asOf: 1 }, PostgreSQL: { now: 8, asOf: 8 } };

for (const engine of ENGINES) {
  const shares = SHARES[engine.name];
  describe(`the recorded registries on ${engine.name}`, () => {
    for (const recording of RECORDINGS) {
      test(`recording ${recording.name}: every check and list is right at every block, then and afterwards`, async () => {
        const store = await openStore(await engine.fresh());
        const { chainId, blocks } = recording;
        const asked = everyQuestion(recording);
        const wallets = [...new Set([...recording.vaults, ...recording.delegates])];
        const checkpoints = new Map(recording.checkpoints.map((checkpoint) => [checkpoint.blockNumber, checkpoint]));
        const model = createModel();
        const truthsAt = new Map<number, (boolean | bigint)[]>();
        const listsAt = new Map<string, string[]>();
        let [compared, wrong] = [0, 0];

        const { epoch } = await store.claim(chainId, blocks[0]?.number ?? 0);
        let after: { number: number; hash: Bytes32 } | null = null;
        for (const block of blocks) {
          for (const { calls } of block.txs) for (const call of calls) model.call(call);
          const truths = asked.map(({ truth }) => truth(model));
          const checkpoint = checkpoints.get(block.number);
          if (checkpoint !== undefined) {
            // The model itself against what the genuine contracts answered.
            const recorded = trueAnswers(checkpoint);
            for (const [position, { name, question }] of asked.entries()) {
              const none = question.scope === 'erc20' || question.scope === 'erc1155' ? 0n : false;
              expect(truths[position]).toBe(recorded.get(name) ?? none);
            }
          }
          truthsAt.set(block.number, truths);

          const input = blockInput(block);
          await store.apply({ chainId, epoch, after, blocks: [input], head: block });
          after = block;

          const now = await countWrong(
            store,
            chainId,
            choose(asked, truths, checkpoint ? 1 : shares.now, block.number),
          );
          compared += now.compared;
          wrong += now.wrong;
          for (const version of [1, 2] as const) {
            for (const wallet of wallets) {
              const truth = modelList(model, version, wallet);
              if (checkpoint) expect(truth).toEqual(recordedList(checkpoint, version, wallet));
              listsAt.set(`${block.number},${version},${wallet}`, truth);
              expect(await storeList(store, chainId, version, wallet, block.number)).toEqual(truth);
              compared++;
            }
          }
        }

        for (const { number } of blocks) {
          const share = checkpoints.has(number) ? 1 : shares.asOf;
          const then = await countWrong(
            store,
            chainId,
            choose(asked, truthsAt.get(number) ?? [], share, number),
            number,
          );
          compared += then.compared;
          wrong += then.wrong;
          for (const version of [1, 2] as const) {
            for (const wallet of wallets) {
              const list = await storeList(store, chainId, version, wallet, number);
              expect(list).toEqual(listsAt.get(`${number},${version},${wallet}`) as string[]);
              compared++;
            }
          }
        }

        // All questions at once, as of every block, or on the slower engine as of some.
        const revision = (await store.chain(chainId))?.revision ?? 0;
        const questions = asked.map(({ question }) => question);
        for (const { number } of blocks.filter((_, turn) => engine.name === 'SQLite' || turn % 8 === 0)) {
          const together = await store.checkMany(chainId, questions, { block: number, revision });
          const truths = truthsAt.get(number) ?? [];
          wrong += together.filter((value, position) => value !== truths[position]).length;
          compared += together.length;
        }

        const [oldest, newest] = [blocks[0]?.timestamp ?? 0, blocks.at(-1)?.timestamp ?? 0];
        for (let time = oldest; time < newest; time++) {
          const truth = blocks.findLast((block) => block.timestamp <= time);
          expect((await store.blockAt(chainId, time)).number).toBe(truth?.number as number);
          compared++;
        }
        console.log(`${engine.name}, recording ${recording.name}: ${compared} answers compared, ${wrong} wrong`);
        expect(wrong).toBe(0);
        await store.close();
      });
    }
  });
}
