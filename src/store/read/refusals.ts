// The errors with which reads refuse to answer.

import type { Address } from '../../registry/delegation.ts';
import { StoreError } from '../errors.ts';

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
