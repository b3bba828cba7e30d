import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Bytes32, NO_RIGHTS } from './delegation.ts';
import { keccakBytes } from './keccak.ts';
import {
  decodeRights,
  expiringRights,
  expiryOf,
  GLOBAL_ID,
  NEVER,
  rightsIdLabel,
  rightsIdOf,
  rightsLabel,
  rightsOf,
} from './rights.ts';

const NOTHING = { text: null, name: null, expires: null };
const hex = (bytes: Uint8Array): Bytes32 => `0x${bytes.toHex()}`;
const idOf = (name: string) => Buffer.from(name).toString('hex').padEnd(48, '0');
/** 24 bytes of name, then 8 bytes of expiry. */
const withExpiry = (name: string, expires: bigint): Bytes32 =>
  `0x${idOf(name)}${expires.toString(16).padStart(16, '0')}`;
const IN_2030 = 1_893_456_000;
/** What is read of a right, besides its first bytes. */
function read(rights: string | null) {
  const { id, ...more } = decodeRights(rights);
  expect<string | null>(id).toBe(rights === null ? null : rights.slice(0, 50));
  return more;
}

describe('rights', () => {
  test('that expire are written as they are read', () => {
    const right = expiringRights(rightsIdOf(rightsOf('play') as Bytes32), IN_2030);
    expect(right).toBe(withExpiry('play', BigInt(IN_2030)));
    expect(read(right)).toEqual({ text: null, name: 'play', expires: IN_2030 });
    expect(expiryOf(expiringRights(GLOBAL_ID, IN_2030))).toBe(IN_2030);
  });

  test('that are printable text are shown as text, in any script', () => {
    for (const text of ['vote', 'x', 'a b', 'wählen', '投票', '🗳️'.replace('\ufe0f', ''), '"quoted\\"', 'x'.repeat(32)])
      expect(read(rightsOf(text))).toEqual({ ...NOTHING, text });
  });

  test('that are not text are shown as nothing else', () => {
    expect(read(null)).toEqual(NOTHING);
    expect(read(NO_RIGHTS)).toEqual(NOTHING);
    for (const text of ['a\nb', 'a\0b', '\u202evote', 'vo\u200bte', '\ufeffvote', '\ufffd', 'a\u00a0b', '\u001b[31m'])
      expect([text, read(rightsOf(text))]).toEqual([text, NOTHING]);
    for (const bytes of [[0xff], [0xc3, 0x28], [0, 0x76], [0xed, 0xa0, 0x80]])
      expect(read(`0x${Buffer.from(bytes).toString('hex').padEnd(64, '0')}`)).toEqual(NOTHING);
  });

  test('of an identifier and an expiry are shown as both, with a name where it is text', () => {
    const named = (name: string | null, expires: number | 'never') => ({ text: null, name, expires });
    expect(read(withExpiry('vote', BigInt(IN_2030)))).toEqual(named('vote', IN_2030));
    expect(read(withExpiry('n'.repeat(24), BigInt(IN_2030)))).toEqual(named('n'.repeat(24), IN_2030));
    // From 2020 on, up to 40 bits.
    for (const expires of [1_577_836_800n, 2n ** 40n - 2n])
      expect(read(withExpiry('vote', expires))).toEqual(named('vote', Number(expires)));
    expect(read(withExpiry('vote', 2n ** 40n - 1n))).toEqual(named('vote', 'never'));
    // A hash has other bytes in between.
    for (const expires of [0n, 1n, 1_577_836_799n, 2n ** 40n, 2n ** 40n + BigInt(IN_2030), 2n ** 64n - 1n])
      expect(decodeRights(withExpiry('vote', expires)).expires).toBeNull();
    for (const name of ['', 'a\nb', '\u202evote'])
      expect(read(withExpiry(name, BigInt(IN_2030)))).toEqual(named(null, IN_2030));
  });

  test('are at most one of the two, and what is shown leads back to the bytes', () => {
    const bytes32 = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex),
      fc.string({ unit: 'grapheme', maxLength: 32 }).map((text) => rightsOf(text) ?? NO_RIGHTS),
      fc.tuple(fc.string({ maxLength: 24 }), fc.bigInt(0n, 2n ** 41n)).map(([name, at]) => withExpiry(name, at)),
    );
    fc.assert(
      fc.property(bytes32, (rights) => {
        const { text, name, expires } = read(rights);
        const end = expires === 'never' ? NEVER : expires;
        if (text !== null) expect([rightsOf(text), name, expires]).toEqual([rights, null, null]);
        if (name !== null) expect(withExpiry(name, BigInt(end ?? 0))).toBe(rights);
        if (end !== null)
          expect<string>(`${rightsIdOf(rights)}000000${end.toString(16).padStart(10, '0')}`).toBe(rights);
        if (end !== null) expect(expiryOf(rights)).toBe(end);
      }),
      { numRuns: 5000, seed: 1 },
    );
  });

  test('have a label for people', () => {
    const label = (rights: string | null) => rightsLabel(rights, IN_2030);
    expect([label(null), label(NO_RIGHTS), label(rightsOf('vote'))]).toEqual([null, null, 'vote']);
    expect(label(withExpiry('vote', BigInt(IN_2030)))).toBe('vote (until 1 January 2030)');
    expect(label(withExpiry('vote', BigInt(IN_2030 - 2 * 86_400)))).toBe('vote (expired 2 days ago)');
    expect(label(withExpiry('', BigInt(NEVER)))).toBe('global (never expires)');
    expect(label(withExpiry('a\nb', BigInt(IN_2030)))).toBe(`0x${idOf('a\nb')} (until 1 January 2030)`);
    expect(label(`0x${'ff'.repeat(32)}`)).toBe(`0x${'ff'.repeat(32)}`);
  });

  test('have a label where the identifier is known by its hash', () => {
    const id = rightsIdOf(hex(keccakBytes(new TextEncoder().encode('AGW_LINK'))));
    expect([rightsIdLabel(id), rightsIdLabel(GLOBAL_ID)]).toEqual(['AGW_LINK', 'global']);
    expect(rightsLabel(`${id}000000ffffffffff`, IN_2030)).toBe('AGW_LINK (never expires)');
  });
});
