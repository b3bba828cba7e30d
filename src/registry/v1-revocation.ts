// Who was revoked by a v1 `RevokeDelegate(V, V)`: the log does not say.

import type { Address } from './delegation.ts';

export interface Transaction {
  readonly from: string;
  readonly to: string | null;
  readonly input: string;
}

const REVOKE_DELEGATE = '0xfa352c00';
const REVOKE_SELF = '0x219044b0';
const ONE_ADDRESS_CALL = /^0x[0-9a-f]{8}0{24}[0-9a-f]{40}$/;

/**
 * The delegate that a wallet revoked, read from the transaction's input; null if the wallet did not
 * call the registry directly: the input is then another contract's.
 */
export function revokedDelegate(transaction: Transaction, vault: Address, registry: Address): Address | null {
  if (transaction.to?.toLowerCase() !== registry || transaction.from.toLowerCase() !== vault) return null;
  const input = transaction.input.toLowerCase();
  if (!ONE_ADDRESS_CALL.test(input)) return null;
  const argument: Address = `0x${input.slice(-40)}`;
  if (input.startsWith(REVOKE_DELEGATE)) return argument;
  // A wallet that revokes itself as its own delegate; with any other argument the log would name that vault.
  return input.startsWith(REVOKE_SELF) && argument === vault ? vault : null;
}
