// Answers of a simulated chain with its own state, about one registry or both, and nodes that prove them.

import { type Node, parseHeader } from '../../src/chain/rpc/node.ts';
import type { AnyQuestion, Question } from '../../src/registry/check.ts';
import type { Bytes32 } from '../../src/registry/delegation.ts';
import { ALL_CHECKS } from './every-answer.ts';
import { createChainMaker, type FakeBlock, headerJson } from './fake-node.ts';
import { createRandom } from './random.ts';
import { randomCalls } from './world.ts';

export interface SimulatedAnswer {
  readonly question: Question | AnyQuestion;
  /** Of both registries together, it is not known. */
  readonly result: boolean | bigint | null;
  readonly block: { readonly number: number; readonly hash: Bytes32; readonly timestamp: number };
  readonly node: Node;
}

/** Some checks at the end of a few blocks, every second one about both registries. */
export function simulatedAnswers(seed: number, perBlock: number): SimulatedAnswer[] {
  const random = createRandom(seed);
  const maker = createChainMaker(1);
  const found: SimulatedAnswer[] = [];
  let parent: FakeBlock | null = null;
  for (let turn = 0; turn < 60; turn++) {
    const block: FakeBlock = maker.block(parent, randomCalls(random));
    parent = block;
    if (turn % 20 < 19) continue;
    const node = {
      headerOf: async (hash: Bytes32) => parseHeader(headerJson(block), hash),
      storageProof: async (...[address, slots]: Parameters<Node['storageProof']>) => block.proof?.(address, slots),
    } as unknown as Node;
    const { number, hash, timestamp } = block;
    for (let left = perBlock; left > 0; left--) {
      const { question, truth } = ALL_CHECKS[Math.floor(random() * ALL_CHECKS.length)] as (typeof ALL_CHECKS)[number];
      const isAny = question.version === 2 && left % 2 === 0;
      found.push({
        question: isAny ? { ...question, version: 'any' } : question,
        result: isAny ? null : truth(maker.modelAt(hash)),
        block: { number, hash, timestamp },
        node,
      });
    }
  }
  return found;
}
