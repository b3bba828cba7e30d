// Writes the records of a plain list as JSON, in bytes, straight from the bytes that are stored: a list can be long. As texts from the
// same bytes, a record takes 15 µs and not 1.5 µs.

import type { NumberMode } from '../../api/params.ts';
import { DELEGATION } from '../../api/responses.ts';
import { addressText, typeOf, uint256Text } from '../../feed/delegation-json.ts';
import { type Address, KINDS, type Kind } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import { decodeUint, EMPTY } from '../../store/rows/cells.ts';
import { CASING_AT, type Unpacked, unpack } from '../../store/rows/packed.ts';
import type { ListSide, PackedDelegations } from '../../store/store.ts';

/** How the records of a list are written. */
export interface RecordFormat {
  readonly version: Version;
  /** The wallet whose list it is, from `walletBytes`. */
  readonly wallet: Uint8Array;
  readonly mode: NumberMode;
  /** With the standard of a token as its type. */
  readonly hasStandardTypes: boolean;
}

const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1');

export const walletBytes = (wallet: Address) => ascii(addressText(wallet));

// Each function writes at a position and returns the next one.

function write(bytes: Uint8Array, at: number, text: Uint8Array): number {
  // A loop is faster than `set` for so few bytes.
  for (let index = 0; index < text.length; index++) bytes[at + index] = text[index] as number;
  return at + text.length;
}

/** Both digits of a byte, by the letter case of each in two bits. */
const [FIRST, SECOND] = [0, 1].map((digit) =>
  Uint8Array.from({ length: 4 * 256 }, (_, index) => {
    const text = (index % 256).toString(16).padStart(2, '0').charAt(digit);
    const isCapital = ((index >> 8) & (digit === 0 ? 2 : 1)) !== 0;
    return (isCapital ? text.toUpperCase() : text).charCodeAt(0);
  }),
) as [Uint8Array, Uint8Array];

const [QUOTE, ZERO, X] = ['"', '0', 'x'].map((text) => text.charCodeAt(0)) as [number, number, number];

/** `casing` is where the casing of the address begins. */
function writeAddress(bytes: Uint8Array, start: number, packed: Uint8Array, address: number, casing: number): number {
  let at = start;
  bytes[at++] = QUOTE;
  bytes[at++] = ZERO;
  bytes[at++] = X;
  for (let group = 0; group < 5; group++) {
    const bits = packed[casing + group] as number;
    for (let index = 0; index < 4; index++) {
      const entry = (packed[address + 4 * group + index] as number) | (((bits >> (6 - 2 * index)) & 3) << 8);
      bytes[at++] = FIRST[entry] as number;
      bytes[at++] = SECOND[entry] as number;
    }
  }
  bytes[at++] = QUOTE;
  return at;
}

/** Numbers of up to six bytes are exact. */
const SHORT = 6;

function writeUint(bytes: Uint8Array, start: number, packed: Uint8Array, first: number, end: number, mode: NumberMode) {
  if (end - first > SHORT) {
    const value = decodeUint(packed.subarray(first, end));
    return write(bytes, start, ascii(uint256Text(value, mode)));
  }
  let rest = 0;
  for (let index = first; index < end; index++) rest = rest * 256 + (packed[index] as number);
  let at = start;
  if (mode === 'string') bytes[at++] = QUOTE;
  let digits = 1;
  for (let limit = 10; rest >= limit; limit *= 10) digits++;
  for (let digit = digits - 1; digit >= 0; digit--) {
    bytes[at + digit] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  at += digits;
  if (mode === 'string') bytes[at++] = QUOTE;
  return at;
}

const NULL = ascii('null');
const typeTexts = (text: (kind: Kind) => string) =>
  Object.fromEntries((Object.keys(KINDS) as Kind[]).map((kind) => [kind, ascii(`"${text(kind)}"`)])) as Readonly<
    Record<Kind, Uint8Array>
  >;
const TYPES = typeTexts((kind) => typeOf({ kind }));
const STANDARD_TYPES = typeTexts((kind) => kind);

type FieldWriter = (packed: Uint8Array, of: Unpacked, format: RecordFormat, bytes: Uint8Array, at: number) => number;
type FieldName = { [V in Version]: keyof (typeof DELEGATION)[V]['fields'] }[Version];

const own: FieldWriter = (_, __, { wallet }, bytes, at) => write(bytes, at, wallet);
const otherBy =
  (casingAt: number): FieldWriter =>
  (packed, { other, casing }, _, bytes, at) =>
    writeAddress(bytes, at, packed, other, casing + casingAt);
const WALLETS = {
  incoming: { from: otherBy(CASING_AT.from), to: own },
  outgoing: { from: own, to: otherBy(CASING_AT.to) },
} as const satisfies { [S in ListSide]: object };

const fieldWriters = (side: ListSide): Readonly<Record<FieldName, FieldWriter>> => {
  const { from, to } = WALLETS[side];
  return {
    type: (_, { kind }, { hasStandardTypes }, bytes, at) =>
      write(bytes, at, (hasStandardTypes ? STANDARD_TYPES : TYPES)[kind]),
    from,
    to,
    vault: from,
    delegate: to,
    contract: (packed, { contract, casing }, _, bytes, at) =>
      contract === null
        ? write(bytes, at, NULL)
        : writeAddress(bytes, at, packed, contract, casing + CASING_AT.contract),
    tokenId: (packed, { tokenId, end }, { mode }, bytes, at) =>
      tokenId === null ? write(bytes, at, NULL) : writeUint(bytes, at, packed, tokenId, end, mode),
  };
};

/** The fields of a record in the order of its shape, each with the text before it. */
const fieldsOf = (version: Version, side: ListSide) => {
  const writers = fieldWriters(side);
  return Object.keys(DELEGATION[version].fields).map((name, index) => ({
    name: ascii(`${index === 0 ? '{' : ','}"${name}":`),
    writeField: writers[name as FieldName],
  }));
};
const recordsOf = (version: Version) => ({
  incoming: fieldsOf(version, 'incoming'),
  outgoing: fieldsOf(version, 'outgoing'),
});
const RECORDS = { 1: recordsOf(1), 2: recordsOf(2) } as const satisfies { [V in Version]: unknown };

const CLOSE = '}'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
/** Of a record and its comma: the names, three addresses, and a token id of 78 digits. */
const MAX_RECORD = 320;

/** Reused: a buffer for every stretch of a long list would keep the garbage collector busy, and other requests waiting. */
let scratch = new Uint8Array(0);

/** Records with commas between them, between a lead and a tail. */
export function recordBytes(
  parts: readonly PackedDelegations[],
  format: RecordFormat,
  lead: Uint8Array = EMPTY,
  tail: Uint8Array = EMPTY,
): Uint8Array<ArrayBuffer> {
  const records = parts.reduce((sum, { count }) => sum + count, 0);
  const most = lead.length + MAX_RECORD * records + tail.length;
  if (scratch.length < most) scratch = new Uint8Array(most);
  const bytes = scratch;
  let at = write(bytes, 0, lead);
  const first = at;
  for (const { side, bytes: packed, count } of parts) {
    const fields = RECORDS[format.version][side];
    let start = 0;
    for (let index = 0; index < count; index++) {
      const of = unpack(packed, start);
      if (at > first) bytes[at++] = COMMA;
      for (const { name, writeField } of fields) at = writeField(packed, of, format, bytes, write(bytes, at, name));
      bytes[at++] = CLOSE;
      start = of.end;
    }
  }
  return bytes.slice(0, write(bytes, at, tail));
}
