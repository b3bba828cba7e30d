// Words of a contract's storage: read from an EIP-1186 proof, which must lead to the state root of a block, and where the v1 registry has
// them. There a delegation holds if its hash, which contains the versions of vault and delegate, is in the set of the vault.

import type { Address, Bytes32, DelegationKey } from '../../registry/delegation.ts';
import { keccakBytes, keccakHex } from '../../registry/keccak.ts';
import { word } from '../../registry/registry-call.ts';
import { malformed, parseHex, parseObject } from '../rpc/node.ts';
import { decodeRlp, type Rlp } from './rlp.ts';
import { EMPTY_ROOT, provenValue } from './trie.ts';

const bytesOf = (hex: string) => Uint8Array.fromHex(hex.slice(2));

/** `result` is what `eth_getProof` returned for these slots. Throws if it proves something else, or nothing. */
export function provenWords(stateRoot: Bytes32, address: Address, slots: readonly Bytes32[], result: unknown) {
  const { accountProof, storageProof } = parseObject('proof', result);
  const account = provenValue(stateRoot, keccakBytes(bytesOf(address)), parseNodes(accountProof));
  const storageRoot = account === null ? EMPTY_ROOT : storageRootOf(account);
  if (!Array.isArray(storageProof) || storageProof.length !== slots.length)
    throw malformed('storage proof', storageProof);
  return slots.map((slot, position) => {
    const { proof } = parseObject('storage proof', storageProof[position]);
    const value = provenValue(storageRoot, keccakBytes(bytesOf(slot)), parseNodes(proof));
    return value === null ? 0n : toNumber(decodeRlp(value));
  });
}

function parseNodes(value: unknown): Uint8Array[] {
  if (!Array.isArray(value)) throw malformed('proof', value);
  return value.map((node) => bytesOf(parseHex('node of a proof', node)));
}

/** An account is its nonce, balance, storage root and code hash. */
function storageRootOf(account: Uint8Array): Bytes32 {
  const root = (decodeRlp(account) as readonly Rlp[] | null)?.[2];
  if (!(root instanceof Uint8Array) || root.length !== 32) throw new Error('an account is malformed');
  return `0x${root.toHex()}`;
}

function toNumber(value: Rlp | null): bigint {
  if (!(value instanceof Uint8Array)) throw new Error('a word is malformed');
  return value.length === 0 ? 0n : BigInt(`0x${value.toHex()}`);
}

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
