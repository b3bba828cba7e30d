// What a contract calls itself, made harmless.

import { describe, expect, test } from 'bun:test';
import { encodeAbiParameters, stringToHex } from 'viem';
import { decodeText, harmless, MAX_SHOWN } from './return-text.ts';

const returned = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);

describe('return data', () => {
  test('is a text, or one word of before there were texts', () => {
    expect(decodeText(returned('Fog 🌫'), 100)).toBe('Fog 🌫');
    expect(decodeText(returned(''), 100)).toBe('');
    expect(decodeText(stringToHex('MKR', { size: 32 }), 100)).toBe('MKR');
  });

  test('is not shown if it is too long, or no text', () => {
    const [, offset, rest] = /^0x(.{64})(.*)$/.exec(returned('Foghorns')) ?? [];
    for (const data of [
      returned('a'.repeat(101)),
      '0x',
      '0x123',
      `0x${offset}`.slice(0, 40),
      `0x${'f'.repeat(64)}${rest}`,
      `0x${offset}${'f'.repeat(64)}`,
      `0x${offset}${rest?.slice(0, -64)}`,
    ])
      expect([data, decodeText(data, 100)]).toEqual([data, null]);
  });

  test('with bytes that are no text has signs for them, which are left out', () => {
    expect(
      harmless(decodeText(`0x${Buffer.from([0x46, 0xff, 0xc3]).toString('hex').padEnd(64, '0')}`, 100) ?? ''),
    ).toBe('F');
  });
});

describe('a text', () => {
  test('keeps its letters, on one line', () => {
    expect(harmless('  Harbour \n\t Lights ')).toBe('Harbour Lights');
    expect(harmless('Größe 灯台 🌫')).toBe('Größe 灯台 🌫');
  });

  test('loses what changes the text around it', () => {
    expect(harmless('\u202eadA\u2066\u200f\u0000\u0007\u200b\u00ad\ufeff')).toBe('adA');
    expect(harmless('Ada” is verified by “all')).toBe("Ada' is verified by 'all");
    expect(harmless(`Z${'\u0301'.repeat(50)}`).length).toBeLessThanOrEqual(4);
    expect(harmless('\u{e0041}\u3164\ud800')).toBe('');
  });

  test('is shortened', () => {
    expect(harmless('a'.repeat(MAX_SHOWN))).toBe('a'.repeat(MAX_SHOWN));
    expect(harmless('🦊'.repeat(10_000))).toBe(`${'🦊'.repeat(MAX_SHOWN - 1)}…`);
    // Nothing behind the part that is read takes time.
    expect(harmless(`${'\u0301'.repeat(100_000)}a`)).not.toContain('a');
  });
});
