// What a block's state root commits to: the storage root of an account, and a word of its storage.

import { bytesOf, hexOf, numberOf } from '../registry/bytes.ts';
import type { Address, Bytes32 } from '../registry/delegation.ts';
import { keccakBytes } from '../registry/keccak.ts';
import { decodeRlp, type Rlp } from './rlp.ts';
import { EMPTY_ROOT, type NodeSource, provenValue } from './trie.ts';

/** Of an account that does not exist it is that of an empty storage. Throws if the nodes do not show it. */
export function storageRootOf(stateRoot: Bytes32, address: Address, nodeOf: NodeSource): Bytes32 {
  const account = provenValue(stateRoot, keccakBytes(bytesOf(address)), nodeOf);
  if (account === null) return EMPTY_ROOT;
  // An account is its nonce, balance, storage root and code hash.
  const root = (decodeRlp(account) as readonly Rlp[] | null)?.[2];
  if (!(root instanceof Uint8Array) || root.length !== 32) throw new Error('an account is malformed');
  return hexOf(root);
}

/** 0 for a word that was never written. Throws if the nodes do not show it. */
export function wordAt(storageRoot: Bytes32, slot: Bytes32, nodeOf: NodeSource): bigint {
  const value = provenValue(storageRoot, keccakBytes(bytesOf(slot)), nodeOf);
  if (value === null) return 0n;
  const word = decodeRlp(value);
  if (!(word instanceof Uint8Array)) throw new Error('a word is malformed');
  return numberOf(word);
}
