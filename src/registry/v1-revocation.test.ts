import { describe, expect, test } from 'bun:test';
import { address, COLD, HOT } from '../../test/support/fixtures.ts';
import { MAINNET } from '../../test/support/vectors.ts';
import type { Address } from './delegation.ts';
import { BadReturnDataError, decodeVaultState } from './return-data.ts';
import { revokedDelegate } from './v1-revocation.ts';

const REGISTRY = MAINNET.registries[1] as Address;
const call = (selector: string, argument: Address) => `0x${selector}${argument.slice(2).padStart(64, '0')}`;
const straight = { from: COLD, to: REGISTRY, input: call('fa352c00', HOT) };

describe('whom a transaction revoked', () => {
  test('the argument of revokeDelegate, sent straight to the registry by the wallet', () => {
    expect(revokedDelegate(straight, COLD, REGISTRY)).toBe(HOT);
    const checksummed = { ...straight, to: '0x00000000000076A84feF008CDAbe6409d2FE638B' };
    expect(revokedDelegate(checksummed, COLD, REGISTRY)).toBe(HOT);
  });

  test('the wallet itself, where it revoked itself as its own delegate', () => {
    expect(revokedDelegate({ ...straight, input: call('219044b0', COLD) }, COLD, REGISTRY)).toBe(COLD);
  });

  const untold: [string, typeof straight | { from: Address; to: null; input: string }][] = [
    ['went to another contract', { ...straight, to: address(0x5afe) }],
    ['was sent by somebody else', { ...straight, from: HOT }],
    ['made a contract', { ...straight, to: null }],
    ['calls another function', { ...straight, input: call('685ee3e8', HOT) }],
    ['revokes itself from another vault', { ...straight, input: call('219044b0', HOT) }],
    ['has no argument', { ...straight, input: '0xfa352c00' }],
    ['has dirty bytes above the address', { ...straight, input: `0xfa352c00${'1'.repeat(24)}${HOT.slice(2)}` }],
    ['has more behind its argument', { ...straight, input: `${straight.input}00` }],
  ];
  for (const [what, transaction] of untold) {
    test(`is unknown where the transaction ${what}`, () => {
      expect(revokedDelegate(transaction, COLD, REGISTRY)).toBeNull();
    });
  }
});

describe('the state of a wallet', () => {
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  const array = (length: number, ...words: bigint[]) => `0x${[32n, BigInt(length), ...words].map(word).join('')}`;
  const none = array(0);
  const empty = { getDelegatesForAll: none, getContractLevelDelegations: none, getTokenLevelDelegations: none };

  test('is what the three getters return', () => {
    const raw = {
      getDelegatesForAll: array(1, BigInt(HOT)),
      getContractLevelDelegations: array(1, 0n, BigInt(HOT)),
      getTokenLevelDelegations: array(1, 0xccn, 2n ** 256n - 1n, BigInt(HOT)),
    };
    const base = { version: 1, from: COLD, to: HOT, rights: null } as const;
    expect(decodeVaultState(COLD, raw)).toEqual([
      { ...base, kind: 'ALL', contract: null, tokenId: null },
      { ...base, kind: 'CONTRACT', contract: address(0), tokenId: null },
      { ...base, kind: 'TOKEN', contract: address(0xcc), tokenId: 2n ** 256n - 1n },
    ]);
  });

  const bad: [string, string][] = [
    ['nothing', '0x'],
    ['an error page', '<html>'],
    ['a cut word', none.slice(0, -1)],
    ['fewer rows than promised', array(2, BigInt(HOT))],
    ['more rows than promised', array(1, BigInt(HOT), BigInt(HOT))],
    ['another offset', `0x${word(64n)}${word(0n)}`],
    ['no address', array(1, 2n ** 200n)],
  ];
  for (const [what, getDelegatesForAll] of bad) {
    test(`is an error where a getter returned ${what}`, () => {
      expect(() => decodeVaultState(COLD, { ...empty, getDelegatesForAll })).toThrow(BadReturnDataError);
    });
  }
});
