// Reads words of a contract's storage from an EIP-1186 proof, which must lead to the state root of a block.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { malformed, parseHex, parseObject } from '../rpc/node.ts';
import { keccakBytes } from './keccak.ts';
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
