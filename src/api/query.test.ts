import { describe, expect, test } from 'bun:test';
import { nearest, parseQuery, splitUrl } from './query.ts';

const KNOWN = new Set(['to', 'from', 'chainId', 'tokenId', 'rights']);

describe('the target of a request', () => {
  const targets: [string, string, string][] = [
    ['http://host:80/a/b?x=1&y=2', '/a/b', 'x=1&y=2'],
    ['http://host/a', '/a', ''],
    ['http://host', '/', ''],
    ['http:///a', '/a', ''],
    ['/relative?x', '/relative', 'x'],
    ['/relative?x=http://elsewhere/health', '/relative', 'x=http://elsewhere/health'],
    ['http://host/a?b?c#d', '/a', 'b?c'],
    ['http://ho st:99999999/a%zz?q', '/a%zz', 'q'],
  ];
  for (const [url, path, query] of targets) {
    test(`${url} is read without a throw`, () => expect(splitUrl(url)).toEqual({ path, query }));
  }
});

describe('a query', () => {
  test('gives the decoded values of known parameters', () => {
    const { values, faults } = parseQuery('to=%30x1&rights=&chainId=1', KNOWN);
    expect([...values]).toEqual([
      ['to', '0x1'],
      ['rights', ''],
      ['chainId', '1'],
    ]);
    expect(faults).toEqual([]);
  });

  test('ignores cache busters and campaign tags', () => {
    expect(parseQuery('_=123&utm_source=x&utm_=y&utm_x=%E9&_=1', KNOWN).faults).toEqual([]);
  });

  test('tells those who add a time against caches that they need none, and guesses no other name', () => {
    for (const name of ['t', 'ts', 'cb', 'nocache']) {
      const [fault] = parseQuery(`${name}=1767225600`, KNOWN).faults;
      expect(fault?.detail).toStartWith('is not a known parameter; against caches nothing is needed');
    }
  });

  test('suggests the known name for a typo', () => {
    const { faults } = parseQuery('chainid=137&token=5&form=0x1', KNOWN);
    expect(faults).toEqual([
      { parameter: 'chainid', detail: 'is not a known parameter; did you mean chainId?' },
      { parameter: 'token', detail: 'is not a known parameter; did you mean tokenId?' },
      { parameter: 'form', detail: 'is not a known parameter; did you mean from?' },
    ]);
  });

  test('compares only names of up to 32 characters', () => {
    const known = 'x'.repeat(32);
    expect([nearest(`${known.slice(1)}y`, [known]), nearest(`${known}y`, [known])]).toEqual([known, null]);
  });

  test('suggests the nearest of several, and none that shares less than half of its letters', () => {
    expect(nearest('rihgts', ['rights', 'lights'])).toBe('rights');
    expect(nearest('block', ['blocks', 'blow'])).toBe('blocks');
    expect(nearest('id', ['to'])).toBeNull();
  });

  test('lists what is known where nothing is near', () => {
    const [fault] = parseQuery('wallet=0x1', KNOWN).faults;
    expect(fault?.detail).toBe('is not a known parameter; known are to, from, chainId, tokenId, rights');
  });

  test('refuses what is given twice, also when both are the same', () => {
    expect(parseQuery('to=0x1&to=0x1', KNOWN).faults).toEqual([{ parameter: 'to', detail: 'is given more than once' }]);
  });

  test('refuses what is not UTF-8', () => {
    expect(parseQuery('to=%ff', KNOWN).faults[0]?.detail).toContain('percent-encoded');
    expect(parseQuery('%ff=1', KNOWN).faults[0]?.detail).toContain('percent-encoded');
  });

  test('explains at most twenty faults, each name once, and what is known once', () => {
    const { faults } = parseQuery(Array.from({ length: 900 }, (_, turn) => `x${turn % 50}=1`).join('&'), KNOWN);
    expect(faults).toHaveLength(20);
    expect(new Set(faults.map(({ parameter }) => parameter)).size).toBe(20);
    expect(JSON.stringify(faults).length).toBeLessThan(2000);
  });

  test('shortens what a hostile caller sends, and never throws', () => {
    const { faults } = parseQuery(`${'x'.repeat(100_000)}=1&=&&&==`, KNOWN);
    expect(faults[0]?.parameter.length).toBeLessThan(70);
  });
});
