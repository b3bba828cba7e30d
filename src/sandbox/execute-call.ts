// Encodes a smart account's `execute`, which makes several calls in one transaction.

import { encodeArray, encodeBytes } from '../registry/abi-array.ts';
import { word } from '../registry/registry-call.ts';

/** execute((address,bytes)[]) */
const EXECUTE = 'baae8abf';
/** The bytes of a call follow its two words. */
const BYTES_AT = '40'.padStart(64, '0');

export const encodeExecute = (calls: readonly { to: string; data: string }[]): string =>
  `0x${EXECUTE}${encodeArray(calls.map(({ to, data }) => `${word(to)}${BYTES_AT}${encodeBytes(data)}`))}`;
