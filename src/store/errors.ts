// The store's errors. The code decides what the caller does next; the message is for people.

import type { Address } from '../registry/delegation.ts';

export type StoreErrorCode =
  /** The database is unreachable, busy, full, or denies access. Retry; the message has the database's reason. */
  | 'unavailable'
  /** The statement failed: a damaged database, or a bug. Do not retry at once. */
  | 'failed'
  /** The store's URL is malformed or does not point to a store, or the index in it is of other registries. */
  | 'bad-store'
  /** The store was written by a newer program. */
  | 'newer-schema'
  /** A reader found a store that its writer has not set up or migrated yet. */
  | 'older-schema'
  /** The commit is inconsistent; nothing was written. */
  | 'bad-commit'
  /** The question is malformed. */
  | 'bad-question'
  /** Another writer claimed the chain, or the head moved; nothing was written. */
  | 'overtaken'
  /** The chain is unknown, or no block is indexed yet. */
  | 'not-started'
  /** The block or time is before the first indexed block. */
  | 'before-first'
  /** The block or time is not indexed yet. */
  | 'beyond-head'
  /** History at or below the pinned block changed since it was pinned. */
  | 'rewritten'
  /** The wallet revoked a delegate that the log does not name, and the registry's state was not read yet. */
  | 'revocation-unread';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** The chain that is not indexed. */
  readonly chainId: number | null;
  /** The wallet whose revocation is not settled. */
  readonly vault: Address | null;

  constructor(code: StoreErrorCode, message: string, about: ErrorOptions & { chainId?: number; vault?: Address } = {}) {
    super(message, about);
    this.code = code;
    this.chainId = about.chainId ?? null;
    this.vault = about.vault ?? null;
  }
}

/** Rolls back a write that cannot be committed. */
export function rejectWrite(chainId: number, why: string, code: StoreErrorCode = 'bad-commit'): never {
  throw new StoreError(code, `Chain ${chainId}: ${why}. Nothing was written.`);
}

export const notIndexed = (chainId: number): StoreError =>
  new StoreError('not-started', `Chain ${chainId} is not indexed yet.`, { chainId });

export const unsettledRevocation = (vault: Address): StoreError =>
  new StoreError('revocation-unread', `A revocation of ${vault} could not be read from the registry at its block.`, {
    vault,
  });

export const historyChanged = (chainId: number, block: number): StoreError =>
  new StoreError('rewritten', `Chain ${chainId}: history up to block ${block} has changed since.`);

export function requireIndexed(chainId: number, block: number, first: number | null, head: number | null): void {
  if (first === null || head === null) throw notIndexed(chainId);
  if (block > head) throw new StoreError('beyond-head', `Chain ${chainId} is indexed up to block ${head}.`);
  if (block < first) throw new StoreError('before-first', `Chain ${chainId} is indexed from block ${first} on.`);
}

export function requireBlockNumber(block: number): void {
  if (!Number.isSafeInteger(block)) throw new StoreError('bad-question', `block ${block} is not a whole number`);
}

export function requireLimit(limit: number): void {
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new StoreError('bad-question', `limit ${limit} is not 1 or more`);
}
