import type { WriteTransaction } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';

/** A write transaction on one chain. */
export interface ChainWriter {
  readonly tx: WriteTransaction;
  readonly chainId: number;
  readonly hash: IndexHash;
}
