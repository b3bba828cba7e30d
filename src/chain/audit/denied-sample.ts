// Keeps a random sample of denied checks for the audit: a delegation that the index lacks shows only there. Keeps a second
// sample of checks that were refused because of an unsettled revocation.

import type { Question } from '../../registry/check.ts';

type Reason = 'denied' | 'unread';

export interface DeniedSample {
  add(chainId: number, question: Question, reason?: Reason): void;
  /** Removes and returns the samples, by chain. */
  take(): [chainId: number, denied: Question[], unread: Question[]][];
}

/** Questions per sample. */
const SAMPLE_SIZE = 4;

interface Sample {
  seen: number;
  readonly questions: Question[];
}

export function createDeniedSample(random: () => number = Math.random): DeniedSample {
  const empty = (): Record<Reason, Sample> => ({
    denied: { seen: 0, questions: [] },
    unread: { seen: 0, questions: [] },
  });
  let samples = new Map<number, Record<Reason, Sample>>();
  return {
    add(chainId, question, reason = 'denied') {
      const chain = samples.get(chainId) ?? empty();
      samples.set(chainId, chain);
      const sample = chain[reason];
      const { questions } = sample;
      const place = questions.length < SAMPLE_SIZE ? questions.length : Math.floor(random() * (sample.seen + 1));
      sample.seen++;
      if (place < SAMPLE_SIZE) questions[place] = question;
    },
    take() {
      const taken = [...samples].map(([chainId, { denied, unread }]): ReturnType<DeniedSample['take']>[number] => [
        chainId,
        denied.questions,
        unread.questions,
      ]);
      samples = new Map();
      return taken;
    },
  };
}
