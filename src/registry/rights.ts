// Rights as people write them, and as the registry stores them: a short text in 32 bytes.

import { type Bytes32, NO_RIGHTS } from './delegation.ts';

/** The form that the registry stores; null for a text of more than 32 bytes. */
export function rightsOf(text: string): Bytes32 | null {
  const bytes = new TextEncoder().encode(text);
  return bytes.length > 32 ? null : `0x${bytes.toHex().padEnd(64, '0')}`;
}

/** The rights as text, or as hex if they are not printable text; null if the delegation is unrestricted. */
export function rightsText(rights: string | null | undefined): string | null {
  if (rights == null || rights === NO_RIGHTS) return null;
  const text = new TextDecoder().decode(Uint8Array.fromHex(rights.slice(2).replace(/(00)+$/, '')));
  return /^[\x20-\x7e]+$/.test(text) ? text : rights;
}
