// What an API key looks like: dk_, thirty random letters and digits, and six that check them. Only its hash is ever kept.

import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'dk_';
const RANDOM = 30;
const CHECK = 6;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM + CHECK}}$`);
/** So much of a key is kept to tell keys apart: of 178 random bits it gives away 30. */
const SHOWN = PREFIX.length + 5;

export interface NewKey {
  /** To be shown once. */
  readonly text: string;
  readonly hash: Uint8Array;
  readonly shown: string;
}

export function createKey(): NewKey {
  let random = '';
  while (random.length < RANDOM) {
    // Bytes beyond the last multiple of 62 would make some digits likelier than others.
    for (const byte of randomBytes(RANDOM)) if (byte < 248 && random.length < RANDOM) random += DIGITS[byte % 62];
  }
  const text = `${PREFIX}${random}${checkOf(PREFIX + random)}`;
  return { text, hash: hashOf(text), shown: text.slice(0, SHOWN) };
}

/** Whether a text can be a key at all: one that was mistyped or made up is found out without the database. */
export const isKey = (text: string): boolean =>
  FORM.test(text) && checkOf(text.slice(0, -CHECK)) === text.slice(-CHECK);

export const hashOf = (text: string): Uint8Array => createHash('sha256').update(text).digest();

function checkOf(text: string): string {
  let left = Bun.hash.crc32(text);
  let check = '';
  for (let turn = 0; turn < CHECK; turn++) {
    check = (DIGITS[left % 62] as string) + check;
    left = Math.floor(left / 62);
  }
  return check;
}
