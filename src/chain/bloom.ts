// A block's logs bloom: it may promise a log that is not there, and never hides one that is.

import { createKeccak } from 'hash-wasm';

const keccak = await createKeccak(256);

/** The three bits that a value sets, each as a position in the bloom's bytes and a mask. */
function bitsOf(value: string): readonly (readonly [number, number])[] {
  const hash = keccak
    .init()
    .update(Uint8Array.fromHex(value.slice(2)))
    .digest('binary');
  return [0, 2, 4].map((at) => {
    const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
    return [255 - (bit >> 3), 1 << (bit & 7)] as const;
  });
}

const known = new Map<string, ReturnType<typeof bitsOf>>();

/** True where a log with this address or topic may be in the block. */
export function bloomMayContain(bloom: string, value: string): boolean {
  let bits = known.get(value);
  if (bits === undefined) {
    bits = bitsOf(value);
    known.set(value, bits);
  }
  return bits.every(([byte, mask]) => (Number.parseInt(bloom.slice(2 + 2 * byte, 4 + 2 * byte), 16) & mask) !== 0);
}
