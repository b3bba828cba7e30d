import { expect, test } from 'bun:test';
import { FOLLOWER_STATUS } from '../../../test/support/fixtures.ts';
import { formatStatus } from './follower-status.ts';

test('a line of the terminal says how long is left in seconds, minutes or hours', () => {
  const left = (secondsLeft: number | null) => formatStatus('Ethereum', { ...FOLLOWER_STATUS, secondsLeft });
  for (const [seconds, text] of [
    [89, ', 89 s left'],
    [90, ', 2 min left'],
    [5399, ', 90 min left'],
    [5400, ', 1.5 h left'],
  ] as const)
    expect(left(seconds)).toEndWith(text);
  expect(left(null)).not.toContain('left');
});
