// The audit that never ends: final blocks from the first to the newest and round again, and what the registry itself says.

import type { Question } from '../registry/check.ts';
import type { Network } from '../registry/network.ts';
import type { Store } from '../store/store.ts';
import type { Follower } from './follower.ts';
import { listsAbout, questionsAbout, type Subject } from './registry-answers.ts';
import { sleep } from './run-follower.ts';

export interface Auditor {
  /** Does a little where it is time. True where there is more to do at once. */
  run(): Promise<boolean>;
  /** Compares every final block once, at once. */
  auditAll(): Promise<void>;
  /** Questions of callers who were told no: nothing of ours would ever bring us to ask them. */
  addDenied(questions: readonly Question[]): void;
  /** Blocks compared so far. */
  readonly blocks: number;
  /** Answers of the registry compared so far. */
  readonly answers: number;
}

const LOGS_EVERY_MS = 90_000;
const ANSWERS_EVERY_MS = 300_000;
/** Of what is in the store, and of what callers asked, so many each time. */
const DRAWN = 2;
const LOGS_TO_DRAW_FROM = 200;
const DENIED_KEPT = 100;

/** Audits beside the ticks of the follower, never in their way, until the signal comes. */
export async function runAuditor(
  auditor: Auditor,
  { pollMs, signal, onError }: { pollMs: number; signal: AbortSignal; onError: (error: unknown) => void },
): Promise<void> {
  while (!signal.aborted) {
    let isMore = false;
    try {
      isMore = await auditor.run();
    } catch (error) {
      onError(error);
    }
    await sleep(isMore ? 0 : pollMs, signal);
  }
}

export function createAuditor(
  follower: Follower,
  { chainId }: Network,
  store: Store,
  now: () => number,
  random: () => number = Math.random,
): Auditor {
  let [logsAt, answersAt, from, blocks, answers] = [now(), now(), 0, 0, 0];
  let denied: Question[] = [];
  /** Whether a second provider could be asked the last time. */
  let isSecondSource = true;

  /** Removes so many of a list, by chance. */
  const draw = <T>(list: T[], count: number): T[] =>
    Array.from({ length: Math.min(count, list.length) }, () =>
      list.splice(Math.floor(random() * list.length), 1),
    ).flat();

  /** Gives how many providers could be compared with. */
  async function compareLogs(firstBlock: number, verified: number): Promise<number> {
    if (from < firstBlock || from > verified) from = firstBlock;
    const to = Math.min(from + follower.rangeSize - 1, verified);
    const [low, size] = [from, to - from + 1];
    // What no provider can give, such as history that was thrown away, must not keep the rest from being compared.
    from = low + Math.ceil(size / 2);
    const result = await follower.audit(low, to);
    if (result === null) return 0;
    from = result.isWhole ? to + 1 : low;
    if (result.isWhole) blocks += size;
    return result.sources;
  }

  async function compareAnswers(firstBlock: number, verified: number) {
    const start = firstBlock + Math.floor(random() * (verified - firstBlock + 1));
    const range = { to: verified, limit: LOGS_TO_DRAW_FROM };
    let logs = await store.logs(chainId, { from: start, ...range });
    if (logs.length === 0) logs = await store.logs(chainId, { from: firstBlock, ...range });
    const questions = [...questionsAbout(draw(logs, DRAWN)), ...draw(denied, DRAWN)];
    const [one] = draw([...questions], 1);
    const subjects: Subject[] = one === undefined ? [] : [...questions, ...listsAbout(one)];
    answers += (await follower.auditAnswers(subjects))?.asked ?? 0;
  }

  return {
    async run() {
      const { firstBlock = 0, verified = null, confirmed = null } = follower.state ?? {};
      if (verified === null) return false;
      // The first pass follows the backfill as fast as a second provider allows; then a range now and then will do.
      const next = (confirmed ?? firstBlock - 1) + 1;
      const isFirstPass = isSecondSource && next <= verified;
      let isMore = false;
      if (isFirstPass || now() - logsAt >= LOGS_EVERY_MS) {
        logsAt = now();
        if (isFirstPass) from = next;
        isSecondSource = false;
        isSecondSource = (await compareLogs(firstBlock, verified)) > 1;
        isMore = isSecondSource && (follower.state?.confirmed ?? -1) > (confirmed ?? -1);
      }
      if (now() - answersAt >= ANSWERS_EVERY_MS) {
        answersAt = now();
        await compareAnswers(firstBlock, verified);
      }
      return isMore;
    },
    async auditAll() {
      const { firstBlock = 0, verified = null } = follower.state ?? {};
      if (verified === null) return;
      from = firstBlock;
      while (from <= verified && (await compareLogs(firstBlock, verified)) > 0);
    },
    addDenied(questions) {
      denied = [...denied, ...questions].slice(-DENIED_KEPT);
    },
    get blocks() {
      return blocks;
    },
    get answers() {
      return answers;
    },
  };
}
