import { expect, test } from 'bun:test';
import { problemWords } from './problem-words.ts';

test.each([
  [
    'Chain 1 is stale: its newest indexed block 7 is 86400 seconds old, and the limit is 31536000 seconds. All of its providers are unhealthy: 1/1 connection-refused, 1/2 http-401.',
    'Ethereum is stale: its newest indexed block 7 is 24 hours old, and the limit is 365 days. None of the nodes that it is read from answers.',
  ],
  [
    'What 0x12 has granted on chain 10 is disputed since block 5.',
    'What 0x12 has granted on Optimism is disputed since block 5.',
  ],
  ['Chain 999999 is 90 seconds old.', 'Chain 999999 is 90 seconds old.'],
])('%s', (detail, words) => {
  expect(problemWords({ detail })).toBe(words);
});

test('a parameter has the name of its field', () => {
  expect(problemWords({ errors: [{ parameter: 'tokenId', detail: 'is required' }] })).toBe('Token id is required');
  expect(problemWords({})).toBeUndefined();
});
