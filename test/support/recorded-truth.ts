// What every question and list about a recording must be answered after each of its blocks, by the model. Made once for each
// recording, whatever is compared with it.

import type { Address } from '../../src/registry/delegation.ts';
import { createModel } from './model.ts';
import { asText, type CheckCase, everyQuestion } from './questions.ts';
import type { RecordedBlock, Recording } from './vectors.ts';

export interface BlockTruth {
  readonly block: RecordedBlock;
  /** In the order of `asked`. */
  readonly answers: readonly (boolean | bigint)[];
  /** Which questions are about a pair of wallets that this block, or the one after it, has a call or another answer for. */
  readonly isAtEdge: readonly boolean[];
  /** A wallet's delegations in both directions, as texts, in their order. */
  list(version: 1 | 2, wallet: Address): readonly string[];
}

interface RecordedTruth {
  readonly asked: readonly CheckCase[];
  readonly wallets: readonly Address[];
  readonly blocks: readonly BlockTruth[];
}

const known = new Map<Recording, RecordedTruth>();

export function truthOf(recording: Recording): RecordedTruth {
  let truth = known.get(recording);
  if (truth === undefined) {
    truth = computeTruth(recording);
    known.set(recording, truth);
  }
  return truth;
}

function computeTruth(recording: Recording): RecordedTruth {
  const asked = everyQuestion(recording);
  const pairs = asked.map(({ question: { from, to } }) => `${from}${to}`);
  const wallets = [...new Set([...recording.vaults, ...recording.delegates])];
  const model = createModel();
  let before: (boolean | bigint)[] = asked.map(({ truth }) => truth(model));
  const blocks = recording.blocks.map((block) => {
    const calls = block.txs.flatMap((tx) => tx.calls);
    for (const call of calls) model.call(call);
    // What a wallet has granted changes by its own calls, or by those that name it.
    const involved = new Set(calls.flatMap(([, caller, , [other]]) => [caller, other]));
    const answers = asked.map(({ question, truth }, turn) =>
      involved.has(question.from) ? truth(model) : (before[turn] as boolean | bigint),
    );
    const changed = new Set(calls.flatMap(([, caller, , [other]]) => [`${caller}${other}`, `${other}${caller}`]));
    for (const [turn, pair] of pairs.entries()) if (answers[turn] !== before[turn]) changed.add(pair);
    before = answers;
    const lists = new Map<string, string[]>();
    for (const version of [1, 2] as const) {
      for (const wallet of wallets) lists.set(`${version}${wallet}`, model.list(version, wallet).map(asText));
    }
    return { block, answers, changed, lists };
  });
  return {
    asked,
    wallets,
    blocks: blocks.map(({ block, answers, changed, lists }, turn) => ({
      block,
      answers,
      isAtEdge: pairs.map((pair) => changed.has(pair) || (blocks[turn + 1]?.changed.has(pair) ?? false)),
      list: (version, wallet) => lists.get(`${version}${wallet}`) ?? [],
    })),
  };
}
