// Handles what providers or the registry contradict: the wallets that it concerns are refused until a repair, or the registry, shows
// that the index is right about them. They are stored, so that a restart keeps them.

import type { Question } from '../../registry/check.ts';
import { hasUnnamedRevocations } from '../../registry/versions.ts';
import { type Dispute, type ListLength, type Statement, walletsOf } from '../../store/halt.ts';
import type { BlockRef } from '../../store/store.ts';
import { findAgreedBlock, isOnChain } from '../compare/agreed-block.ts';
import { compareBlocks } from '../compare/compare-blocks.ts';
import { isEqual, readStoredLogs } from '../compare/compare-logs.ts';
import type { Context } from '../compare/context.ts';
import { proveByAny } from '../compare/decide-logs.ts';
import type { Revocations } from '../revocations/revocations.ts';
import type { Provider, TickProviders } from '../rpc/provider-pool.ts';
import { createListLengths } from './list-lengths.ts';
import {
  describeQuestion,
  fetchStatements,
  findDisagreements,
  questionsOfList,
  type WalletList,
} from './registry-answers.ts';

/** If comparing all blocks did not end a dispute, all blocks are compared again after this pause. */
const RECHECK_AFTER_MS = 60_000;

export function createDisputes(context: Context, revocations: Revocations) {
  const { network, store, now, onEvent } = context;
  const { chainId } = network;
  const lengths = createListLengths(context);
  /** The next block to compare. Null if nothing is being compared. */
  let next: number | null = null;
  let notBefore = Number.NEGATIVE_INFINITY;

  const open = (): readonly Dispute[] => context.state?.disputes ?? [];

  /**
   * Compares our answers with the registry's. Refuses the wallets about which a proof, or every provider, contradicts us. Returns the
   * statements that are wrong, and how many answers could be compared.
   */
  async function compare(
    providers: TickProviders,
    questions: readonly (Question | ListLength)[],
    lists: readonly WalletList[],
    at: 'verified' | 'head',
  ) {
    const [first, ...others] = providers;
    const block = at === 'head' ? context.state?.head : await context.verifiedBlock();
    if (block == null || context.state === null) return null;
    const listed = await Array.fromAsync(lists, (list) => questionsOfList(network, store, first.node, block, list));
    const ask = async ({ node }: Provider, about: readonly Statement['question'][]) => {
      const statements = await fetchStatements(network, node, block, about).catch(() => []);
      return { statements, wrong: await findDisagreements(network, store, block.number, statements) };
    };
    const answers = await ask(first, [...questions, ...listed.flat()]);
    let { wrong } = answers;
    for (const other of others) {
      // No opinion outweighs a proof.
      const doubted = wrong.filter(({ isProven }) => !isProven).map(({ question }) => question);
      if (doubted.length === 0) break;
      const second = await ask(other, doubted);
      const agrees = ({ question, isProven }: Statement) =>
        !isProven && second.statements.some((one) => one.question === question && !second.wrong.includes(one));
      wrong = wrong.filter((one) => !agrees(one));
    }
    // A block that a reorg has replaced meanwhile shows nothing.
    const [kept] = await store.blocks(chainId, { from: block.number, to: block.number });
    if (kept?.hash !== block.hash) return null;
    if (wrong.length > 0) {
      onEvent({ type: 'differs', block: block.number, what: wrong.map(({ question }) => describeQuestion(question)) });
      const since = Math.floor(now() / 1000);
      await context.dispute(
        wrong.map((statement): Dispute => {
          return { ...walletsOf(statement), since, block: block.number, statement };
        }),
      );
      [next, notBefore] = [null, Number.NEGATIVE_INFINITY];
    }
    return { asked: answers.statements.length, wrong };
  }

  /**
   * Tries to end disputes. Asks all providers again; about those that stay, compares and repairs all finalized blocks and the
   * revocations of their wallets, one range per tick. True if there is more to do without a pause.
   */
  async function recheck(providers: TickProviders): Promise<boolean> {
    if (open().length === 0 || context.state === null || now() < notBefore) return false;
    const { firstBlock } = context.state;
    if (next === null) await endResolved(providers);
    const anchor = await context.verifiedBlock();
    if (anchor === undefined) {
      notBefore = now() + RECHECK_AFTER_MS;
      return false;
    }
    if (next === null) {
      for (const { vault, statement } of open()) {
        if (statement === null || !hasUnnamedRevocations(statement.question.version)) continue;
        await context.commit(({ epoch }) => store.unsettle(chainId, epoch, vault, firstBlock));
      }
      if (open().length === 0) return true;
      revocations.wake();
      next = firstBlock;
    }
    const to = Math.min(anchor.number, next + providers[0].scanner.rangeSize() - 1);
    const { isComplete } = await compareBlocks(context, providers, anchor, next, to);
    await revocations.verify(providers, next, to);
    if (!isComplete) return true;
    next = to + 1;
    if (to < anchor.number) return true;
    [next, notBefore] = [null, now() + RECHECK_AFTER_MS];
    await endResolved(providers);
    return false;
  }

  /** Ends disputes that a provider resolves: its registry agrees with the index, or nobody disputes the logs of the block. */
  async function endResolved(providers: TickProviders): Promise<void> {
    const resolved: Dispute[] = [];
    const agreed = new Map<number, boolean>();
    for (const dispute of open()) {
      const { block, statement } = dispute;
      if (statement === null && !agreed.has(block)) agreed.set(block, await isAgreed(providers, block));
      const isEnded = statement === null ? agreed.get(block) : await isAnswered(providers, block, statement);
      if (isEnded) resolved.push(dispute);
    }
    if (resolved.length > 0) await context.endDisputes(resolved);
  }

  async function isAgreed(providers: TickProviders, block: number): Promise<boolean> {
    const head = context.state?.head;
    if (head == null || block > head.number) return true;
    const verified = await context.verifiedBlock();
    const anchor = verified !== undefined && block <= verified.number ? verified : head;
    try {
      const result = await compareBlocks(context, providers, anchor, block, block);
      // One that is not there now may contradict again, unless the index is proven right.
      if (result.undecided > 0) return false;
      return result.providers === context.providerCount || (await isProven(providers, block, anchor));
    } catch {
      return false;
    }
  }

  /** Whether the index has the logs of the block that is on the chain. */
  async function isProven(providers: TickProviders, number: number, anchor: BlockRef): Promise<boolean> {
    if (!context.proof.isProven || network.stateSync) return false;
    const agreed = await findAgreedBlock(context, providers, number, anchor);
    if (!(await isOnChain(context, agreed, anchor))) return false;
    const { logs } = await proveByAny(context, agreed.providers, agreed.header);
    const stored = await readStoredLogs(store, chainId, number);
    return isEqual(network, stored, logs);
  }

  async function isAnswered(providers: TickProviders, block: number, statement: Statement): Promise<boolean> {
    const verified = await context.verifiedBlock();
    const at = verified !== undefined && block <= verified.number ? verified : context.state?.head;
    if (at == null) return false;
    let [isAsked, isAgreed] = [false, false];
    for (const { node } of providers) {
      const [answer] = await fetchStatements(network, node, at, [statement.question]).catch(() => []);
      if (answer === undefined) continue;
      const agrees = (await findDisagreements(network, store, at.number, [answer])).length === 0;
      if (answer.isProven) return agrees;
      // What was proven ends with another proof, or when the index says the same.
      isAgreed ||= agrees && !statement.isProven;
      isAsked = true;
    }
    if (isAgreed) return true;
    // No provider has the state any more, or can prove it: the index must have come to say what the registry said.
    const isThere = block <= at.number && (!isAsked || statement.isProven);
    return isThere && (await findDisagreements(network, store, block, [statement])).length === 0;
  }

  /** Compares the lengths of some wallets' lists. Returns how many, and whether that was the end of a round; null if it is not known. */
  async function compareLengths(providers: TickProviders, begin?: number) {
    const block = await context.verifiedBlock();
    // Of a chain that is indexed in part, earlier grants are unknown.
    if (block === undefined || context.state === null || context.state.partial) return null;
    const [{ node }] = providers;
    const found = await lengths.findDifferent(node, block, begin);
    if (found === null) return null;
    const { compared, different, isEnd } = found;
    if (different.length > 0) await compare(providers, different, [], 'verified');
    return { compared, isEnd };
  }

  return { compare, compareLengths, recheck, isOpen: () => open().length > 0 };
}
