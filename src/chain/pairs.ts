// Our answers against the registry's own, at one block: pairs that have something, and pairs that have nothing.

import { answer, type Question, questionFor } from '../registry/check.ts';
import type { Address } from '../registry/delegation.ts';
import type { Network } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { BlockRef, LogRecord, Store } from '../store/store.ts';
import type { Node } from './node.ts';
import { answerOf, callOf } from './registry-calls.ts';
import { RpcError } from './rpc.ts';

export interface PairAudit {
  /** How many could be compared. */
  readonly asked: number;
  readonly wrong: readonly Question[];
}

/** How many are asked in one request. */
const BATCH = 50;

export async function auditPairs(
  network: Network,
  store: Store,
  node: Node,
  block: BlockRef,
  questions: readonly Question[],
): Promise<PairAudit> {
  const wrong: Question[] = [];
  let compared = 0;
  for (let from = 0; from < questions.length; from += BATCH) {
    const some = questions.slice(from, from + BATCH);
    for (const version of [1, 2] as const) {
      const registry = network.registries[version];
      const asked = some.filter((question) => question.version === version);
      if (registry === undefined || asked.length === 0) continue;
      const answers = await node.read(registry, asked.map(callOf), block).catch(ifStateIsGone);
      if (answers === null) continue;
      for (const [position, question] of asked.entries()) {
        const granting = await grantingOf(store, network.chainId, question, block.number);
        if (granting === null) continue;
        compared++;
        if (answer(question, granting) !== answerOf(question, answers[position] as string)) wrong.push(question);
      }
    }
  }
  return { asked: compared, wrong };
}

/** A node that has thrown the state of that block away cannot be asked. */
function ifStateIsGone(error: unknown): null {
  if (error instanceof RpcError && error.fault === 'refused') return null;
  throw error;
}

/** Null where the index itself says that it does not know. */
async function grantingOf(store: Store, chainId: number, question: Question, block: number) {
  try {
    return (await store.check(chainId, question, block)).granting;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'revocation-unread') return null;
    throw error;
  }
}

/** Questions about what some logs were about, and about a wallet that has nothing to do with it. */
export function questionsOf(logs: readonly LogRecord[]): Question[] {
  return logs.flatMap(({ event }) => {
    if (!('delegation' in event)) return [];
    const { delegation } = event;
    const stranger: Address = `0x${delegation.from.slice(2).split('').reverse().join('')}`;
    return [questionFor(delegation), questionFor({ ...delegation, to: stranger })];
  });
}
