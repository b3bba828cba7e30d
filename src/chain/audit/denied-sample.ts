// Keeps a random sample of denied checks for the audit: a delegation that the index lacks shows only there. Keeps a second
// sample of checks that were refused because of an unsettled revocation.

import type { Question } from '../../registry/check.ts';

export type DeniedSample = ReturnType<typeof createDeniedSample>;

/** Questions per sample. */
const SAMPLE_SIZE = 4;

export function createDeniedSample(random: () => number = Math.random) {
  const empty = () => ({ denied: [] as Question[], unread: [] as Question[], seen: { denied: 0, unread: 0 } });
  let samples = new Map<number, ReturnType<typeof empty>>();
  return {
    add(chainId: number, question: Question, reason: 'denied' | 'unread' = 'denied'): void {
      const { [reason]: questions, seen } = samples.getOrInsertComputed(chainId, empty);
      const place = questions.length < SAMPLE_SIZE ? questions.length : Math.floor(random() * (seen[reason] + 1));
      seen[reason]++;
      if (place < SAMPLE_SIZE) questions[place] = question;
    },
    /** Removes and returns the samples, by chain. */
    take(): [chainId: number, denied: Question[], unread: Question[]][] {
      const taken = [...samples];
      samples = new Map();
      return taken.map(([chainId, { denied, unread }]) => [chainId, denied, unread]);
    },
  };
}
