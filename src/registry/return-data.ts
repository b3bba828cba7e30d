// What the registries' list functions return, word by word.

import type { Address } from './delegation.ts';

/** Return data that is not what the function returns. */
export class BadReturnDataError extends Error {
  override readonly name = 'BadReturnDataError';
}

/** The rows of an ABI-encoded array of tuples of `width` static words. */
export function rowsOf(name: string, data: string, width: number): string[][] {
  const words = /^0x(?:[0-9a-f]{64})*$/i.test(data) ? (data.slice(2).toLowerCase().match(/.{64}/g) ?? []) : [];
  const [offset, length, ...cells] = words;
  if (offset === undefined || BigInt(`0x${offset}`) !== 32n) throw new BadReturnDataError(`${name}: not an array`);
  if (length === undefined || BigInt(`0x${length}`) * BigInt(width) !== BigInt(cells.length)) {
    throw new BadReturnDataError(`${name}: ${cells.length} words do not make the rows that its length promises`);
  }
  return Array.from({ length: cells.length / width }, (_, row) => cells.slice(row * width, (row + 1) * width));
}

export function asAddress(word: string | undefined): Address {
  if (word === undefined || !word.startsWith('0'.repeat(24))) throw new BadReturnDataError(`no address: 0x${word}`);
  return `0x${word.slice(24)}`;
}
