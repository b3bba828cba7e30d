// Rights as people write them, and as the registry stores them: a short text in 32 bytes, or a name with an expiry.

import { hexOf } from './bytes.ts';
import { type Bytes32, NO_RIGHTS } from './delegation.ts';
import { type Expiry, expiryText } from './expiry-text.ts';

/** The form that the registry stores; null for a text of more than 32 bytes. */
export function rightsOf(text: string): Bytes32 | null {
  const bytes = new TextEncoder().encode(text);
  return bytes.length > 32 ? null : `0x${hexOf(bytes).slice(2).padEnd(64, '0')}`;
}

/** Marks a right that is written as text in a parameter: text:vote. */
export const TEXT_PREFIX = 'text:';
/** Marks an identifier that is the start of the Keccak hash of a name: hash:AGW_LINK. */
export const HASH_PREFIX = 'hash:';

/** Whether the API takes it as it is; anything else that a person enters is a text. */
export const isRightsParam = (entered: string) =>
  ['0x', TEXT_PREFIX, HASH_PREFIX].some((start) => entered.startsWith(start));

/** `0x` and 48 lower-case hex digits: the first 24 bytes of a right, which name it where an expiry can follow. */
export type RightsId = `0x${string}`;

const ID_BYTES = 24;
/** Characters of an identifier, and of what is before the expiry: three bytes are ignored. */
const ID_LENGTH = 50;
const EXPIRY_AT = 56;
/** The largest expiry: it means that there is no end. */
export const NEVER = 2 ** 40 - 1;
/** 2020-01-01: older than both registries. A smaller number at the end of a right is not a time. */
const EARLIEST_EXPIRY = 1_577_836_800;

/** The identifier of a right that names none. */
export const GLOBAL_ID: RightsId = '0x000000000000000000000000000000000000000000000000';

/** Identifiers that are not text, by what they are known as. */
const KNOWN_IDS: ReadonlyMap<string, string> = new Map([
  [GLOBAL_ID, 'global'],
  // The first bytes of the Keccak hash of this name: the link of a wallet on Abstract.
  ['0xc10dcfe266c1f71ef476efbd3223555750dc271e4115626b', 'AGW_LINK'],
]);

export const isRightsId = (value: unknown): value is RightsId =>
  typeof value === 'string' && /^0x[0-9a-f]{48}$/.test(value);

export const rightsIdOf = (rights: Bytes32): RightsId => rights.slice(0, ID_LENGTH) as RightsId;

/** The right with this identifier until a time in Unix seconds. */
export const expiringRights = (id: RightsId, expires: number): Bytes32 =>
  `${id}${expires.toString(16).padStart(66 - ID_LENGTH, '0')}`;

/** The last 40 bits, whatever is before them: what a reader of expiring rights goes by. 0 in every ordinary right. */
export const expiryOf = (rights: Bytes32): number => Number(`0x${rights.slice(EXPIRY_AT)}`);

/** What the bytes of a right say. */
export interface DecodedRights {
  readonly text: string | null;
  readonly name: string | null;
  readonly id: RightsId | null;
  /** The registry does not enforce it. */
  readonly expires: Expiry | null;
}

const NO_DETAIL: DecodedRights = { text: null, name: null, id: null, expires: null };

/**
 * A widely used form has an identifier in the first 24 bytes, often a name, three zeros, and an expiry of 40 bits at the end. It cannot
 * be mistaken for a text: a text has no zero byte before its last character. Nor is the end of a hash likely to be taken for a time.
 */
export function decodeRights(rights: string | null | undefined): DecodedRights {
  if (rights == null) return NO_DETAIL;
  const id = rightsIdOf(rights as Bytes32);
  if (rights === NO_RIGHTS) return { ...NO_DETAIL, id };
  const bytes = Uint8Array.fromHex(rights.slice(2));
  const text = decodeText(bytes);
  if (text !== null) return { ...NO_DETAIL, text, id };
  const end = Number(`0x${rights.slice(ID_LENGTH)}`);
  if (end < EARLIEST_EXPIRY || end > NEVER) return { ...NO_DETAIL, id };
  return { text: null, name: decodeText(bytes.subarray(0, ID_BYTES)), id, expires: end === NEVER ? 'never' : end };
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

/** Null if the identifier is not a known one. */
export const knownIdName = (id: RightsId): string | null => KNOWN_IDS.get(id) ?? null;

/** An identifier as people read it: a known name, a text, or hex. */
export const rightsIdLabel = (id: RightsId): string =>
  knownIdName(id) ?? decodeText(Uint8Array.fromHex(id.slice(2))) ?? id;

/** The right as people read it, or in hex if it is not readable; null if the delegation is unrestricted. `now` in Unix seconds. */
export function rightsLabel(rights: string | null | undefined, now: number): string | null {
  if (rights == null || rights === NO_RIGHTS) return null;
  const { text, id, expires } = decodeRights(rights);
  return text ?? (id === null || expires === null ? rights : `${rightsIdLabel(id)} (${expiryText(expires, now)})`);
}
