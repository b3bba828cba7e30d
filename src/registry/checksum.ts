// EIP-55: the letter case of an address carries a checksum. It takes 1.8 µs. Lists and feeds do not compute it: spans have it stored, because
// the two addresses of a record would cost more than all the rest of it (2.3 µs).

import type { Address } from './delegation.ts';
import { keccakBytes } from './keccak.ts';

const text = Buffer.from(`0x${'0'.repeat(40)}`);
const digits = text.subarray(2);

/** The same few wallets and contracts are asked for all day. Kept small: long-lived objects are collected late. */
const known = new Map<Address, string>();
const MOST_KNOWN = 1000;

/** The mixed-case form of a lower-case address. */
export function checksummed(address: Address): string {
  let form = known.get(address);
  if (form === undefined) {
    form = computed(address);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(address, form);
  }
  return form;
}

/** A letter is a capital where its own digit of this hash is 8 or more. Leaves the address in `text`, in lower case. */
function casingHash(address: string): Uint8Array {
  // Only capitals lack the bit.
  for (let digit = 0; digit < 40; digit++) digits[digit] = address.charCodeAt(digit + 2) | 0x20;
  return keccakBytes(digits);
}

const isHigh = (hash: Uint8Array, digit: number) =>
  ((hash[digit >> 1] as number) & (digit % 2 === 0 ? 0x80 : 0x08)) !== 0;

function computed(address: string): string {
  const hash = casingHash(address);
  for (let digit = 0; digit < 40; digit++) {
    const code = digits[digit] as number;
    if (code > 0x60 && isHigh(hash, digit)) digits[digit] = code - 0x20;
  }
  return text.toString('latin1');
}

/** Whether an address of 0x and 40 digits has the letter case of its checksum. */
export function hasChecksum(address: string): boolean {
  const hash = casingHash(address);
  for (let digit = 0; digit < 40; digit++) {
    const code = address.charCodeAt(digit + 2);
    if (code > 0x40 && isHigh(hash, digit) !== code < 0x60) return false;
  }
  return true;
}

/** A bit for each digit of a checksummed address, first digit first: whether it is a capital letter. */
export const CASING_BYTES = 5;

/** The mixed-case form of an address whose casing begins at a position. */
export function withCasing(address: Address, casing: Uint8Array, start: number): string {
  text.write(address, 'latin1');
  for (let digit = 0; digit < 40; digit++) {
    const isCapital = ((casing[start + (digit >> 3)] as number) >> (7 - (digit & 7))) & 1;
    if (isCapital) text[digit + 2] = (text[digit + 2] as number) - 0x20;
  }
  return text.toString('latin1');
}

/** Writes the casing of an address. */
export function writeCasing(address: Uint8Array, target: Uint8Array, start: number): void {
  const form = computed(`0x${address.toHex()}`);
  for (let byte = 0; byte < CASING_BYTES; byte++) {
    let bits = 0;
    for (let bit = 0; bit < 8; bit++) {
      const code = form.charCodeAt(2 + 8 * byte + bit);
      bits = (bits << 1) | (code > 0x40 && code < 0x60 ? 1 : 0);
    }
    target[start + byte] = bits;
  }
}
