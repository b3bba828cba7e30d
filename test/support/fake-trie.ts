// A Merkle Patricia trie with proofs, for fake nodes.

import { decodeRlp } from '../../src/proof/rlp.ts';
import { trieRoot } from '../../src/proof/trie.ts';
import type { Bytes32 } from '../../src/registry/delegation.ts';
import { keccakBytes } from '../../src/registry/keccak.ts';

export interface FakeTrie {
  readonly root: Bytes32;
  /** The nodes on the way to a key, whether it is there or not. */
  prove(key: Uint8Array): string[];
}

/** The keys are hashed, as in a state trie. */
export function buildTrie(entries: Iterable<readonly [key: Uint8Array, value: Uint8Array]>): FakeTrie {
  const nodes = new Map<string, Uint8Array>();
  const hashed = [...entries].map(([key, value]) => [keccakBytes(key), value] as const);
  const root = trieRoot(hashed, (hash, node) => nodes.set(hash.toHex(), node));
  return {
    root,
    prove(key) {
      const nibbles = keccakBytes(key).toHex();
      const proof: string[] = [];
      let at = 0;
      for (let node = nodes.get(root.slice(2)); node !== undefined; ) {
        proof.push(`0x${node.toHex()}`);
        let items = decodeRlp(node) as unknown;
        while (Array.isArray(items)) {
          if (items.length === 17) items = items[Number.parseInt(nibbles[at++] ?? '0', 16)];
          else {
            const path = (items[0] as Uint8Array).toHex();
            const rest = path.slice(path[0] === '1' || path[0] === '3' ? 1 : 2);
            const isExtension = path[0] === '0' || path[0] === '1';
            if (!isExtension || !nibbles.startsWith(rest, at)) return proof;
            at += rest.length;
            items = items[1];
          }
        }
        node = nodes.get((items as Uint8Array).toHex());
      }
      return proof;
    },
  };
}
