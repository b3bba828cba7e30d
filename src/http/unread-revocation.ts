// Reports questions that cannot be answered because a revocation is not resolved, so that it is resolved first.

import type { Address } from '../registry/delegation.ts';
import { StoreError } from '../store/errors.ts';
import type { Service } from './service.ts';

/** Waits for an answer about what wallet `to` was granted. */
export async function reportUnread<T>(
  { chainId, to }: { readonly chainId: number; readonly to: Address },
  { onUnread }: Service,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreError && error.vault !== null) {
      onUnread?.(chainId, { version: 1, scope: 'all', from: error.vault, to });
    }
    throw error;
  }
}
