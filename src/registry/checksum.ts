// EIP-55: the letter case of an address carries a checksum.

import { createChecksumModule } from './checksum-module.ts';
import type { Address } from './delegation.ts';

const { input, output, run } = createChecksumModule();

/** The same few wallets and contracts are asked for all day. Kept small: long-lived objects are collected late. */
const known = new Map<Address, string>();
const MOST_KNOWN = 1000;

/** The mixed-case form of a lower-case address. */
export function checksummed(address: Address): string {
  let form = known.get(address);
  if (form === undefined) {
    write(address);
    form = `0x${output.toString('latin1')}`;
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(address, form);
  }
  return form;
}

/** Writes the checksummed digits of an address into `output`, whatever the case of its letters. */
function write(address: string): void {
  input.setFromHex(address.slice(2));
  run();
}

/** Whether an address of 0x and 40 digits has the letter case of its checksum. */
export function hasChecksum(address: string): boolean {
  write(address);
  for (let position = 0; position < 40; position++) {
    if (output[position] !== address.charCodeAt(position + 2)) return false;
  }
  return true;
}

/** A bit for each digit of a checksummed address, first digit first: whether it is a capital letter. */
export const CASING_BYTES = 5;

/** Writes the casing of an address. */
export function writeCasing(address: Uint8Array, target: Uint8Array, at: number): void {
  input.set(address);
  run();
  for (let byte = 0; byte < CASING_BYTES; byte++) {
    let bits = 0;
    for (let bit = 0; bit < 8; bit++) {
      const digit = output[8 * byte + bit] as number;
      bits = (bits << 1) | (digit > 0x40 && digit < 0x60 ? 1 : 0);
    }
    target[at + byte] = bits;
  }
}
