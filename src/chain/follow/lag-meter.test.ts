import { expect, test } from 'bun:test';
import type { ChainState } from '../../store/store.ts';
import { createLagMeter } from './lag-meter.ts';

const START = 1_800_000_000;
const state = (timestamp: number | null) =>
  ({
    chainId: 1,
    confirmedAt: null,
    head: timestamp === null ? null : { number: 1, hash: '0x', timestamp },
  }) as ChainState;

test('the sample of ten minutes is their highest lag, and comes when they have ended', () => {
  const measure = createLagMeter();
  expect(measure(state(START - 5), START)).toBeNull();
  expect(measure(state(START - 5), START + 40)).toBeNull();
  expect(measure(state(START + 590), START + 599)).toBeNull();
  expect(measure(state(START + 590), START + 600)).toEqual({ chainId: 1, at: START, seconds: 45 });
  expect(measure(state(START + 590), START + 601)).toBeNull();
});

test('time in which nothing measures has no sample', () => {
  const measure = createLagMeter();
  measure(state(START), START + 12);
  expect(measure(state(START + 6000), START + 6010)).toEqual({ chainId: 1, at: START, seconds: 12 });
  expect(measure(state(START + 6600), START + 6605)).toEqual({ chainId: 1, at: START + 6000, seconds: 10 });
});

test('a chain without a block is not measured', () => {
  const measure = createLagMeter();
  expect(measure(state(null), START)).toBeNull();
  expect(measure(state(null), START + 600)).toBeNull();
});
