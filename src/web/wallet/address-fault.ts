// Says what is wrong with a text that should be a wallet's address, so that a person can mend it.

import { Fault, readAddress } from '../../api/params.ts';

const DIGITS = 40;

/** A sentence, or null for an address. */
export function addressFault(text: string): string | null {
  if (!(readAddress(text) instanceof Fault)) return null;
  if (/\.[a-z]+$/i.test(text))
    return 'This is a name. Names are not looked up here: paste the address, 0x and 40 hex digits.';
  if (!/^0x/i.test(text)) return 'An address begins with 0x. This does not.';
  const digits = [...text.slice(2)];
  const wrong = digits.findIndex((digit) => !/^[0-9a-f]$/i.test(digit));
  if (wrong >= 0)
    return `The character “${digits[wrong]}” at position ${wrong + 3} is not a hex digit. An address has only 0 to 9 and a to f after 0x.`;
  if (digits.length !== DIGITS) {
    const by = Math.abs(digits.length - DIGITS);
    return `An address has ${DIGITS} hex digits after 0x. This has ${digits.length}: ${by} too ${digits.length < DIGITS ? 'few' : 'many'}.`;
  }
  if (!text.startsWith('0x')) return 'An address begins with 0x, with a small x.';
  return 'The capital letters do not match the checksum of this address, so a character is probably wrong. Copy it again. If you are sure that it is right, enter it in lower case.';
}
