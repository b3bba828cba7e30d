// Bytes and hex, in any JavaScript engine: proofs are verified by callers too.

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Of `0x` and an even number of hex digits. */
export function bytesOf(hex: string): Uint8Array {
  const bytes = new Uint8Array((hex.length - 2) / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(hex.slice(2 + 2 * at, 4 + 2 * at), 16);
  return bytes;
}

export function hexOf(bytes: Uint8Array): `0x${string}` {
  let hex = '';
  for (const byte of bytes) hex += DIGITS[byte];
  return `0x${hex}`;
}

export const isEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);

/** A big-endian number; 0 for no bytes. */
export const numberOf = (bytes: Uint8Array): bigint => (bytes.length === 0 ? 0n : BigInt(hexOf(bytes)));
