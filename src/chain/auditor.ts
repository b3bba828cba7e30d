// The audit that never ends: final blocks from the first to the newest and round again, and what the registry itself says.

import type { Question } from '../registry/check.ts';
import type { Network } from '../registry/network.ts';
import type { Store } from '../store/store.ts';
import { listsOf, questionsOf, type Subject } from './answers.ts';
import type { Follower } from './follower.ts';

export interface Auditor {
  /** Does a little where it is time; called between ticks. */
  run(): Promise<void>;
  /** Questions of callers who were told no: nothing of ours would ever bring us to ask them. */
  denied(questions: readonly Question[]): void;
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

export function createAuditor(
  follower: Follower,
  { chainId }: Network,
  store: Store,
  now: () => number,
  random: () => number = Math.random,
): Auditor {
  let [logsAt, answersAt, from, blocks, answers] = [now(), now(), 0, 0, 0];
  let denied: Question[] = [];

  /** Removes so many of a list, by chance. */
  const draw = <T>(list: T[], count: number): T[] =>
    Array.from({ length: Math.min(count, list.length) }, () =>
      list.splice(Math.floor(random() * list.length), 1),
    ).flat();

  async function compareLogs(firstBlock: number, verified: number) {
    if (from < firstBlock || from > verified) from = firstBlock;
    const to = Math.min(from + follower.span - 1, verified);
    const [low, size] = [from, to - from + 1];
    // What the node cannot give, such as history that it has thrown away, must not keep the rest from being compared.
    from = low + Math.ceil(size / 2);
    if ((await follower.audit(low, to)) === null) return;
    from = to + 1;
    blocks += size;
  }

  async function compareAnswers(firstBlock: number, verified: number) {
    const start = firstBlock + Math.floor(random() * (verified - firstBlock + 1));
    const range = { to: verified, limit: LOGS_TO_DRAW_FROM };
    let logs = await store.logs(chainId, { from: start, ...range });
    if (logs.length === 0) logs = await store.logs(chainId, { from: firstBlock, ...range });
    const questions = [...questionsOf(draw(logs, DRAWN)), ...draw(denied, DRAWN)];
    const [one] = draw([...questions], 1);
    const subjects: Subject[] = one === undefined ? [] : [...questions, ...listsOf(one)];
    answers += (await follower.auditAnswers(subjects))?.asked ?? 0;
  }

  return {
    async run() {
      const { firstBlock = 0, verified = null } = follower.state ?? {};
      if (verified === null) return;
      if (now() - logsAt >= LOGS_EVERY_MS) {
        logsAt = now();
        await compareLogs(firstBlock, verified);
      }
      if (now() - answersAt >= ANSWERS_EVERY_MS) {
        answersAt = now();
        await compareAnswers(firstBlock, verified);
      }
    },
    denied(questions) {
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
