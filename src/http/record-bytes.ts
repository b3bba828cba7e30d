// Writes the records of a plain list as JSON, in bytes, straight from the bytes that are stored: a list can be long.

import type { NumberMode } from '../api/params.ts';
import { DELEGATION } from '../api/responses.ts';
import { KINDS, type Kind } from '../registry/delegation.ts';
import type { Version } from '../registry/versions.ts';
import { CASING_AT } from '../store/rows/casing.ts';
import { decodeUint } from '../store/rows/cells.ts';
import type { PackedDelegation } from '../store/store.ts';
import { typeOf, uint256Text } from './json.ts';

/** How the records of a list are written. */
export interface RecordFormat {
  readonly version: Version;
  readonly mode: NumberMode;
  /** With the standard of a token as its type. */
  readonly hasStandardTypes: boolean;
}

const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1');

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

function writeAddress(
  bytes: Uint8Array,
  start: number,
  address: Uint8Array,
  casing: Uint8Array,
  casingAt: number,
): number {
  let at = start;
  bytes[at++] = QUOTE;
  bytes[at++] = ZERO;
  bytes[at++] = X;
  for (let group = 0; group < 5; group++) {
    const bits = casing[casingAt + group] as number;
    for (let index = 0; index < 4; index++) {
      const entry = (address[4 * group + index] as number) | (((bits >> (6 - 2 * index)) & 3) << 8);
      bytes[at++] = FIRST[entry] as number;
      bytes[at++] = SECOND[entry] as number;
    }
  }
  bytes[at++] = QUOTE;
  return at;
}

/** Numbers of up to six bytes are exact. */
const SHORT = 6;

function writeUint(bytes: Uint8Array, start: number, value: Uint8Array, mode: NumberMode): number {
  if (value.length > SHORT) return write(bytes, start, ascii(uint256Text(decodeUint(value), mode)));
  let rest = 0;
  for (const byte of value) rest = rest * 256 + byte;
  let at = start;
  if (mode === 'string') bytes[at++] = QUOTE;
  let end = at + 1;
  for (let limit = 10; rest >= limit; limit *= 10) end++;
  for (let place = end - 1; place >= at; place--) {
    bytes[place] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  at = end;
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

type FieldWriter = (row: PackedDelegation, format: RecordFormat, bytes: Uint8Array, at: number) => number;
type FieldName = { [V in Version]: keyof (typeof DELEGATION)[V]['fields'] }[Version];

const from: FieldWriter = (row, _format, bytes, at) => writeAddress(bytes, at, row.from, row.casing, CASING_AT.from);
const to: FieldWriter = (row, _format, bytes, at) => writeAddress(bytes, at, row.to, row.casing, CASING_AT.to);

const FIELDS: Readonly<Record<FieldName, FieldWriter>> = {
  type: ({ kind }, { hasStandardTypes }, bytes, at) =>
    write(bytes, at, (hasStandardTypes ? STANDARD_TYPES : TYPES)[kind]),
  from,
  to,
  vault: from,
  delegate: to,
  contract: ({ contract, casing }, _format, bytes, at) =>
    contract === null ? write(bytes, at, NULL) : writeAddress(bytes, at, contract, casing, CASING_AT.contract),
  tokenId: ({ tokenId }, { mode }, bytes, at) =>
    tokenId === null ? write(bytes, at, NULL) : writeUint(bytes, at, tokenId, mode),
};

/** The fields of a record in the order of its shape, each with the text before it. */
const fieldsOf = (version: Version) =>
  Object.keys(DELEGATION[version].fields).map((name, index) => ({
    lead: ascii(`${index === 0 ? '{' : ','}"${name}":`),
    writeField: FIELDS[name as FieldName],
  }));
const RECORDS = { 1: fieldsOf(1), 2: fieldsOf(2) } as const satisfies { [V in Version]: unknown };

const CLOSE = '}'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
/** Of a record and its comma: the names, three addresses, and a token id of 78 digits. */
const MAX_RECORD = 320;

/** Records with commas between them. */
export function recordBytes(rows: readonly PackedDelegation[], format: RecordFormat): Uint8Array {
  const fields = RECORDS[format.version];
  const bytes = new Uint8Array(MAX_RECORD * rows.length);
  let at = 0;
  for (const row of rows) {
    if (at > 0) bytes[at++] = COMMA;
    for (const { lead, writeField } of fields) at = writeField(row, format, bytes, write(bytes, at, lead));
    bytes[at++] = CLOSE;
  }
  return bytes.subarray(0, at);
}
