import { expect, test } from 'bun:test';
import { missingFrom } from './compare-logs.ts';

test('what occurs twice must be there twice', () => {
  expect(missingFrom(['a', 'b'], ['a', 'a', 'b'])).toEqual(['a']);
  expect(missingFrom(['b', 'a', 'a'], ['a', 'b', 'a'])).toEqual([]);
  expect(missingFrom(['a', 'b'], ['b', 'b', 'c'])).toEqual(['b', 'c']);
  expect(missingFrom([], ['a'])).toEqual(['a']);
});
