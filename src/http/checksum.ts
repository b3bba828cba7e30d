// EIP-55: the letter case of an address carries a checksum.

import { createKeccak } from 'hash-wasm';
import type { Address } from '../registry/delegation.ts';

const keccak = await createKeccak(256);
/** The same few wallets and contracts are asked for all day. Emptied when full: an address costs a few microseconds. */
const known = new Map<Address, string>();
const MOST_KNOWN = 20_000;

/** The mixed-case form of a lower-case address. */
export function checksummed(address: Address): string {
  let text = known.get(address);
  if (text === undefined) {
    text = compute(address);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(address, text);
  }
  return text;
}

function compute(address: Address): string {
  const digest = keccak.init().update(address.slice(2)).digest('hex');
  let text = '0x';
  for (let position = 0; position < 40; position++) {
    const digit = address[position + 2] as string;
    text += (digest[position] as string) >= '8' ? digit.toUpperCase() : digit;
  }
  return text;
}
