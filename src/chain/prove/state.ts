// Words of a contract's storage, read from what a node returned as an EIP-1186 proof: it must lead to the state root of a block.

import { storageRootOf, wordAt } from '../../proof/storage-proof.ts';
import { nodesInOrder } from '../../proof/trie.ts';
import { bytesOf } from '../../registry/bytes.ts';
import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { Lagging } from '../rpc/errors.ts';
import { type BlockId, malformed, type Node, parseHex, parseObject } from '../rpc/node.ts';
import { fetchProven, requireRoots } from './block.ts';

/** Words of a contract at the end of a block. Throws unless the node proves them. */
export async function readProven(node: Node, address: Address, slots: readonly Bytes32[], block: BlockId) {
  const header = await fetchProven(node, block.hash);
  if (header === null) throw new Lagging(`the provider does not have block ${block.number}`);
  return provenWords(requireRoots(header).state, address, slots, await node.storageProof(address, slots, block));
}

/** `result` is what `eth_getProof` returned for these slots. Throws if it proves something else, or nothing. */
export function provenWords(stateRoot: Bytes32, address: Address, slots: readonly Bytes32[], result: unknown) {
  const { accountProof, storageProof } = parseObject('proof', result);
  const storageRoot = storageRootOf(stateRoot, address, nodesInOrder(parseNodes(accountProof)));
  if (!Array.isArray(storageProof) || storageProof.length !== slots.length)
    throw malformed('storage proof', storageProof);
  return slots.map((slot, position) => {
    const { proof } = parseObject('storage proof', storageProof[position]);
    return wordAt(storageRoot, slot, nodesInOrder(parseNodes(proof)));
  });
}

function parseNodes(value: unknown): Uint8Array[] {
  if (!Array.isArray(value)) throw malformed('proof', value);
  return value.map((node) => bytesOf(parseHex('node of a proof', node)));
}
