// Keccak-256 for callers' programs, in place of the server's: plain JavaScript, which runs anywhere without waiting.

import { keccak_256 } from '@noble/hashes/sha3';
import { bytesOf, hexOf } from '../src/registry/bytes.ts';

export const keccakBytes = (bytes: Uint8Array): Uint8Array => keccak_256(bytes);
export const keccak = (bytes: Uint8Array): `0x${string}` => hexOf(keccak_256(bytes));
export const keccakHex = (hex: string): string => keccak(bytesOf(`0x${hex}`)).slice(2);
