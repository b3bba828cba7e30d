// Handles a registry that contradicts the index: the chain halts but is still followed, until the two agree. The registry's
// answers are stored with the halt, so that a restart keeps them.

import type { Halt, Statement, Subject } from '../store/halt.ts';
import { describeSubject, v1VaultsOf } from './audit-subjects.ts';
import { compareBlocks } from './compare-blocks.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import { Untrusted } from './errors.ts';
import type { Provider } from './provider-pool.ts';
import { fetchStatements, findDisagreements } from './registry-answers.ts';
import type { Revocations } from './revocations.ts';

/** If comparing all blocks did not clear the mismatch, all blocks are compared again after this pause. */
const RECHECK_AFTER_MS = 60_000;

export interface AnswersAudit {
  /** Answers that could be compared. */
  readonly asked: number;
  readonly wrong: readonly Statement[];
}

type Mismatch = Extract<Halt, { code: 'registry-mismatch' | 'index-mismatch' }>;

export function createRegistryMismatch(context: FollowerContext, revocations: Revocations) {
  const { network, store, now, onEvent } = context;
  const { chainId } = network;
  /** The next block to compare. */
  let [next, notBefore] = [0, Number.NEGATIVE_INFINITY];
  /** A comparison that has started runs to the end: the answers may agree before everything is repaired. */
  let isComparing = false;

  const current = (): Mismatch | null => {
    const halt = context.state?.halt;
    return halt?.code === 'registry-mismatch' || halt?.code === 'index-mismatch' ? halt : null;
  };

  /** Compares our answers with the registry's at the verified block. Halts if no provider agrees with the index. */
  async function compare(providers: TickProviders, subjects: readonly Subject[]): Promise<AnswersAudit | null> {
    const block = await context.verifiedBlock();
    if (block === undefined || context.state === null) return null;
    const ask = async ({ node }: Provider, about: readonly Subject[]) => {
      const statements = await fetchStatements(network, node, block, about).catch(() => []);
      return { statements, wrong: await findDisagreements(network, store, block.number, statements) };
    };
    const { statements, wrong } = await ask(providers.first, subjects);
    if (wrong.length === 0) return { asked: statements.length, wrong };
    const disputed = wrong.map(({ subject }) => subject);
    for (const other of providers.others) {
      const second = await ask(other, disputed);
      if (second.wrong.length < second.statements.length) {
        throw new Untrusted(`another provider agrees with the index about ${describeSubject(disputed[0] as Subject)}`);
      }
    }
    onEvent({ type: 'differs', block: block.number, what: disputed.map(describeSubject) });
    [next, notBefore] = [context.state.firstBlock, now()];
    const since = Math.floor(now() / 1000);
    await context.halt({ code: 'registry-mismatch', since, block: block.number, statements: wrong });
    return { asked: statements.length, wrong };
  }

  /**
   * Tries to clear the mismatch. Asks all providers again; if the answers stay, compares and repairs all finalized blocks and
   * the revocations of the wallets in question, one range per tick. True if there is more to do without a pause.
   */
  async function recheck(providers: TickProviders): Promise<boolean> {
    const halt = current();
    if (halt === null || context.state?.verified == null || now() < notBefore) return false;
    const { firstBlock, verified } = context.state;
    const statements = halt.code === 'registry-mismatch' ? halt.statements : [];
    next = Math.max(next, firstBlock);
    if (!isComparing) {
      if (statements.length > 0 && (await isCleared(providers, statements))) return resume();
      for (const vault of v1VaultsOf(statements.map(({ subject }) => subject))) {
        await context.commit(({ epoch }) => store.unsettle(chainId, epoch, vault, firstBlock));
      }
      revocations.wake();
      isComparing = true;
    }
    const anchor = await context.verifiedBlock();
    if (anchor === undefined) return false;
    const to = Math.min(verified, next + providers.first.scanner.rangeSize - 1);
    const { isComplete } = await compareBlocks(context, allProviders(providers), anchor, next, to);
    await revocations.verify(providers, next, to);
    if (!isComplete) return true;
    next = to + 1;
    if (to < verified) return true;
    [next, notBefore, isComparing] = [firstBlock, now() + RECHECK_AFTER_MS, false];
    if (statements.length === 0 || (await isCleared(providers, statements))) return resume();
    return false;
  }

  /** True if a provider agrees with the index now, or if none can answer and the index has the disputed answers. */
  async function isCleared(providers: TickProviders, statements: readonly Statement[]): Promise<boolean> {
    const block = await context.verifiedBlock();
    if (block === undefined) return false;
    const subjects = statements.map(({ subject }) => subject);
    const agreeing: Provider[] = [];
    const disagreeing: Provider[] = [];
    for (const provider of allProviders(providers)) {
      const answers = await fetchStatements(network, provider.node, block, subjects).catch(() => []);
      if (answers.length < subjects.length) continue;
      const wrong = await findDisagreements(network, store, block.number, answers);
      (wrong.length === 0 ? agreeing : disagreeing).push(provider);
    }
    if (agreeing.length > 0) {
      for (const provider of disagreeing)
        context.blame(provider, new Untrusted("another provider's registry agrees with the index"));
      return true;
    }
    if (disagreeing.length > 0) return false;
    const haltedAt = current()?.block ?? block.number;
    return haltedAt <= block.number && (await findDisagreements(network, store, haltedAt, statements)).length === 0;
  }

  async function resume(): Promise<true> {
    [next, notBefore, isComparing] = [0, Number.NEGATIVE_INFINITY, false];
    await context.halt(null);
    return true;
  }

  return { isActive: () => current() !== null, compare, recheck };
}
