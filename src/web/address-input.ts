// Reads what a person enters as a wallet's address: what is pasted around it is left out, and what is wrong is said so that it can be
// mended.

import { Fault, readAddress } from '../api/params.ts';

const DIGITS = 40;

/** Runs of 40 digits, also without 0x. A longer run holds no address. */
const ADDRESSES = /(?<![0-9a-z])(?:0x)?([0-9a-f]{40})(?![0-9a-z])/gi;
const HASH = /(?<![0-9a-z])(?:0x)?[0-9a-f]{64}(?![0-9a-z])/i;

/** Each once, whatever the case of its letters. */
function addressesIn(text: string): readonly string[] {
  const found = [...text.matchAll(ADDRESSES)].map(([, digits = '']) => `0x${digits}`);
  return [...Map.groupBy(found, (one) => one.toLowerCase()).values()].flatMap(([first]) => first ?? []);
}

/** Something that has digits of another address, or a wrong one, is not left out. */
const isAlone = (text: string) => !/(?<![0-9a-z])0x[0-9a-z]/i.test(text.replace(ADDRESSES, ''));

/** The one address in the text, as it is written there; otherwise the text. */
export function findAddress(text: string): string {
  const [only, ...others] = addressesIn(text);
  return only !== undefined && others.length === 0 && isAlone(text) ? only : text;
}

/** A sentence, or null for an address. */
export function addressFault(entered: string): string | null {
  const text = findAddress(entered);
  if (!(readAddress(text) instanceof Fault)) return null;
  if (HASH.test(text)) return 'This is the hash of a transaction. Paste the address of a wallet: 0x and 40 hex digits.';
  const { length } = addressesIn(text);
  if (length > 1) return `There are ${length} addresses in this. Paste the one that you mean.`;
  if (/\.[a-z]+$/i.test(text))
    return 'This is a name. No address was found for it here: paste the address, 0x and 40 hex digits.';
  if (!/^0x/i.test(text)) return 'An address begins with 0x. This does not.';
  const digits = [...text.slice(2)];
  const wrong = digits.findIndex((digit) => !/^[0-9a-f]$/i.test(digit));
  if (wrong >= 0)
    return `The character “${digits[wrong]}” at position ${wrong + 3} is not a hex digit. An address has only 0 to 9 and a to f after 0x.`;
  if (digits.length !== DIGITS) {
    const by = Math.abs(digits.length - DIGITS);
    return `An address has ${DIGITS} hex digits after 0x. This has ${digits.length}: ${by} too ${digits.length < DIGITS ? 'few' : 'many'}.`;
  }
  return 'The capital letters do not match the checksum of this address, so a character is probably wrong. Copy it again. If you are sure that it is right, enter it in lower case.';
}
