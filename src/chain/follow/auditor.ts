// Audits the index continuously: compares finalized blocks with all providers, from the first to the newest and round again, and
// compares sampled answers with the registry.

import type { Question } from '../../registry/check.ts';
import type { Network } from '../../registry/network.ts';
import { HASHES } from '../../store/index-hash.ts';
import type { Store } from '../../store/store.ts';
import { listsAbout, questionsAbout } from '../audit/registry-answers.ts';
import type { Follower } from './follower.ts';
import { type RunOptions, sleep } from './run-follower.ts';

export type Auditor = ReturnType<typeof createAuditor>;

const LOGS_EVERY_MS = 90_000;
const ANSWERS_EVERY_MS = 300_000;
/** A call for up to two thousand wallets, of 3,000 gas each. */
const LENGTHS_EVERY_MS = 60_000;
const PROVE_PAUSE_MS = 600_000;
/** Stored logs, and denied checks, per audit of answers. */
const SAMPLE_SIZE = 2;
const LOGS_TO_SAMPLE = 200;
const MAX_DENIED = 100;

/** Runs concurrently with the follower's ticks, until the signal aborts. */
export async function runAuditor(auditor: Auditor, { pollMs, signal, onError }: RunOptions): Promise<void> {
  while (!signal.aborted) {
    let hasMore = false;
    try {
      hasMore = await auditor.run();
    } catch (error) {
      onError(error);
    }
    await sleep(hasMore ? 0 : pollMs, signal);
  }
}

export function createAuditor(
  follower: Follower,
  network: Network,
  store: Store,
  now: () => number,
  random = Math.random,
) {
  let [logsAt, answersAt, lengthsAt, proveAt, from] = [now(), now(), now(), now(), 0];
  /** Finalized blocks that were audited, registry answers and lengths of lists that were compared, since the start. */
  const done = { audited: 0, compared: 0, counted: 0 };
  let denied: Question[] = [];
  let contradicted: readonly Question[] = [];
  /** Whether a second provider answered the last time. */
  let hasSecondProvider = true;
  /**
   * Where the next round of lengths begins, if one is to begin. The first one begins anywhere: a round over a million wallets takes a day,
   * and a follower that restarts more often must come to all of them too.
   */
  let lengthsFrom: number | undefined = Math.floor(random() * HASHES);
  /** The newest block of the import that the round is about. */
  let counting: number | null = null;

  /** Removes and returns random items. */
  const draw = <T>(list: T[], count: number): T[] =>
    Array.from({ length: Math.min(count, list.length) }, () =>
      list.splice(Math.floor(random() * list.length), 1),
    ).flat();

  /** Compares the next range. Returns the number of providers that answered. */
  async function compareLogs(firstBlock: number, verified: number): Promise<number> {
    if (from < firstBlock || from > verified) from = firstBlock;
    const to = Math.min(from + follower.rangeSize() - 1, verified);
    const [low, size] = [from, to - from + 1];
    // If the comparison throws, as for pruned history, the next one starts later, so that the rest is still compared.
    from = low + Math.ceil(size / 2);
    const result = await follower.audit(low, to);
    if (result === null) return 0;
    from = result.isComplete ? to + 1 : low;
    if (result.isComplete) done.audited += size;
    return result.providers;
  }

  async function compareAnswers(firstBlock: number, verified: number) {
    const start = firstBlock + Math.floor(random() * (verified - firstBlock + 1));
    const range = { to: verified, limit: LOGS_TO_SAMPLE };
    let logs = await store.logs(network.chainId, { from: start, ...range });
    if (logs.length === 0) logs = await store.logs(network.chainId, { from: firstBlock, ...range });
    const questions = [...questionsAbout(draw(logs, SAMPLE_SIZE)), ...draw(denied, SAMPLE_SIZE)];
    const [one] = draw([...questions], 1);
    const result = await follower.auditAnswers(questions, one === undefined ? [] : listsAbout(one));
    done.compared += result?.asked ?? 0;
  }

  return {
    /** Audits what is due. True if there is more to do without a pause. */
    async run(): Promise<boolean> {
      const { firstBlock = 0, verified = null, agreedBlock: confirmed = null, imported = null } = follower.state ?? {};
      if (contradicted.length > 0) {
        const asked = contradicted;
        await follower.auditAnswers(asked, [], 'head');
        contradicted = contradicted.slice(asked.length);
      }
      if (verified === null || follower.isBusy) return false;
      // An import is compared before anything else, at the speed that one provider allows.
      const compared = imported === null ? null : await follower.auditImported();
      done.audited += compared ?? 0;
      // The first pass follows the backfill as fast as a second provider allows. Later passes compare one range at a time.
      const next = (confirmed ?? firstBlock - 1) + 1;
      const isFirstPass = imported === null && hasSecondProvider && next <= verified;
      let hasMore = compared !== null;
      if (isFirstPass || now() - logsAt >= LOGS_EVERY_MS) {
        logsAt = now();
        if (isFirstPass) from = next;
        hasSecondProvider = false;
        hasSecondProvider = (await compareLogs(firstBlock, verified)) > 1;
        hasMore = hasSecondProvider && (follower.state?.agreedBlock ?? -1) > (confirmed ?? -1);
      }
      if (now() - answersAt >= ANSWERS_EVERY_MS) {
        answersAt = now();
        await compareAnswers(firstBlock, verified);
      }
      const toCount = imported === null || imported.isCounted || follower.isBehind ? null : imported.to;
      // The wallets of an import are all compared, from the first one on.
      if (toCount !== null && toCount !== counting) lengthsFrom = 0;
      counting = toCount;
      if (toCount !== null || now() - lengthsAt >= LENGTHS_EVERY_MS) {
        lengthsAt = now();
        const result = await follower.auditLengths(lengthsFrom);
        if (result !== null) lengthsFrom = undefined;
        done.counted += result?.compared ?? 0;
        if (toCount !== null && result?.isEnd) await follower.importCounted(toCount);
        hasMore ||= toCount !== null && result !== null;
      }
      if (now() >= proveAt) {
        // Between two rounds of all history, blocks that could not be proven wait.
        proveAt = now() + PROVE_PAUSE_MS;
        if (await follower.prove()) proveAt = now();
      }
      return hasMore;
    },
    /** Compares every finalized block once. */
    async auditAll(): Promise<void> {
      const { firstBlock = 0, verified = null } = follower.state ?? {};
      if (verified === null) return;
      from = firstBlock;
      while (from <= verified && (await compareLogs(firstBlock, verified)) > 0);
    },
    /** Adds denied checks: a delegation that the index lacks shows only there. */
    addDenied(questions: readonly Question[]): void {
      denied = [...denied, ...questions].slice(-MAX_DENIED);
    },
    /** Adds checks whose answer a proof contradicted: they are compared first, as of the head. */
    addContradicted(questions: readonly Question[]): void {
      contradicted = [...contradicted, ...questions.slice(0, MAX_DENIED - contradicted.length)];
    },
    done: done as Readonly<typeof done>,
  };
}
