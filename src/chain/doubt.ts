// The registry answered otherwise than the index: the chain shuts but is followed on, until the two agree.

import type { ChainState } from '../store/store.ts';
import { agreeing, disagreements, type Statement, type Subject, statementsOf, textOf, vaultsOf } from './answers.ts';
import { type Audit, readStatesAgain } from './audit.ts';
import { Untrusted } from './errors.ts';
import type { Followed } from './followed.ts';
import type { Nodes } from './resolve.ts';

/** How the reason begins for which the chain is shut. */
const REASON = 'The registry answers otherwise than the index';
/** Where a comparison of everything did not explain it, everything is compared again after so long. */
const AGAIN_MS = 600_000;

export interface AnswersAudit {
  /** How many could be compared. */
  readonly asked: number;
  readonly wrong: readonly Statement[];
}

interface Doubt {
  /** What the registry said; after a restart nobody knows any more. */
  readonly statements: readonly Statement[];
  /** At this block. */
  readonly block: number;
  /** Where the comparison of all final blocks stands. */
  readonly next: number;
  readonly notBefore: number;
}

type AuditRange = (nodes: Nodes, from: number, to: number) => Promise<Audit | null>;

export function createDoubt(chain: Followed, audit: AuditRange) {
  const { network, store, scanner, now, onEvent } = chain;
  let doubt: Doubt | null = null;

  const isOn = () => chain.state?.shut?.startsWith(REASON) ?? false;

  /** Our answers against the registry's own, at a final block. Where other nodes say the same, our rows are wrong. */
  async function compare({ node, others }: Nodes, subjects: readonly Subject[]): Promise<AnswersAudit | null> {
    const block = await chain.finalBlock();
    if (block === undefined || chain.state === null) return null;
    const statements = await statementsOf(network, node, block, subjects);
    const wrong = await disagreements(network, store, block.number, statements);
    if (wrong.length === 0) return { asked: statements.length, wrong };
    const what = wrong.map(({ subject }) => subject);
    for (const other of others) {
      const said = await statementsOf(network, other, block, what).catch(() => []);
      if ((await disagreements(network, store, block.number, said)).length < said.length) {
        throw new Untrusted(`another node agrees with the index about ${textOf(what[0] as Subject)}`);
      }
    }
    onEvent({ type: 'differs', block: block.number, what: what.map(textOf) });
    doubt = { block: block.number, statements: wrong, next: chain.state.firstBlock, notBefore: now() };
    await chain.shut(`${REASON}: ${wrong.length} of ${statements.length} at block ${block.number}.`);
    return { asked: statements.length, wrong };
  }

  /**
   * The way out. What was asked is asked once more; where the answers stay, every final block is compared and mended, a part
   * in each tick, and so are the readings of state of the wallets in question. True where there is more to do at once.
   */
  async function reconsider(nodes: Nodes): Promise<boolean> {
    if (chain.state?.verified == null) return false;
    const { firstBlock, verified } = chain.state;
    doubt ??= { statements: [], block: verified, next: firstBlock, notBefore: now() };
    if (now() < doubt.notBefore) return false;
    const { statements, next } = doubt;
    if (next <= firstBlock && statements.length > 0 && (await isCleared(nodes, doubt))) return true;
    const to = Math.min(verified, next + scanner.span - 1);
    const compared = await audit(nodes, next, to);
    if (compared === null || compared.wrongFrom !== null) return false;
    const vaults = statements.length === 0 ? null : vaultsOf(statements.map(({ subject }) => subject));
    chain.state = await readStatesAgain({ network, store }, nodes, chain.state as ChainState, {
      from: next,
      to,
      vaults,
    });
    chain.mayHaveUnread = true;
    if (to < (chain.state.verified ?? 0)) {
      doubt = { ...doubt, next: to + 1 };
      return true;
    }
    if (statements.length === 0) return clear();
    if (await isCleared(nodes, doubt)) return true;
    doubt = { ...doubt, next: firstBlock, notBefore: now() + AGAIN_MS };
    return false;
  }

  /** Opens the chain where a node says now what the index says, or where none can tell and the index says what was said. */
  async function isCleared({ node, others }: Nodes, { statements, block: then }: Doubt): Promise<boolean> {
    const block = await chain.finalBlock();
    if (block === undefined) return false;
    const subjects = statements.map(({ subject }) => subject);
    const agree = await agreeing(network, store, [node, ...others], block, subjects);
    const isMended =
      agree === null && then <= block.number && (await disagreements(network, store, then, statements)).length === 0;
    if (!isMended && (agree === null || agree.length === 0)) return false;
    await clear();
    if (agree !== null && !agree.includes(node))
      throw new Untrusted('the registry of another node agrees with the index');
    return true;
  }

  async function clear(): Promise<boolean> {
    doubt = null;
    await chain.shut(null);
    return true;
  }

  return {
    isOn,
    compare,
    reconsider,
    /** Why a chain that opens for another reason stays shut; null where there is no doubt. */
    reason: () => (doubt === null ? null : `${REASON}, at block ${doubt.block}.`),
  };
}
