// Merkle Patricia tries: the root of some entries, and what a proof shows about one key.

import { bytesOf, isEqual } from '../registry/bytes.ts';
import type { Bytes32 } from '../registry/delegation.ts';
import { keccak, keccakBytes } from '../registry/keccak.ts';
import { decodeRlp, encodeRlp, type Rlp, toQuantity } from './rlp.ts';

interface Entry {
  readonly nibbles: Uint8Array;
  readonly value: Uint8Array;
}

const EMPTY = new Uint8Array();
/** Of a trie whose only node is an empty text. */
export const EMPTY_ROOT = keccak(Uint8Array.of(0x80));

/** The root of a trie. Keys must differ. `onNode` gets every node that another one names by its hash, and the root. */
export function trieRoot(
  entries: Iterable<readonly [key: Uint8Array, value: Uint8Array]>,
  onNode?: (hash: Uint8Array, node: Uint8Array) => void,
): Bytes32 {
  const sorted = [...entries]
    .map(([key, value]): Entry => ({ nibbles: toNibbles(key), value }))
    .sort((a, b) => Buffer.compare(a.nibbles, b.nibbles));
  if (sorted.length === 0) return EMPTY_ROOT;
  const root = encodeRlp(nodeOf(sorted, 0, onNode));
  onNode?.(keccakBytes(root), root);
  return keccak(root);
}

/** The root of a list, as a block commits to its receipts: the keys are the positions. */
export const listRoot = (values: readonly Uint8Array[]): Bytes32 =>
  trieRoot(values.map((value, position) => [encodeRlp(toQuantity(position)), value]));

/** The node of sorted entries whose keys are equal up to a depth. */
function nodeOf(entries: readonly Entry[], depth: number, onNode?: (hash: Uint8Array, node: Uint8Array) => void): Rlp {
  const [first, last] = [entries[0], entries.at(-1)] as [Entry, Entry];
  if (first === last) return [toCompact(first.nibbles.subarray(depth), true), first.value];
  const refTo = (some: readonly Entry[], at: number): Rlp => {
    const node = nodeOf(some, at, onNode);
    const rlp = encodeRlp(node);
    if (rlp.length < 32) return node;
    const hash = keccakBytes(rlp);
    onNode?.(hash, rlp);
    return hash;
  };
  let common = depth;
  while (common < first.nibbles.length && first.nibbles[common] === last.nibbles[common]) common++;
  if (common > depth) return [toCompact(first.nibbles.subarray(depth, common), false), refTo(entries, common)];
  const branch: Rlp[] = Array(16).fill(EMPTY);
  let value: Uint8Array = EMPTY;
  for (let from = 0; from < entries.length; ) {
    const { nibbles, value: own } = entries[from] as Entry;
    if (nibbles.length === depth) {
      value = own;
      from++;
      continue;
    }
    const nibble = nibbles[depth] as number;
    let to = from + 1;
    while (to < entries.length && entries[to]?.nibbles[depth] === nibble) to++;
    branch[nibble] = refTo(entries.slice(from, to), depth + 1);
    from = to;
  }
  return [...branch, value];
}

/** Gives the node with a hash. Throws if there is none. */
export type NodeSource = (hash: Uint8Array) => Uint8Array;

/** The nodes of a proof of one key, of which each must be the next one. `used` is how many were needed. */
export function nodesInOrder(nodes: readonly Uint8Array[]): NodeSource & { readonly used: () => number } {
  let at = 0;
  const next = (hash: Uint8Array) => {
    const node = nodes[at];
    if (node === undefined || !isEqual(keccakBytes(node), hash)) throw new Error('a node is missing');
    at++;
    return node;
  };
  return Object.assign(next, { used: () => at });
}

/** The value of a key, or null if the nodes show that there is none. Throws if they show neither. */
export function provenValue(root: Bytes32, key: Uint8Array, nodeOf: NodeSource): Uint8Array | null {
  if (root === EMPTY_ROOT) return null;
  const nibbles = toNibbles(key);
  let at = 0;
  let expected = bytesOf(root);
  for (;;) {
    let node = decodeRlp(nodeOf(expected));
    if (node === null) throw new Error('a node is malformed');
    // A short child stands in its parent.
    while (!(node instanceof Uint8Array)) {
      let next: Rlp;
      if (node.length === 17) {
        if (at === nibbles.length) return toValue(node[16]);
        next = node[nibbles[at++] as number] as Rlp;
      } else if (node.length === 2 && node[0] instanceof Uint8Array && node[0].length > 0) {
        const { path, isLeaf } = fromCompact(node[0]);
        const matches = isEqual(path, nibbles.subarray(at, at + path.length));
        if (isLeaf) return matches && at + path.length === nibbles.length ? toValue(node[1]) : null;
        if (!matches) return null;
        at += path.length;
        next = node[1] as Rlp;
      } else throw new Error('a node is malformed');
      node = next;
    }
    if (node.length === 0) return null;
    if (node.length !== 32) throw new Error('a node is malformed');
    expected = node;
  }
}

function toValue(item: Rlp | undefined): Uint8Array | null {
  if (!(item instanceof Uint8Array)) throw new Error('a value is malformed');
  return item.length === 0 ? null : item;
}

function toNibbles(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * bytes.length);
  for (const [position, byte] of bytes.entries()) {
    nibbles[2 * position] = byte >> 4;
    nibbles[2 * position + 1] = byte & 15;
  }
  return nibbles;
}

/** A path with its parity and the kind of its node in the first nibble. */
function toCompact(path: Uint8Array, isLeaf: boolean): Uint8Array {
  const flag = isLeaf ? 2 : 0;
  const even = path.length % 2 === 0 ? [flag, 0, ...path] : [flag + 1, ...path];
  return Uint8Array.from(
    { length: even.length / 2 },
    (_, at) => ((even[2 * at] as number) << 4) | (even[2 * at + 1] as number),
  );
}

function fromCompact(bytes: Uint8Array): { readonly path: Uint8Array; readonly isLeaf: boolean } {
  const nibbles = toNibbles(bytes);
  const flag = nibbles[0] as number;
  if (flag > 3) throw new Error('a node is malformed');
  return { path: nibbles.subarray(flag % 2 === 1 ? 1 : 2), isLeaf: flag >= 2 };
}
