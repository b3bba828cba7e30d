// Every way in which the store says no. The code tells what to do next; the message tells a person what was wrong.

import type { Address } from '../registry/delegation.ts';

export type StoreErrorCode =
  /** The database cannot be used now: it is away, busy, full, or refuses. Worth another try; its message has its reason. */
  | 'unavailable'
  /** The database failed at what was asked: damage, or a bug of ours. Not to be tried again at once. */
  | 'failed'
  /** The store's address is malformed, or what stands there is not a store. */
  | 'bad-store'
  /** The store was written by a newer program. */
  | 'newer-schema'
  /** A reader found a store that its writer has not set up or migrated yet. */
  | 'older-schema'
  /** What was to be written is inconsistent; nothing was written. */
  | 'bad-batch'
  /** What was asked is malformed. */
  | 'bad-question'
  /** Another writer has taken over, or the cursor has moved; nothing was written. */
  | 'overtaken'
  /** The chain is unknown here, or nothing of it is indexed yet. */
  | 'not-started'
  /** The block or time lies before the first indexed block. */
  | 'before-first'
  /** The block or time is not indexed yet. */
  | 'beyond-head'
  /** History at or below the pinned block was rewritten since it was pinned. */
  | 'rewritten'
  /** The wallet revoked a delegate, and what it has left at that block could not be read. */
  | 'revocation-unread';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** The chain that cannot be asked. */
  readonly chainId: number | null;
  /** The wallet whose revocation is not settled. */
  readonly vault: Address | null;

  constructor(
    code: StoreErrorCode,
    message: string,
    options: ErrorOptions & { chainId?: number; vault?: Address } = {},
  ) {
    super(message, options);
    this.code = code;
    this.chainId = options.chainId ?? null;
    this.vault = options.vault ?? null;
  }
}
