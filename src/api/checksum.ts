// EIP-55: the letter case of an address carries a checksum.

import { createKeccak } from 'hash-wasm';
import type { Address } from '../registry/delegation.ts';

const keccak = await createKeccak(256);
/** The same few wallets and contracts are asked for all day. Kept small: long-lived objects are collected late. */
const known = new Map<Address, string>();
const MOST_KNOWN = 1000;

/** The mixed-case form of a lower-case address. */
export function checksummed(address: Address): string {
  let form = known.get(address);
  if (form === undefined) {
    form = compute(address);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(address, form);
  }
  return form;
}

const text = Buffer.alloc(42);
const digits = text.subarray(2);
/** The bit in which a small ASCII letter differs from a capital. */
const CASE = 0x20;

/** Writes the checksummed form of an address into `text`, in place, whatever the case of its letters. */
function write(address: string): void {
  text.write(address, 'latin1');
  for (let position = 0; position < 40; position++) {
    const digit = digits[position] as number;
    if (digit >= 0x41) digits[position] = digit | CASE;
  }
  const hash = keccak.init().update(digits).digest('binary');
  for (let position = 0; position < 40; position++) {
    const digit = digits[position] as number;
    // A letter is a capital where its own nibble of the hash is 8 or more.
    const nibble = (hash[position >> 1] as number) >> (position % 2 === 0 ? 4 : 0);
    if (digit >= 0x61 && (nibble & 8) !== 0) digits[position] = digit - CASE;
  }
}

function compute(address: Address): string {
  write(address);
  return text.toString('latin1');
}

/** Whether an address of 0x and 40 digits has the letter case of its checksum. */
export function hasChecksum(address: string): boolean {
  write(address);
  for (let position = 2; position < 42; position++) {
    if (text[position] !== address.charCodeAt(position)) return false;
  }
  return true;
}
