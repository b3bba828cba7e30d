// Keeps a random sample of denied checks for the audit: a delegation that the index lacks shows only there. Keeps samples of checks
// that were refused because of an unsettled revocation, and of those whose answer a proof contradicted.

import type { Question } from '../../registry/check.ts';

export type DeniedSample = ReturnType<typeof createDeniedSample>;

export const REASONS = ['denied', 'unread', 'contradicted'] as const;
type Reason = (typeof REASONS)[number];
export type Sampled = { readonly [R in Reason]: Question[] };

/** Questions per sample. */
const SAMPLE_SIZE = 4;

export function createDeniedSample(random: () => number = Math.random) {
  const empty = () => ({
    sampled: { denied: [], unread: [], contradicted: [] } as Sampled,
    seen: { denied: 0, unread: 0, contradicted: 0 },
  });
  let samples = new Map<number, ReturnType<typeof empty>>();
  return {
    add(chainId: number, question: Question, reason: Reason = 'denied'): void {
      const { sampled, seen } = samples.getOrInsertComputed(chainId, empty);
      const questions = sampled[reason];
      const place = questions.length < SAMPLE_SIZE ? questions.length : Math.floor(random() * (seen[reason] + 1));
      seen[reason]++;
      if (place < SAMPLE_SIZE) questions[place] = question;
    },
    /** Removes and returns the samples, by chain. */
    take(): [chainId: number, sampled: Sampled][] {
      const taken = [...samples];
      samples = new Map();
      return taken.map(([chainId, { sampled }]) => [chainId, sampled]);
    },
  };
}
