// Writes a chain to a store under test, and keeps track of its state.

import { expect } from 'bun:test';
import { answer, type Question } from '../../src/registry/check.ts';
import { NO_RIGHTS } from '../../src/registry/delegation.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { BlockInput, ChainState, CommitInput, Settlement, Store } from '../../src/store/store.ts';
import { COLD, CONTRACT, HOT } from './fixtures.ts';

/** The first block of a test chain, unless another is given. */
export const FIRST = 100;
export const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;

export const asksAll: Question = { version: 2, scope: 'all', from: COLD, to: HOT, rights: NO_RIGHTS };
export const asksErc20: Question = { ...asksAll, scope: 'erc20', contract: CONTRACT };
export const asksV1: Question = { version: 1, scope: 'all', from: COLD, to: HOT };

/** Returns the typed error that the work must fail with. */
export async function failure(work: Promise<unknown>): Promise<StoreError> {
  const error = await work.then(
    () => null,
    (cause) => cause,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error;
}

let chains = 0;

/** Creates a chain, with an unused id unless one is given. */
export async function newChain(store: Store, chainId = ++chains, first = FIRST) {
  let state: ChainState = await store.claim(chainId, first);
  return {
    chainId,
    get state() {
      return state;
    },
    async add(blocks: BlockInput[], more: Partial<CommitInput> = {}) {
      const tip = blocks.at(-1) ?? state.head;
      if (tip === null) throw new Error('nothing to add');
      const head = { number: tip.number, hash: tip.hash, timestamp: tip.timestamp };
      const batch = { chainId, epoch: state.epoch, after: state.head, blocks, head, ...more };
      state = await store.apply(batch);
      return state;
    },
    async repair(blocks: BlockInput[]) {
      state = await store.repair({ chainId, epoch: state.epoch, blocks });
      return state;
    },
    async settle(...settlements: Settlement[]) {
      state = await store.settle(chainId, state.epoch, settlements);
      return state;
    },
    ask: async (question: Question, at?: number) =>
      answer(question, (await store.check(chainId, question, at)).granting),
    /** The answers at these blocks; an error is given as its code. */
    async answers(question: Question, ...blocks: (number | undefined)[]) {
      const found: unknown[] = [];
      for (const at of blocks) {
        const { granting } = await store.check(chainId, question, at).catch((error) => ({ granting: error }));
        found.push(granting instanceof StoreError ? granting.code : answer(question, granting));
      }
      return found;
    },
    async list(at = state.head?.number ?? 0, wallet = COLD, version: 1 | 2 = 2, direction?: 'incoming' | 'outgoing') {
      const query = { chainId, version, wallet, at: { block: at, revision: state.revision }, limit: 1000 };
      return (await store.list(direction ? { ...query, direction } : query)).delegations;
    },
  };
}
