// Proofs of many answers as of one block, with the nodes that they share only once.

import { ADDRESSES } from '../registry/addresses.ts';
import { bytesOf, hexOf } from '../registry/bytes.ts';
import type { AnyQuestion, Question } from '../registry/check.ts';
import type { Bytes32 } from '../registry/delegation.ts';
import { keccakBytes } from '../registry/keccak.ts';
import { storedAnswer } from '../registry/storage.ts';
import type { Version } from '../registry/versions.ts';
import { ProofError, type RegistryProof } from './answer-proof.ts';
import { storageRootOf, wordAt } from './storage-proof.ts';

/** Nodes of tries by their hashes. */
export type NodeSet = Map<string, Uint8Array>;

export const addNode = (nodes: NodeSet, node: Uint8Array) => void nodes.set(hexOf(keccakBytes(node)), node);

/** The nodes of some proofs that the set did not have, and has from now on. */
export function newNodes(seen: Set<string>, proofs: readonly RegistryProof[]): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const { accountProof, storageProof } of proofs)
    for (const list of [accountProof, ...storageProof.map(({ proof }) => proof)])
      for (const text of list) {
        const node = bytesOf(text);
        const hash = hexOf(keccakBytes(node));
        if (seen.has(hash)) continue;
        seen.add(hash);
        found.push(node);
      }
  return found;
}

/** Answers questions from the nodes of a state. Throws a `ProofError` if they do not show the answer. */
export function openNodes(stateRoot: Bytes32, nodes: NodeSet): (question: Question | AnyQuestion) => boolean | bigint {
  const nodeOf = (hash: Uint8Array) => {
    const node = nodes.get(hexOf(hash));
    if (node === undefined) throw new Error('a node is missing');
    return node;
  };
  const roots = new Map<Version, Bytes32>();
  const rootOf = (version: Version) => {
    const root = roots.get(version) ?? storageRootOf(stateRoot, ADDRESSES[version], nodeOf);
    roots.set(version, root);
    return root;
  };
  return (question) => {
    try {
      return storedAnswer(question, (version, slot) => wordAt(rootOf(version), slot, nodeOf));
    } catch (cause) {
      throw new ProofError('storage', (cause as Error).message, { cause });
    }
  };
}
