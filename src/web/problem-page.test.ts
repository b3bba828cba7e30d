// What the page of a problem says, for problems that are hard to bring about in a browser.

import { expect, test } from 'bun:test';
import { PROBLEM_TYPES } from '../api/problems.ts';
import { renderProblem, type ShownProblem } from './problem-page.ts';

const SHOWN: ShownProblem = {
  type: 'internal',
  detail: 'The request failed.',
  retryAfter: null,
  requestId: 'abc-1',
  path: '/status',
  url: '/status?x=1',
  isUnknownPath: false,
  near: null,
};

test('an error of the service asks to send the request id to the operator', () => {
  const text = renderProblem(SHOWN);
  expect(text).toContain('<h1>Internal error</h1>');
  expect(text).toContain('You can <a href="/status?x=1">try again</a>. If it fails again, send the request id');
  expect(text).toContain('<code>abc-1</code>');
});

test('a problem that passes says how long to wait', () => {
  const text = renderProblem({ ...SHOWN, type: 'not-ready', detail: 'The database is unavailable.', retryAfter: 1 });
  expect(text).toContain('The database is unavailable. Wait 1 second, then <a href="/status?x=1">try again</a>.');
});

test('every problem has a page that links to its explanation', () => {
  for (const type of PROBLEM_TYPES)
    expect(renderProblem({ ...SHOWN, type })).toContain(`<a href="/docs#problem-${type}">${type}</a>`);
});

test('an address that begins with two slashes is not linked', () => {
  for (const url of ['//evil.example/', '/\\evil.example', 'https://evil.example'])
    expect(renderProblem({ ...SHOWN, url })).toContain('<a href="/">try again</a>');
});
