// Encodes values as cells and decodes them. Bytes are as short as possible, so that index entries stay small.

import type { Bytes32 } from '../../registry/delegation.ts';
import type { Cell } from '../engine.ts';

export const EMPTY = new Uint8Array(0);

export const encodeHex = (hex: string): Uint8Array => Uint8Array.fromHex(hex.slice(2));
export const decodeHex = (cell: Cell): `0x${string}` => `0x${(cell as Uint8Array).toHex()}`;
export const decodeHexOrNull = (cell: Cell): `0x${string}` | null => (isNull(cell) ? null : decodeHex(cell));

export const decodeNumber = (cell: Cell): number => Number(cell);
export const decodeNumberOrNull = (cell: Cell): number | null => (isNull(cell) ? null : Number(cell));

export const decodeTextOrNull = (cell: Cell): string | null => (isNull(cell) ? null : String(cell));

/** A condition: SQLite returns 0 or 1, PostgreSQL a number or a boolean. */
export const decodeFlag = (cell: Cell): boolean => !isNull(cell) && Number(cell) !== 0;

/** Also of a row that is not there. */
const isNull = (cell: Cell): cell is null | undefined => cell === null || cell === undefined;

/** Big-endian without leading zeros; 0 is empty. */
export function encodeUint(value: bigint): Uint8Array {
  if (value === 0n) return EMPTY;
  const hex = value.toString(16);
  return Uint8Array.fromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
}

export function decodeUint(cell: Cell): bigint {
  const bytes = cell as Uint8Array;
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toHex()}`);
}

/** An amount is null where the kind of delegation has none. */
export const encodeAmount = (amount: bigint | null): Uint8Array | null => (amount === null ? null : encodeUint(amount));
export const decodeAmount = (cell: Cell): bigint | null => (isNull(cell) ? null : decodeUint(cell));

/** Without trailing zeros, because rights are mostly short texts; unrestricted is empty. */
export function encodeRights(rights: Bytes32): Uint8Array {
  let end = rights.length;
  while (end > 2 && rights[end - 1] === '0' && rights[end - 2] === '0') end -= 2;
  return end === 2 ? EMPTY : Uint8Array.fromHex(rights.slice(2, end));
}

export const decodeRights = (cell: Cell): Bytes32 => `0x${(cell as Uint8Array).toHex().padEnd(64, '0')}`;

/** JSON that preserves bigints. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? { bigint: String(one) } : one));
export const readJson = (text: string): unknown =>
  JSON.parse(text, (_, one) => (typeof one?.bigint === 'string' ? BigInt(one.bigint) : one));
