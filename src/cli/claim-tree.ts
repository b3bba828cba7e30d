// The tree of a claim: a file in the format standard-v1 of @openzeppelin/merkle-tree, which claim contracts and their pages load.

import type { Address } from '../registry/delegation.ts';
import { keccakHex } from '../registry/keccak.ts';
import { word } from '../registry/registry-call.ts';

/** Who may claim how much. */
export interface Claim {
  readonly claimant: Address;
  readonly amount: bigint;
}

const LEAF_ENCODING = ['address', 'uint256'] as const;

/** The digits of keccak(keccak(abi.encode(claimant, amount))): hashed twice, so that no node of the tree is a leaf. */
const leafOf = ({ claimant, amount }: Claim): string =>
  keccakHex(keccakHex(`${word(claimant)}${word(String(amount))}`));

/** A pair is hashed in its own order, so that a proof needs no sides. */
const parentOf = (one: string, other: string): string => keccakHex(one < other ? one + other : other + one);

/** The tree as it is written, with its root first. There must be a claim. */
export function claimTree(claims: readonly Claim[]) {
  const leaves = claims.map((claim, position) => ({ position, hash: leafOf(claim) }));
  leaves.sort((one, other) => (one.hash < other.hash ? -1 : 1));
  const size = 2 * leaves.length - 1;
  const tree: string[] = Array(size);
  const indexes: number[] = Array(leaves.length);
  for (const [turn, { position, hash }] of leaves.entries()) {
    tree[size - 1 - turn] = hash;
    indexes[position] = size - 1 - turn;
  }
  for (let at = leaves.length - 2; at >= 0; at--)
    tree[at] = parentOf(tree[2 * at + 1] as string, tree[2 * at + 2] as string);
  return {
    format: 'standard-v1',
    leafEncoding: LEAF_ENCODING,
    tree: tree.map((hash) => `0x${hash}`),
    values: claims.map(({ claimant, amount }, position) => ({
      value: [claimant, String(amount)],
      treeIndex: indexes[position] as number,
    })),
  };
}
