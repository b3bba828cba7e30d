// Keccak-256 in WebAssembly, of bytes and as hex.

import { createKeccak } from 'hash-wasm';
import type { Bytes32 } from './delegation.ts';

const hasher = await createKeccak(256);

export const keccakBytes = (bytes: Uint8Array): Uint8Array => hasher.init().update(bytes).digest('binary');

export const keccak = (bytes: Uint8Array): Bytes32 => `0x${hasher.init().update(bytes).digest('hex')}`;

/** Of hex digits without 0x, as hex digits without 0x. */
export const keccakHex = (hex: string): string => hasher.init().update(Uint8Array.fromHex(hex)).digest('hex');
