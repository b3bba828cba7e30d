// A few of the questions that callers were answered with no, drawn evenly: what the index lacks shows only there.

import type { Question } from '../registry/check.ts';

export interface Denials {
  add(chainId: number, question: Question): void;
  /** Those drawn since the last time, by chain. */
  take(): [chainId: number, questions: Question[]][];
}

const KEPT = 4;

export function createDenials(random: () => number = Math.random): Denials {
  let drawn = new Map<number, { seen: number; questions: Question[] }>();
  return {
    add(chainId, question) {
      let chain = drawn.get(chainId);
      if (chain === undefined) {
        chain = { seen: 0, questions: [] };
        drawn.set(chainId, chain);
      }
      const { questions } = chain;
      const place = questions.length < KEPT ? questions.length : Math.floor(random() * (chain.seen + 1));
      chain.seen++;
      if (place < KEPT) questions[place] = question;
    },
    take() {
      const taken = [...drawn].map(([chainId, { questions }]): [number, Question[]] => [chainId, questions]);
      drawn = new Map();
      return taken;
    },
  };
}
