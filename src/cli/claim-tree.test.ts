// The tree file against the library that defines its format.

import { expect, test } from 'bun:test';
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { address } from '../../test/support/fixtures.ts';
import { below, createRandom } from '../../test/support/random.ts';
import { MAX_UINT256 } from '../registry/delegation.ts';
import { claimTree } from './claim-tree.ts';

const ENCODING = ['address', 'uint256'];

test('a tree of any size is the file that the library writes, and it loads it', () => {
  const random = createRandom(3);
  for (const size of [1, 2, 3, 4, 5, 7, 8, 9, 33, 100, 257]) {
    const claims = Array.from({ length: size }, (_, of) => ({
      claimant: address(1 + 7 * of),
      amount: of === 2 ? MAX_UINT256 : BigInt(below(random, 1e9)) ** 5n,
    }));
    const values = claims.map(({ claimant, amount }): [string, string] => [claimant, String(amount)]);
    const written = JSON.parse(JSON.stringify(claimTree(claims)));
    const theirs = StandardMerkleTree.of(values, ENCODING);
    expect(written).toEqual(JSON.parse(JSON.stringify(theirs.dump())));
    const loaded = StandardMerkleTree.load<[string, string]>(written);
    for (const [at, value] of loaded.entries())
      expect(StandardMerkleTree.verify(loaded.root, ENCODING, value, loaded.getProof(at))).toBe(true);
  }
});
