import { describe, expect, test } from 'bun:test';
import * as p from './params.ts';
import { Fault, type Param } from './params.ts';

const LOWER = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const MIXED = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';

/** The value, or the fault's text. */
const read = <T>(param: Param<T>, text: string) => {
  const value = param.read(text);
  return value instanceof Fault ? value.detail : value;
};

describe('an address', () => {
  test('may be all lower case, all upper case, or rightly checksummed', () => {
    for (const text of [LOWER, MIXED, `0x${LOWER.slice(2).toUpperCase()}`]) expect(read(p.hotWallet, text)).toBe(LOWER);
  });

  test('with one letter in the wrong case is refused, for it may be mistyped', () => {
    expect(read(p.hotWallet, MIXED.replace('dA6', 'da6'))).toContain('invalid EIP-55 checksum');
  });

  const bad = [
    '',
    '0x',
    LOWER.slice(0, -1),
    `${LOWER}0`,
    LOWER.slice(2),
    `0X${LOWER.slice(2)}`,
    LOWER.replace('d', 'g'),
    `${LOWER} `,
    '٠x',
  ];
  for (const text of bad) {
    test(`${JSON.stringify(text)} is rejected`, () => expect(read(p.hotWallet, text)).toContain('must be an address'));
  }

  test('that is too long is repeated up to its eightieth character', () => {
    const text = `0x${'123456789a'.repeat(20)}`;
    expect(read(p.hotWallet, text)).toEndWith(`, not "${text.slice(0, 80)}…"`);
    expect(read(p.hotWallet, text.slice(0, 80))).toEndWith(`, not "${text.slice(0, 80)}"`);
  });

  test('without letters has no checksum to be wrong', () => {
    expect(read(p.hotWallet, `0x${'1'.repeat(40)}`)).toBe(`0x${'1'.repeat(40)}`);
  });
});

describe('a token id', () => {
  test('is exact from 0 to 2^256-1', () => {
    for (const id of [0n, 9_007_199_254_740_993n, 2n ** 256n - 1n]) expect(read(p.tokenId, String(id))).toBe(id);
    expect(read(p.tokenId, '007')).toBe(7n);
  });

  test('beyond that, however long, is refused quickly', () => {
    expect(read(p.tokenId, String(2n ** 256n))).toContain('at most');
    expect(read(p.tokenId, '9'.repeat(4000))).toContain('at most');
  });

  for (const text of ['', '-1', '1.0', '1e3', '0x10', ' 1', '1n', '１', 'NaN']) {
    test(`${JSON.stringify(text)} is rejected`, () => expect(read(p.tokenId, text)).toContain('decimal digits'));
  }
});

describe('rights', () => {
  const vote = `0x${'766f7465'.padEnd(64, '0')}`;

  test('are a bytes32 in any case; absent text means none', () => {
    expect(read(p.rights, vote.toUpperCase().replace('0X', '0x'))).toBe(vote);
    expect(read(p.rights, '')).toBe(`0x${'0'.repeat(64)}`);
  });

  test('given as a text are refused with their bytes32 form', () => {
    expect(read(p.rights, 'vote')).toBe(
      `must be a bytes32 (0x and 64 hex digits); "vote" as bytes32 is ${vote}, or send text:vote`,
    );
    expect(read(p.rights, 'x'.repeat(33))).not.toContain('as bytes32');
    expect(read(p.rights, '0x1234')).toContain('must be a bytes32');
  });
});

describe('a point in time', () => {
  test('is a block number or a tag', () => {
    expect([read(p.block, '0'), read(p.block, '18000000')]).toEqual([0, 18_000_000]);
    expect([read(p.block, 'latest'), read(p.block, 'finalized')]).toEqual(['latest', 'finalized']);
    for (const text of ['-1', '1.5', 'safe', 'LATEST', '', '9'.repeat(20)])
      expect(read(p.block, text)).toContain('must be a block');
  });

  test('is unix seconds or ISO 8601 with a zone', () => {
    const moment = 1_767_225_600;
    for (const text of [
      String(moment),
      '2026-01-01T00:00:00Z',
      '2026-01-01T01:00:00+01:00',
      '2026-01-01T00:00Z',
      '2026-01-01T00:00:00.999Z',
      // A date is midnight UTC.
      '2026-01-01',
    ]) {
      expect(read(p.timestamp, text)).toBe(moment);
    }
  });

  test('without a zone could mean anything, and is refused', () => {
    expect(read(p.timestamp, '2026-01-01T00:00:00')).toContain('no time zone');
  });

  test('that does not exist, or is in milliseconds, is refused', () => {
    for (const text of [
      '2026-13-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2025-02-29T00:00:00Z',
      '2026-01-01T24:00:00Z',
      '2026-02-30',
      '2026-13-01',
    ]) {
      expect(read(p.timestamp, text)).toContain('not a valid time');
    }
    expect(read(p.timestamp, '2024-02-29T23:59:59Z')).toBe(1_709_251_199);
    expect(read(p.timestamp, '1767225600000')).toContain('milliseconds');
    for (const text of ['', 'now', '2026-1-1', '20260101T00', '2026-01', '-5', '2026-01-01Z'])
      expect(read(p.timestamp, text)).toContain('must be Unix seconds');
  });
});

test('a chain id is decimal digits', () => {
  expect(read(p.chainId, '137')).toBe(137);
  for (const text of ['', '0x1', '1.0', '-1', 'mainnet', '9'.repeat(30)])
    expect(read(p.chainId, text)).toContain('chain id');
});

test('a limit is from 1 to the most of a page', () => {
  expect([read(p.limit, '1'), read(p.limit, '10000')]).toEqual([1, 10_000]);
  for (const text of ['0', '10001', '-1', 'all', '']) expect(read(p.limit, text)).toContain('from 1 to');
});

test('a choice names what can be chosen', () => {
  expect(read(p.numbers, 'bigint')).toBe('must be one of string, number, not "bigint"');
});
