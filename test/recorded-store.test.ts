// The genuine registries' recorded answers, asked of the store: at the head after every block, and as of every block and
// every second afterwards. A reader of the changes must hold the same.

import { describe, expect, test } from 'bun:test';
import { answer } from '../src/registry/check.ts';
import type { Address, Bytes32 } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { ListPosition, ListQuery, Store } from '../src/store/store.ts';
import { ENGINES, type EngineUnderTest } from './support/engines.ts';
import { createFeedReader } from './support/feed-reader.ts';
import { asText, type CheckCase, recordedList, trueAnswers } from './support/questions.ts';
import { type BlockTruth, truthOf } from './support/recorded-truth.ts';
import { blockInput, REPLAYED } from './support/vectors.ts';

async function storeList(store: Store, chainId: number, version: 1 | 2, wallet: Address, at: ListQuery['at']) {
  const texts: string[] = [];
  for (let after: ListPosition | null | undefined; after !== null; ) {
    const query = { chainId, version, wallet, at, limit: 7 };
    const page = await store.list(after ? { ...query, after } : query);
    texts.push(...page.delegations.map(asText));
    after = page.next;
  }
  return texts;
}

interface Answered extends CheckCase {
  readonly expected: boolean | bigint | undefined;
}

interface Shares {
  /** Of the questions whose answer may begin or end at the block one in so many is asked, each in its turn. */
  readonly edges: number;
  readonly others: number;
}

const choose = (asked: readonly CheckCase[], { block, answers, isAtEdge }: BlockTruth, shares: Shares): Answered[] =>
  asked
    .map((question, position) => ({ ...question, expected: answers[position] }))
    .filter((_, position) => (position + block.number) % (isAtEdge[position] ? shares.edges : shares.others) === 0);

/** Asks all at once, so that PostgreSQL's round trips overlap. */
async function countWrong(store: Store, chainId: number, asked: Answered[], block?: number) {
  const results = await Promise.all(asked.map(({ question }) => store.check(chainId, question, block)));
  const wrong = asked.filter(
    ({ question, expected }, position) => answer(question, results[position]?.granting ?? []) !== expected,
  );
  return { compared: asked.length, wrong: wrong.length };
}

/**
 * At a checkpoint everything is asked. At every other block the lists, which show every delegation, are compared whole, and of
 * the checks those about the pairs that the block or the next one touches: there alone can an answer begin or end. Of the
 * others a share. PostgreSQL, whose statements are the same, is asked fewer.
 */
const SHARES: Readonly<Record<EngineUnderTest['name'], Shares>> = {
  SQLite: { edges: 2, others: 128 },
  PostgreSQL: { edges: 8, others: 128 },
};
const ALL: Shares = { edges: 1, others: 1 };
/** All questions together, as of one block in so many. */
const TOGETHER = { SQLite: 16, PostgreSQL: 16 };

for (const engine of ENGINES) {
  describe(`the recorded registries on ${engine.name}`, () => {
    // PostgreSQL, whose statements are the same, is asked about the smallest.
    for (const recording of REPLAYED.filter(({ name }) => engine.name === 'SQLite' || name === 'c')) {
      test(`recording ${recording.name}: every check and list is right at every block, then and afterwards`, async () => {
        const store = await openStore(await engine.fresh());
        const { chainId, blocks } = recording;
        const { asked, wallets, blocks: truths } = truthOf(recording);
        const checkpoints = new Map(recording.checkpoints.map((checkpoint) => [checkpoint.blockNumber, checkpoint]));
        const sharesAt = (block: number) => (checkpoints.has(block) ? ALL : SHARES[engine.name]);
        let [compared, wrong] = [0, 0];
        const createReader = () =>
          createFeedReader((after, limit) => store.changes({ chainId, after, isFinal: false, limit }));
        const reader = createReader();
        /** What the changes of a reader amount to at a block, against its lists. */
        const compareChanges = ({ heldAt }: typeof reader, { block, list }: BlockTruth) => {
          const held = heldAt(block.number);
          for (const wallet of wallets) {
            for (const version of [1, 2] as const) {
              const own = held.filter((one) => one.version === version && (one.from === wallet || one.to === wallet));
              expect(own.map(asText).sort()).toEqual(list(version, wallet).toSorted());
              compared++;
            }
          }
        };

        const compareLists = async (truth: BlockTruth) => {
          const at = { block: truth.block.number, revision: (await store.chain(chainId))?.revision ?? 0 };
          const asked = wallets.flatMap((wallet) => ([1, 2] as const).map((version) => ({ version, wallet })));
          const lists = await Promise.all(
            asked.map(({ version, wallet }) => storeList(store, chainId, version, wallet, at)),
          );
          expect(lists).toEqual(asked.map(({ version, wallet }) => truth.list(version, wallet) as string[]));
          compared += lists.length;
        };

        const { epoch } = await store.claim(chainId, blocks[0]?.number ?? 0);
        let after: { number: number; hash: Bytes32 } | null = null;
        for (const truth of truths) {
          const { block, answers } = truth;
          const checkpoint = checkpoints.get(block.number);
          if (checkpoint !== undefined) {
            // The model itself against what the genuine contracts answered.
            const recorded = trueAnswers(checkpoint);
            for (const [position, { name, question }] of asked.entries()) {
              const none = question.scope === 'erc20' || question.scope === 'erc1155' ? 0n : false;
              expect(answers[position]).toBe(recorded.get(name) ?? none);
            }
            for (const wallet of wallets) {
              expect(truth.list(2, wallet) as string[]).toEqual(recordedList(checkpoint, 2, wallet));
              // The v1 contract has its lists by type.
              expect(truth.list(1, wallet).toSorted()).toEqual(recordedList(checkpoint, 1, wallet).toSorted());
            }
          }
          await store.apply({ chainId, epoch, after, blocks: [blockInput(block)], head: block });
          after = block;
          const now = await countWrong(store, chainId, choose(asked, truth, sharesAt(block.number)));
          compared += now.compared;
          wrong += now.wrong;
          await compareLists(truth);
          await reader.follow(1 + (block.number % 5));
          compareChanges(reader, truth);
        }
        const fromNothing = createReader();
        await fromNothing.follow(100);

        for (const truth of truths) {
          const { number } = truth.block;
          const then = await countWrong(store, chainId, choose(asked, truth, sharesAt(number)), number);
          compared += then.compared;
          wrong += then.wrong;
          await compareLists(truth);
          for (const one of [reader, fromNothing]) compareChanges(one, truth);
        }

        const revision = (await store.chain(chainId))?.revision ?? 0;
        const questions = asked.map(({ question }) => question);
        for (const { block, answers } of truths.filter((_, turn) => turn % TOGETHER[engine.name] === 0)) {
          const together = await store.checkMany(chainId, questions, { block: block.number, revision });
          wrong += together.filter((value, position) => value !== answers[position]).length;
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
