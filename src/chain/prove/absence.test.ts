import { expect, test } from 'bun:test';
import { bloomOfLogs, logOfCall } from '../../../test/support/fake-node.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { WALLETS } from '../../../test/support/wallets.ts';
import { NO_RIGHTS } from '../../registry/delegation.ts';
import { absenceBy } from './absence.ts';

const [V, D] = WALLETS;
const EMPTY = `0x${'00'.repeat(256)}`;
const FULL = `0x${'ff'.repeat(256)}`;
const own = logOfCall(['v2', V, 'delegateAll', [D, NO_RIGHTS, true]]);

test('a bloom without the registry, or without one of its events, excludes it', () => {
  expect(absenceBy(MAINNET, EMPTY)).toBe('excluded');
  expect(absenceBy(MAINNET, bloomOfLogs([{ ...own, topics: [] }]))).toBe('excluded');
  expect(absenceBy(MAINNET, bloomOfLogs([{ ...own, address: V }]))).toBe('excluded');
});

test('a clear bloom that has both is suspect; of full ones, one in ten is sampled', () => {
  expect(absenceBy(MAINNET, bloomOfLogs([own]))).toBe('suspect');
  expect(absenceBy(MAINNET, FULL, () => 0.099)).toBe('sampled');
  expect(absenceBy(MAINNET, FULL, () => 0.1)).toBe('compared');
});

test('a bloom of up to 790 bits that has both is clear: fewer than one in twenty have them by chance', () => {
  const bits = [
    ...BigInt(bloomOfLogs([own]))
      .toString(2)
      .padStart(2048, '0'),
  ];
  const set = (count: number) => {
    let left = count - bits.filter((bit) => bit === '1').length;
    const more = bits.map((bit) => (bit === '0' && left-- > 0 ? '1' : bit)).join('');
    return `0x${BigInt(`0b${more}`).toString(16).padStart(512, '0')}`;
  };
  expect(absenceBy(MAINNET, set(790))).toBe('suspect');
  expect(absenceBy(MAINNET, set(791), () => 1)).toBe('compared');
});

test('on a chain whose blooms are not true they exclude nothing', () => {
  const network = { ...MAINNET, bloom: false };
  for (const bloom of [EMPTY, bloomOfLogs([own]), null]) expect(absenceBy(network, bloom, () => 0.1)).toBe('compared');
});
