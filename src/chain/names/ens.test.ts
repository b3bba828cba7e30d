// Nodes and calls, against viem; and which names are shown.

import { describe, expect, test } from 'bun:test';
import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem';
import { namehash, normalize } from 'viem/ens';
import { WALLETS } from '../../../test/support/wallets.ts';
import {
  decodeAddress,
  decodeName,
  encodeAddr,
  encodeName,
  encodeResolver,
  looksLikeName,
  nodeOf,
  normalizedName,
  reverseNodeOf,
} from './ens.ts';

const [ADA] = WALLETS;
const ABI = parseAbi([
  'function resolver(bytes32) view returns (address)',
  'function name(bytes32) view returns (string)',
  'function addr(bytes32) view returns (address)',
]);
const returned = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);

test('nodes and calls are those of ENS', () => {
  const node = nodeOf('a.ada.eth');
  expect(node).toBe(namehash('a.ada.eth'));
  expect(nodeOf('größe.eth')).toBe(namehash('größe.eth'));
  expect(reverseNodeOf(ADA)).toBe(namehash(`${ADA.slice(2)}.addr.reverse`));
  for (const [functionName, encode] of [
    ['resolver', encodeResolver],
    ['name', encodeName],
    ['addr', encodeAddr],
  ] as const)
    expect(encode(node)).toBe(encodeFunctionData({ abi: ABI, functionName, args: [node] }));
});

test('a name is looked up in its normal form', async () => {
  expect(await normalizedName('Ada.ETH')).toBe('ada.eth');
  for (const text of ['ada', 'ada eth', '.eth', 'ada..eth', '0x12', 'a/b.eth', `${'a'.repeat(300)}.eth`, 'a_b.eth'])
    expect(await normalizedName(text)).toBeNull();
  // Those that are not looked up in its tables.
  for (const text of ['ada.eth', 'ADA.Eth', 'a-d-a.x1.eth', '0-0.eth'])
    expect(await normalizedName(text)).toBe(normalize(text));
  expect(looksLikeName('v1.5')).toBe(false);
});

describe('a name is shown', () => {
  test('exactly as it is registered', async () => {
    for (const name of ['ada.eth', 'a.ada.eth', 'größe.eth', 'عربي.eth', '🦊.eth'])
      expect(await decodeName(returned(name))).toBe(name);
  });

  test('not in another form, with letters of several scripts, with what is not seen, or long', async () => {
    for (const name of [
      'Ada.eth',
      // With a Cyrillic a.
      '\u0430da.eth',
      'ada.eth\u202e',
      'a\u200bda.eth',
      ' ada.eth',
      '<b>ada</b>.eth',
      'ada',
      '',
      `${'a'.repeat(100)}.eth`,
      'a'.repeat(10_000),
    ])
      expect([name, await decodeName(returned(name))]).toEqual([name, null]);
    for (const data of [null, '0x', '0x00', `0x${'f'.repeat(128)}`]) expect(await decodeName(data)).toBeNull();
  });
});

test('an address is one whole word, and not zero', () => {
  expect(decodeAddress(`0x${'0'.repeat(24)}${ADA.slice(2)}`)).toBe(ADA);
  for (const data of [null, '0x', `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`, `0x${'0'.repeat(24)}${ADA.slice(2)}00`])
    expect(decodeAddress(data)).toBeNull();
});
