import { expect, test } from 'bun:test';
import { keccakBytes } from '../registry/keccak.ts';
import { EMPTY_ROOT, nodesInOrder, provenValue, trieRoot } from './trie.ts';

const [KEY, VALUE] = [keccakBytes(Uint8Array.of(1)), Uint8Array.of(7)];

test('an empty trie has nothing, and of any other trie an empty proof shows nothing', () => {
  expect(provenValue(EMPTY_ROOT, KEY, nodesInOrder([]))).toBeNull();
  for (const proof of [[], [Uint8Array.of(0x80)]])
    expect(() => provenValue(trieRoot([[KEY, VALUE]]), KEY, nodesInOrder(proof))).toThrow('a node is missing');
  expect(trieRoot([])).toBe(EMPTY_ROOT);
});
