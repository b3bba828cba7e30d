// A few of the questions that callers were answered with no, drawn evenly: what the index lacks shows only there. And a few of
// those that were refused for a revocation that is not settled, apart, so that they are not lost among the others.

import type { Question } from '../registry/check.ts';

type Why = 'denied' | 'unread';

export interface DeniedSample {
  add(chainId: number, question: Question, why?: Why): void;
  /** Those drawn since the last time, by chain. */
  take(): [chainId: number, denied: Question[], unread: Question[]][];
}

const KEPT = 4;

interface Sample {
  seen: number;
  readonly questions: Question[];
}

export function createDeniedSample(random: () => number = Math.random): DeniedSample {
  const none = (): Record<Why, Sample> => ({
    denied: { seen: 0, questions: [] },
    unread: { seen: 0, questions: [] },
  });
  let drawn = new Map<number, Record<Why, Sample>>();
  return {
    add(chainId, question, why = 'denied') {
      const chain = drawn.get(chainId) ?? none();
      drawn.set(chainId, chain);
      const sample = chain[why];
      const { questions } = sample;
      const place = questions.length < KEPT ? questions.length : Math.floor(random() * (sample.seen + 1));
      sample.seen++;
      if (place < KEPT) questions[place] = question;
    },
    take() {
      const taken = [...drawn].map(([chainId, { denied, unread }]): ReturnType<DeniedSample['take']>[number] => [
        chainId,
        denied.questions,
        unread.questions,
      ]);
      drawn = new Map();
      return taken;
    },
  };
}
