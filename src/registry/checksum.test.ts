import { expect, test } from 'bun:test';
import { getAddress } from 'viem';
import { RECORDINGS } from '../../test/support/vectors.ts';
import { CASING_BYTES, checksummed, hasChecksum, withCasing, writeCasing } from './checksum.ts';
import type { Address } from './delegation.ts';

test('the examples of EIP-55', () => {
  for (const text of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
  ]) {
    expect(checksummed(text.toLowerCase() as Address)).toBe(text);
  }
});

test('every address of the recorded lists', () => {
  const texts = JSON.stringify(RECORDINGS.map(({ checkpoints }) => checkpoints)).match(/0x[0-9a-fA-F]{40}(?=")/g) ?? [];
  const mixed = new Set(texts.filter((text) => text !== text.toLowerCase()));
  expect(mixed.size).toBeGreaterThan(15);
  for (const text of mixed) expect(checksummed(text.toLowerCase() as Address)).toBe(text);
});

test('more addresses than are remembered', () => {
  for (let of = 0; of < 50_000; of++) checksummed(`0x${of.toString(16).padStart(40, '0')}`);
  expect(checksummed('0xd1220a0cf47c7b9be7a2e6ba89f429762e7b9adb')).toBe('0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb');
});

test('random addresses, as another library writes them, and one wrong letter is noticed', () => {
  for (let turn = 0; turn < 5000; turn++) {
    const address: Address = `0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`;
    const form = checksummed(address);
    expect(form).toBe(getAddress(address));
    expect(hasChecksum(form)).toBe(true);
    const at = form.search(/(?!^0x)[a-fA-F]/);
    if (at < 0) continue;
    const turned =
      form.charAt(at) === form.charAt(at).toLowerCase() ? form.charAt(at).toUpperCase() : form.charAt(at).toLowerCase();
    expect(hasChecksum(form.slice(0, at) + turned + form.slice(at + 1))).toBe(false);
  }
});

test('a form from the casing that is stored is the same', () => {
  const casing = new Uint8Array(3 * CASING_BYTES);
  for (let of = 0; of < 1000; of++) {
    const bytes = crypto.getRandomValues(new Uint8Array(20));
    const [address, start] = [`0x${bytes.toHex()}` as Address, (of % 3) * CASING_BYTES];
    writeCasing(bytes, casing, start);
    expect(withCasing(address, casing, start)).toBe(getAddress(address));
  }
});
