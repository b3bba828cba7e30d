// Begins an answer again if a reorg replaced its block between two reads.

import { Problem } from '../api/problems.ts';
import { StoreError } from '../store/errors.ts';

export const TRIES = 5;

export const isRewritten = (error: unknown): boolean => error instanceof StoreError && error.code === 'rewritten';

export const reorganizing = (detail: string) => new Problem('not-yet-indexed', detail, { retryAfter: 5 });
export const chainReorganizing = (chainId: number) => reorganizing(`Chain ${chainId} is being reorganized. Retry.`);

/** Runs until it is not interrupted; throws the problem after the last attempt. */
export async function retryRewritten<T>(
  run: () => Promise<T>,
  problem: () => Problem,
  isInterrupted: (error: unknown) => boolean = isRewritten,
): Promise<T> {
  for (let left = TRIES; ; left--) {
    try {
      return await run();
    } catch (error) {
      if (!isInterrupted(error)) throw error;
      if (left === 1) throw problem();
    }
  }
}
