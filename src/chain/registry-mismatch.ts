// The registry answered otherwise than the index: the chain halts but is followed on, until the two findConsensus. What the registry
// said is kept with the halt, so that a restart forgets nothing.

import type { Halt, Subject } from '../store/halt.ts';
import { compareBlocks } from './compare-blocks.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import { Untrusted } from './errors.ts';
import type { Provider } from './provider-pool.ts';
import { describeSubject, fetchStatements, findDisagreements, type Statement, v1VaultsOf } from './registry-answers.ts';
import type { Revocations } from './revocations.ts';

/** Where a comparison of everything did not explain it, everything is compared again after so long. */
const AGAIN_MS = 60_000;

export interface AnswersAudit {
  /** How many could be compared. */
  readonly asked: number;
  readonly wrong: readonly Statement[];
}

type Mismatch = Extract<Halt, { code: 'registry-mismatch' | 'index-mismatch' }>;

export function createRegistryMismatch(context: FollowerContext, revocations: Revocations) {
  const { network, store, now, onEvent } = context;
  const { chainId } = network;
  /** Where the comparison of all final blocks stands. */
  let [next, notBefore] = [0, Number.NEGATIVE_INFINITY];
  /** Once begun, the comparison goes through: what agrees by then may not be all that was wrong. */
  let isBegun = false;

  const current = (): Mismatch | null => {
    const halt = context.state?.halt;
    return halt?.code === 'registry-mismatch' || halt?.code === 'index-mismatch' ? halt : null;
  };

  /** Our answers against the registry's own, at a final block, by one provider after the other until one can tell. */
  async function compare(sources: TickProviders, subjects: readonly Subject[]): Promise<AnswersAudit | null> {
    const block = await context.finalBlock();
    if (block === undefined || context.state === null) return null;
    const askedOf = async ({ node }: Provider, about: readonly Subject[]) => {
      const statements = await fetchStatements(network, node, block, about).catch(() => []);
      return { statements, wrong: await findDisagreements(network, store, block.number, statements) };
    };
    const { statements, wrong } = await askedOf(sources.first, subjects);
    if (wrong.length === 0) return { asked: statements.length, wrong };
    const what = wrong.map(({ subject }) => subject);
    for (const other of sources.others) {
      const second = await askedOf(other, what);
      if (second.wrong.length < second.statements.length) {
        throw new Untrusted(`another provider agrees with the index about ${describeSubject(what[0] as Subject)}`);
      }
    }
    onEvent({ type: 'differs', block: block.number, what: what.map(describeSubject) });
    [next, notBefore] = [context.state.firstBlock, now()];
    const since = Math.floor(now() / 1000);
    await context.halt({ code: 'registry-mismatch', since, block: block.number, statements: wrong });
    return { asked: statements.length, wrong };
  }

  /**
   * The way out. What was asked is asked once more of all providers; where the answers stay, every final block is compared
   * with all of them and put right, a part in each tick, and so are the revocations of the wallets in question. True where
   * there is more to do at once.
   */
  async function recheck(sources: TickProviders): Promise<boolean> {
    const halt = current();
    if (halt === null || context.state?.verified == null || now() < notBefore) return false;
    const { firstBlock, verified } = context.state;
    const statements = halt.code === 'registry-mismatch' ? halt.statements : [];
    next = Math.max(next, firstBlock);
    if (!isBegun) {
      if (statements.length > 0 && (await isCleared(sources, statements))) return resume();
      for (const vault of v1VaultsOf(statements.map(({ subject }) => subject))) {
        await context.commit(({ epoch }) => store.unsettle(chainId, epoch, vault, firstBlock));
      }
      revocations.wake();
      isBegun = true;
    }
    const anchor = await context.finalBlock();
    if (anchor === undefined) return false;
    const to = Math.min(verified, next + sources.first.scanner.rangeSize - 1);
    const { isWhole } = await compareBlocks(context, allProviders(sources), anchor, next, to);
    await revocations.verify(sources, next, to);
    if (!isWhole) return true;
    next = to + 1;
    if (to < verified) return true;
    [next, notBefore, isBegun] = [firstBlock, now() + AGAIN_MS, false];
    if (statements.length === 0 || (await isCleared(sources, statements))) return resume();
    return false;
  }

  /** A provider says now what the index says, or none can tell and the index says what was said. */
  async function isCleared(sources: TickProviders, statements: readonly Statement[]): Promise<boolean> {
    const block = await context.finalBlock();
    if (block === undefined) return false;
    const subjects = statements.map(({ subject }) => subject);
    let isTold = false;
    const disagree: Provider[] = [];
    let isAgreed = false;
    for (const source of allProviders(sources)) {
      const said = await fetchStatements(network, source.node, block, subjects).catch(() => []);
      if (said.length < subjects.length) continue;
      isTold = true;
      if ((await findDisagreements(network, store, block.number, said)).length === 0) isAgreed = true;
      else disagree.push(source);
    }
    if (isAgreed) {
      for (const source of disagree)
        context.blame(source, new Untrusted('the registry of another provider agrees with the index'));
    }
    const then = current()?.block ?? block.number;
    return (
      isAgreed ||
      (!isTold && then <= block.number && (await findDisagreements(network, store, then, statements)).length === 0)
    );
  }

  async function resume(): Promise<true> {
    [next, notBefore, isBegun] = [0, Number.NEGATIVE_INFINITY, false];
    await context.halt(null);
    return true;
  }

  return { isActive: () => current() !== null, compare, recheck };
}
