// Writes the records of a plain list as JSON, in bytes, straight from the bytes that are stored: a list can be long.

import type { NumberMode } from '../api/params.ts';
import { DELEGATION } from '../api/responses.ts';
import type { Kind } from '../registry/delegation.ts';
import { ALL_VERSIONS, type Version } from '../registry/versions.ts';
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

/** Where the next byte goes. */
interface Sink {
  readonly bytes: Uint8Array;
  at: number;
}

const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1');

function write({ bytes, at }: Sink, text: Uint8Array): number {
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

function writeAddress(sink: Sink, address: Uint8Array, casing: Uint8Array, casingAt: number): number {
  const { bytes } = sink;
  let { at } = sink;
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

function writeUint(sink: Sink, value: Uint8Array, mode: NumberMode): number {
  if (value.length > SHORT) return write(sink, ascii(uint256Text(decodeUint(value), mode)));
  let rest = 0;
  for (const byte of value) rest = rest * 256 + byte;
  const { bytes } = sink;
  let { at } = sink;
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
const TYPES = Object.fromEntries(
  (['ALL', 'CONTRACT', 'ERC721', 'ERC20', 'ERC1155', 'TOKEN'] satisfies Kind[]).map((kind) => [
    kind,
    { plain: ascii(`"${typeOf({ kind })}"`), standard: ascii(`"${kind}"`) },
  ]),
) as Readonly<Record<Kind, { readonly plain: Uint8Array; readonly standard: Uint8Array }>>;

type FieldWriter = (row: PackedDelegation, format: RecordFormat, sink: Sink) => number;

const from: FieldWriter = (row, _format, sink) => writeAddress(sink, row.from, row.casing, CASING_AT.from);
const to: FieldWriter = (row, _format, sink) => writeAddress(sink, row.to, row.casing, CASING_AT.to);

const FIELDS = {
  type: ({ kind }, { hasStandardTypes }, sink) => write(sink, TYPES[kind][hasStandardTypes ? 'standard' : 'plain']),
  from,
  to,
  vault: from,
  delegate: to,
  contract: ({ contract, casing }, _format, sink) =>
    contract === null ? write(sink, NULL) : writeAddress(sink, contract, casing, CASING_AT.contract),
  tokenId: ({ tokenId }, { mode }, sink) => (tokenId === null ? write(sink, NULL) : writeUint(sink, tokenId, mode)),
} as const satisfies Record<string, FieldWriter>;

/** The fields of a record in the order of its shape, each with the text before it. */
const RECORDS = Object.fromEntries(
  ALL_VERSIONS.map((version) => [
    version,
    Object.keys(DELEGATION[version].fields).map((name, index) => ({
      lead: ascii(`${index === 0 ? '{' : ','}"${name}":`),
      field: FIELDS[name as keyof (typeof DELEGATION)[Version]['fields']],
    })),
  ]),
) as unknown as Readonly<Record<Version, readonly { readonly lead: Uint8Array; readonly field: FieldWriter }[]>>;

const CLOSE = '}'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
/** Of a record and its comma: the names, three addresses, and a token id of 78 digits. */
const MAX_RECORD = 320;

/** Records with commas between them. */
export function recordBytes(rows: readonly PackedDelegation[], format: RecordFormat): Uint8Array {
  const record = RECORDS[format.version];
  const sink: Sink = { bytes: new Uint8Array(MAX_RECORD * rows.length), at: 0 };
  const { bytes } = sink;
  for (const row of rows) {
    if (sink.at > 0) bytes[sink.at++] = COMMA;
    for (const { lead, field } of record) {
      sink.at = write(sink, lead);
      sink.at = field(row, format, sink);
    }
    bytes[sink.at++] = CLOSE;
  }
  return bytes.subarray(0, sink.at);
}
