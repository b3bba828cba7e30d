// The format of an API key: dk_, thirty random letters and digits, and a checksum of six. Only its hash is stored.

import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'dk_';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORMAT = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
/** How many characters of a key are stored in clear. They reveal 30 of its 178 random bits. */
const SHOWN_LENGTH = PREFIX.length + 5;

/** `text` is shown once, and never stored. */
export function createKey() {
  let random = '';
  while (random.length < RANDOM_LENGTH) {
    // Bytes from 248 on are skipped: 248 is a multiple of 62, so every digit is equally likely.
    for (const byte of randomBytes(RANDOM_LENGTH))
      if (byte < 248 && random.length < RANDOM_LENGTH) random += DIGITS[byte % 62];
  }
  const text = `${PREFIX}${random}${checksum(PREFIX + random)}`;
  return { text, hash: hashKey(text), shown: text.slice(0, SHOWN_LENGTH) };
}

/** Checks the format and checksum, so that a mistyped or made-up key takes no lookup. */
export const isKey = (text: string): boolean =>
  FORMAT.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);

export const hashKey = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** CRC-32 in base 62. */
function checksum(text: string): string {
  let rest = Bun.hash.crc32(text);
  let digits = '';
  for (let position = 0; position < CHECKSUM_LENGTH; position++) {
    digits = (DIGITS[rest % 62] as string) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
