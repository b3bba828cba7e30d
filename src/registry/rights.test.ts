import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { NO_RIGHTS } from './delegation.ts';
import { decodeRights, rightsLabel, rightsOf } from './rights.ts';

const NOTHING = { text: null, name: null, expires: null };
const hex = (bytes: Uint8Array) => `0x${bytes.toHex()}`;
/** 24 bytes of name, then 8 bytes of expiry. */
const withExpiry = (name: string, expires: bigint) =>
  `0x${Buffer.from(name).toString('hex').padEnd(48, '0')}${expires.toString(16).padStart(16, '0')}`;
const IN_2030 = 1_893_456_000;

describe('rights', () => {
  test('that are printable text are shown as text, in any script', () => {
    for (const text of ['vote', 'x', 'a b', 'wählen', '投票', '🗳️'.replace('\ufe0f', ''), '"quoted\\"', 'x'.repeat(32)])
      expect(decodeRights(rightsOf(text))).toEqual({ ...NOTHING, text });
  });

  test('that are not text are shown as nothing else', () => {
    expect(decodeRights(null)).toEqual(NOTHING);
    expect(decodeRights(NO_RIGHTS)).toEqual(NOTHING);
    for (const text of ['a\nb', 'a\0b', '\u202evote', 'vo\u200bte', '\ufeffvote', '\ufffd', 'a\u00a0b', '\u001b[31m'])
      expect([text, decodeRights(rightsOf(text))]).toEqual([text, NOTHING]);
    for (const bytes of [[0xff], [0xc3, 0x28], [0, 0x76], [0xed, 0xa0, 0x80]])
      expect(decodeRights(`0x${Buffer.from(bytes).toString('hex').padEnd(64, '0')}`)).toEqual(NOTHING);
  });

  test('of a name and an expiry are shown as both', () => {
    const named = (name: string, expires: number) => ({ text: null, name, expires });
    expect(decodeRights(withExpiry('vote', BigInt(IN_2030)))).toEqual(named('vote', IN_2030));
    expect(decodeRights(withExpiry('n'.repeat(24), BigInt(IN_2030)))).toEqual(named('n'.repeat(24), IN_2030));
    // From 2020 on, up to 40 bits.
    for (const expires of [1_577_836_800n, 2n ** 40n - 1n])
      expect(decodeRights(withExpiry('vote', expires))).toEqual(named('vote', Number(expires)));
    for (const expires of [0n, 1n, 1_577_836_799n, 2n ** 40n, 2n ** 64n - 1n])
      expect(decodeRights(withExpiry('vote', expires)).expires).toBeNull();
    for (const name of ['', 'a\nb', '\u202evote']) expect(decodeRights(withExpiry(name, 2n ** 31n))).toEqual(NOTHING);
  });

  test('are at most one of the two, and what is shown leads back to the bytes', () => {
    const bytes32 = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex),
      fc.string({ unit: 'grapheme', maxLength: 32 }).map((text) => rightsOf(text) ?? NO_RIGHTS),
      fc.tuple(fc.string({ maxLength: 24 }), fc.bigInt(0n, 2n ** 41n)).map(([name, at]) => withExpiry(name, at)),
    );
    fc.assert(
      fc.property(bytes32, (rights) => {
        const { text, name, expires } = decodeRights(rights);
        if (text !== null) expect([rightsOf(text) as string, name, expires]).toEqual([rights, null, null]);
        if (name !== null) expect(withExpiry(name, BigInt(expires ?? 0))).toBe(rights);
        expect(expires === null).toBe(name === null);
      }),
      { numRuns: 5000 },
    );
  });

  test('have a label for people', () => {
    const label = (rights: string | null) => rightsLabel(rights, String);
    expect([label(null), label(NO_RIGHTS), label(rightsOf('vote'))]).toEqual([null, null, 'vote']);
    expect(label(withExpiry('vote', BigInt(IN_2030)))).toBe(`vote (expires ${IN_2030})`);
    expect(label(`0x${'ff'.repeat(32)}`)).toBe(`0x${'ff'.repeat(32)}`);
  });
});
