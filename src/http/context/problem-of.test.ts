import { expect, test } from 'bun:test';
import { COLD } from '../../../test/support/fixtures.ts';
import { Problem } from '../../api/problems.ts';
import { StoreError, type StoreErrorCode } from '../../store/errors.ts';
import { problemOf } from './problem-of.ts';
import type { Service } from './service.ts';

/** The type of the problem, when to retry, and whether the operator is told. */
function problemOfStore(code: StoreErrorCode, more: Partial<Service> = {}) {
  let isTold = false;
  const onError = () => {
    isTold = true;
  };
  const error = new StoreError(code, 'Why.', { vault: COLD });
  const { type, retryAfter } = problemOf(error, { onError, ...more } as Service);
  return [type, retryAfter, isTold];
}

test('an error of the store is the problem that its caller can do something about', () => {
  expect(problemOfStore('unavailable')).toEqual(['not-ready', 5, true]);
  expect(problemOfStore('newer-schema')).toEqual(['not-ready', 30, false]);
  expect(problemOfStore('not-started')).toEqual(['chain-not-ready', 5, false]);
  expect(problemOfStore('before-first')).toEqual(['not-indexed', null, false]);
  expect(problemOfStore('beyond-head')).toEqual(['not-yet-indexed', 5, false]);
  expect(problemOfStore('rewritten')).toEqual(['cursor-gone', null, false]);
  expect(problemOfStore('revocation-unread')).toEqual(['revocation-unread', 5, false]);
  expect(problemOfStore('bad-commit')).toEqual(['internal', null, true]);
  expect(problemOfStore('beyond-head', { sandbox: true })).toEqual(['not-yet-indexed', 1, false]);
});

test('a problem stays what it is, and any other error is ours', () => {
  const problem = new Problem('bad-request', 'Why.');
  expect(problemOf(problem, {} as Service)).toBe(problem);
  expect(problemOf(new Error('why'), {} as Service).type).toBe('internal');
});
