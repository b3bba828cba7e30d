// Tests a block's logs bloom. It can have false positives, never false negatives.

import { keccakBytes } from './keccak.ts';

/** The three bits of a value, each as a byte position and a mask. */
function bitsOf(value: string): readonly (readonly [number, number])[] {
  const hash = keccakBytes(Uint8Array.fromHex(value.slice(2)));
  return [0, 2, 4].map((at) => {
    const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
    return [255 - (bit >> 3), 1 << (bit & 7)] as const;
  });
}

const cache = new Map<string, ReturnType<typeof bitsOf>>();

/** Whether a log with this address or topic may be in the block. */
export function bloomMayContain(bloom: string, value: string): boolean {
  let bits = cache.get(value);
  if (bits === undefined) {
    bits = bitsOf(value);
    cache.set(value, bits);
  }
  return bits.every(([byte, mask]) => (Number.parseInt(bloom.slice(2 + 2 * byte, 4 + 2 * byte), 16) & mask) !== 0);
}
