// Rights as people write them, and as the registry stores them: a short text in 32 bytes, or a name with an expiry.

import { hexOf } from './bytes.ts';
import { type Bytes32, NO_RIGHTS } from './delegation.ts';

/** The form that the registry stores; null for a text of more than 32 bytes. */
export function rightsOf(text: string): Bytes32 | null {
  const bytes = new TextEncoder().encode(text);
  return bytes.length > 32 ? null : `0x${hexOf(bytes).slice(2).padEnd(64, '0')}`;
}

/** Marks a right that is written as text in a parameter: text:vote. */
export const TEXT_PREFIX = 'text:';

/** Whether the API takes it as it is; anything else that a person enters is a text. */
export const isRightsParam = (entered: string) => entered.startsWith('0x') || entered.startsWith(TEXT_PREFIX);

/** What the bytes of a right say: a text, or a name with an expiry, or neither. */
export interface DecodedRights {
  readonly text: string | null;
  readonly name: string | null;
  /** Unix seconds. The registry does not enforce it. */
  readonly expires: number | null;
}

const UNREADABLE: DecodedRights = { text: null, name: null, expires: null };
const NAME_BYTES = 24;
/** 2020-01-01: older than both registries. A smaller number at the end of a right is not a time. */
const EARLIEST_EXPIRY = 1_577_836_800;
const MAX_EXPIRY = 2 ** 40;

/**
 * A widely used form has a name in the first 24 bytes, padded with zeros, and an expiry of 40 bits at the end. It cannot be
 * mistaken for a text: a text has no zero byte before its last character.
 */
export function decodeRights(rights: string | null | undefined): DecodedRights {
  if (rights == null || rights === NO_RIGHTS) return UNREADABLE;
  const bytes = Uint8Array.fromHex(rights.slice(2));
  const text = decodeText(bytes);
  if (text !== null) return { ...UNREADABLE, text };
  const expires = Number(`0x${rights.slice(2 + 2 * NAME_BYTES)}`);
  if (expires < EARLIEST_EXPIRY || expires >= MAX_EXPIRY) return UNREADABLE;
  const name = decodeText(bytes.subarray(0, NAME_BYTES));
  return name === null ? UNREADABLE : { text: null, name, expires };
}

const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });
/** Letters, digits, punctuation and symbols of any script, and spaces: nothing that hides or reorders text. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u;
/** What the decoder writes for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** Without the zeros at the end; null if it is not printable text. */
function decodeText(bytes: Uint8Array): string | null {
  const text = UTF_8.decode(bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1));
  return PRINTABLE.test(text) && !text.includes(REPLACEMENT) ? text : null;
}

/** The right as people read it, or in hex if it is not readable; null if the delegation is unrestricted. */
export function rightsLabel(rights: string | null | undefined, dateOf: (seconds: number) => string): string | null {
  if (rights == null || rights === NO_RIGHTS) return null;
  const { text, name, expires } = decodeRights(rights);
  return text ?? (name === null || expires === null ? rights : `${name} (expires ${dateOf(expires)})`);
}
