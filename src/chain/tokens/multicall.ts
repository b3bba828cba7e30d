// Many calls of a contract as one, by Multicall3, which most chains have at one address.

import type { Address } from '../../registry/delegation.ts';
import { encodeArray, encodeBytes, word } from '../../registry/registry-call.ts';

export const MULTICALL3: Address = '0xca11bde05977b3631167028862be2a173976ca11';

/** Each call has this much of the gas on average: several times what a token takes. */
const CALLS_AT_ONCE = 250;
export const CALLS_OF_MULTICALL = { most: CALLS_AT_ONCE, gas: '0xf42400' } as const;

/** `aggregate3((address,bool,bytes)[])`, in which each call may fail. */
export const encodeAggregate = (contract: Address, calls: readonly string[]): string =>
  `0x82ad56cb${encodeArray(calls.map((call) => `${word(contract)}${word(true)}${word('96')}${encodeBytes(call)}`))}`;

const RESULT_WORDS = 4;
/** A call that succeeded, and returned one word. */
const SUCCEEDED = [word(true), word('64'), word('32')].join('');

/** The word that each call returned; null unless every call succeeded and returned exactly one. */
export function decodeAggregate(data: string, calls: number): string[] | null {
  const start = 2 + 64 * (2 + calls);
  if (data.length !== start + 64 * RESULT_WORDS * calls) return null;
  const offsets = Array.from({ length: calls }, (_, call) => word(String(32 * (calls + RESULT_WORDS * call))));
  if (data.slice(2, start) !== `${word('32')}${word(String(calls))}${offsets.join('')}`) return null;
  const words: string[] = [];
  for (let at = start; at < data.length; at += 64 * RESULT_WORDS) {
    if (data.slice(at, at + SUCCEEDED.length) !== SUCCEEDED) return null;
    words.push(`0x${data.slice(at + SUCCEEDED.length, at + 64 * RESULT_WORDS)}`);
  }
  return words;
}
