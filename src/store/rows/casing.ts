// The letter case of a span's addresses: of both wallets, and of the contract if there is one.

import { CASING_BYTES, writeCasing } from '../../registry/checksum.ts';
import type { KeyCells } from './key-columns.ts';

/** Where the casing of each address begins. */
export const CASING_AT = { from: 0, to: CASING_BYTES, contract: 2 * CASING_BYTES } as const;

export function encodeCasing([, from, to, contract]: KeyCells): Uint8Array {
  const casing = new Uint8Array(contract.length === 0 ? CASING_AT.contract : CASING_AT.contract + CASING_BYTES);
  writeCasing(from, casing, CASING_AT.from);
  writeCasing(to, casing, CASING_AT.to);
  if (contract.length > 0) writeCasing(contract, casing, CASING_AT.contract);
  return casing;
}
