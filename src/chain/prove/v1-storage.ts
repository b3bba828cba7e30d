// Where the v1 registry keeps its words. A delegation holds if its hash, which contains the versions of vault and delegate, is in the
// set of the vault.

import type { Address, Bytes32, DelegationKey } from '../../registry/delegation.ts';
import { word } from '../../registry/registry-call.ts';
import { keccakHex } from './keccak.ts';

const number = (value: bigint) => word(String(value));
/** A mapping's value is at the hash of its key and the mapping's own place. */
const at = (key: string, mapping: string) => keccakHex(key + mapping);
const [SETS, VAULT_VERSIONS, DELEGATE_VERSIONS] = [0n, 1n, 2n].map(number) as [string, string, string];

/** How often the vault has revoked all its delegates. */
export const vaultVersionSlot = (vault: Address): Bytes32 => `0x${at(word(vault), VAULT_VERSIONS)}`;

/** How often everything from the vault to the delegate was revoked. */
export const delegateVersionSlot = (vault: Address, delegate: Address): Bytes32 =>
  `0x${at(word(delegate), at(word(vault), DELEGATE_VERSIONS))}`;

/** Not zero if the delegation holds, at versions that the two words above have. */
export function membershipSlot(key: DelegationKey, vaultVersion: bigint, delegateVersion: bigint): Bytes32 {
  const parts = [word(key.to), word(key.from)];
  if (key.contract !== null) parts.push(word(key.contract));
  if (key.tokenId !== null) parts.push(number(key.tokenId));
  const hash = keccakHex([...parts, number(vaultVersion), number(delegateVersion)].join(''));
  const set = BigInt(`0x${at(number(vaultVersion), at(word(key.from), SETS))}`);
  return `0x${at(hash, number((set + 1n) % 2n ** 256n))}`;
}
