// Texts as arguments of contract calls.

import { encodeBytes, word } from '../registry/registry-call.ts';

/** The last argument of a call: its place is not part of it. */
export const encodeText = (text: string): string => encodeBytes(`0x${Buffer.from(text).toString('hex')}`);

/** Two texts as the only arguments. */
export function encodeTwoTexts(one: string, other: string): string {
  const first = encodeText(one);
  return `${word('64')}${word(String(64 + first.length / 2))}${first}${encodeText(other)}`;
}
