// RLP, the encoding of headers, receipts and trie nodes: nested lists of bytes.

import { bytesOf } from '../registry/bytes.ts';

export type Rlp = Uint8Array | readonly Rlp[];

export function encodeRlp(item: Rlp): Uint8Array {
  const parts: Uint8Array[] = [];
  write(item, parts);
  return Buffer.concat(parts.reverse());
}

/** Adds the parts of an item from the last to the first, because a length comes before what it counts. Returns its size. */
function write(item: Rlp, parts: Uint8Array[]): number {
  if (item instanceof Uint8Array) {
    parts.push(item);
    const isItself = item.length === 1 && (item[0] as number) < 0x80;
    return isItself ? 1 : item.length + writeLength(item.length, 0x80, parts);
  }
  let size = 0;
  for (let at = item.length - 1; at >= 0; at--) size += write(item[at] as Rlp, parts);
  return size + writeLength(size, 0xc0, parts);
}

function writeLength(length: number, offset: number, parts: Uint8Array[]): number {
  const prefix = length < 56 ? Uint8Array.of(offset + length) : longPrefix(length, offset);
  parts.push(prefix);
  return prefix.length;
}

function longPrefix(length: number, offset: number): Uint8Array {
  const bytes = toQuantity(length);
  return Uint8Array.of(offset + 55 + bytes.length, ...bytes);
}

/** The shortest big-endian bytes of a number: none for 0. */
export function toQuantity(value: number | bigint): Uint8Array {
  if (value === 0 || value === 0n) return EMPTY;
  const hex = value.toString(16);
  return bytesOf(`0x${hex.length % 2 === 0 ? hex : `0${hex}`}`);
}
const EMPTY = new Uint8Array();

/** Lists within lists. A trie node has two, an account one. */
const MAX_DEPTH = 8;

/** Null unless the bytes are exactly one item. */
export function decodeRlp(bytes: Uint8Array): Rlp | null {
  const [item, end] = read(bytes, 0, 0) ?? [null, 0];
  return end === bytes.length ? item : null;
}

/** The item at a position, and the position after it. Null if it is malformed. */
function read(bytes: Uint8Array, at: number, depth: number): readonly [item: Rlp, end: number] | null {
  const first = bytes[at];
  if (first === undefined || depth > MAX_DEPTH) return null;
  if (first < 0x80) return [bytes.subarray(at, at + 1), at + 1];
  const isList = first >= 0xc0;
  const short = first - (isList ? 0xc0 : 0x80);
  const lengthBytes = short < 56 ? 0 : short - 55;
  // A longer length than four bytes is beyond any response.
  if (lengthBytes > 4) return null;
  let length = lengthBytes === 0 ? short : 0;
  for (let position = 1; position <= lengthBytes; position++) length = 256 * length + (bytes[at + position] ?? 0);
  const [start, end] = [at + 1 + lengthBytes, at + 1 + lengthBytes + length];
  if (end > bytes.length) return null;
  if (!isList) return [bytes.subarray(start, end), end];
  const items: Rlp[] = [];
  for (let next = start; next < end; ) {
    const [item, after] = read(bytes, next, depth + 1) ?? [null, 0];
    if (item === null || after > end) return null;
    items.push(item);
    next = after;
  }
  return [items, end];
}
