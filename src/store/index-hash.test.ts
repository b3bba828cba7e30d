import { expect, test } from 'bun:test';
import { address, delegation } from '../../test/support/fixtures.ts';
import { createIndexHash } from './index-hash.ts';

test('addresses that share all but their last digits have unrelated hashes', () => {
  const { hot, cold } = createIndexHash(1n);
  const alike = Array.from({ length: 10_000 }, (_, of) => address(of));
  expect(new Set(alike.map((of) => hot(1, of))).size).toBe(10_000);
  expect(new Set(alike.map((of) => cold(1, of))).size).toBe(10_000);
  expect(new Set(alike.map((of) => Math.floor(hot(1, of) / 2 ** 39))).size).toBeGreaterThan(5000);
});

test('the hashes depend on the secret', () => {
  const [one, other] = [createIndexHash(1n), createIndexHash(2n)];
  expect(one.hot(1, address(7))).not.toBe(other.hot(1, address(7)));
  expect(one.key(delegation('ALL'))).not.toBe(other.key(delegation('ALL')));
});

test('the hashes are whole numbers that JavaScript and SQL hold exactly', () => {
  const { hot } = createIndexHash(0xffffffffffffffffn);
  for (let of = 0; of < 1000; of++) {
    expect(Number.isSafeInteger(hot(1, address(of)))).toBe(true);
    expect(hot(1, address(of))).toBeGreaterThanOrEqual(0);
  }
});

test('the hash of a key depends on every field but its amount and wallets', () => {
  const { key } = createIndexHash(3n);
  const base = delegation('ERC1155');
  const others = [
    { kind: 'ERC721' },
    { contract: address(9) },
    { tokenId: 8n },
    { rights: `0x${'1'.repeat(64)}` },
  ] as const;
  for (const other of others) expect(key({ ...base, ...other })).not.toBe(key(base));
  expect(key({ ...base, amount: 5n } as typeof base)).toBe(key(base));
});

test('a wallet has another hash on every chain', () => {
  const { hot, cold } = createIndexHash(1n);
  expect(new Set([1, 10, 137].flatMap((chainId) => [hot(chainId, address(7)), cold(chainId, address(7))])).size).toBe(
    6,
  );
});
