import { expect, test } from 'bun:test';
import { expiryText as ofServer } from '../../src/registry/expiry-text.ts';
import { expiryText } from '../src/expiry-text.ts';

test('the words for an expiry are those of the pages', () => {
  const now = 1_804_075_200;
  const distances = [0, 1, 59, 60, 3599, 3600, 86_400, 172_800, 2_628_000, 31_536_000, 63_072_000];
  const times = distances.flatMap((distance) => [now - distance, now + distance]);
  for (const expires of [...times, 'never' as const]) expect(expiryText(expires, now)).toBe(ofServer(expires, now));
  expect(expiryText(now + 1, now)).toBe('until 3 March 2027');
});
