import { expect, test } from 'bun:test';
import { lagText, renderLag } from './lag-line.ts';

const SINCE = Date.parse('2026-11-15T09:30:00Z') / 1000;
const history = (seconds: (number | null)[]) => ({ since: SINCE, stepSeconds: 600, seconds });
const drawn = (seconds: (number | null)[]) => renderLag({ lagHistory: history(seconds), maxLagSeconds: 60 }).text;
const lineOf = (seconds: (number | null)[]) => /class="line" d="([^"]*)"/.exec(drawn(seconds))?.[1];

test('says what is usual, what was highest, and since when it is measured', () => {
  expect(lagText(history([12, 15, 11]), 60)).toBe(
    'Lag since 2026-11-15 09:30 UTC: usually 12 seconds, at most 15 seconds.',
  );
  expect(lagText(history(Array.from({ length: 144 }, () => 3)), 60)).toStartWith('Lag over the last day: usually 3');
});

test('says how long answers were refused, and how long nothing was measured', () => {
  expect(lagText(history([12, 300, null, null, 12]), 60)).toContain(
    'at most 5 minutes. Above the limit of 60 seconds in 10 minutes of it. Not measured for 20 minutes.',
  );
});

test('a gap in the samples is a gap in the line, and never a zero', () => {
  const line = lineOf([12, 12, null, 12]) ?? '';
  expect(line.match(/M/g)).toHaveLength(2);
  expect(line).not.toContain(' 64');
  // The newest step ends at the right edge.
  expect(line).toEndWith('H288');
});

test('a lag of years stays inside the picture', () => {
  expect(lineOf([3e8, 12])).toStartWith('M284 0H286L286 ');
});

test('the axis has zero, the limit and the highest lag, with their units', () => {
  const axisOf = (text: string) => [...text.matchAll(/<text[^>]*>([^<]*)</g)].map(([, label]) => label);
  expect(axisOf(drawn([12, 15]))).toEqual(['0 s', '60 s']);
  expect(axisOf(drawn([12, 200]))).toEqual(['0 s', '60 s', '3.3 min']);
  expect(axisOf(drawn([12, 900]))).toEqual(['0 s', '60 s', 'over 4 min']);
  expect(axisOf(renderLag({ lagHistory: history([12]), maxLagSeconds: 7200 }).text)).toEqual(['0 s', '2 h']);
});

test('every hour of the last day has a bar: within the limit, above it, or not measured', () => {
  const barsOf = (seconds: (number | null)[]) =>
    ['within', 'over', 'unknown'].map(
      (kind) => new RegExp(`class="${kind}" d="([^"]*)"`).exec(drawn(seconds))?.[1]?.match(/M/g)?.length ?? 0,
    );
  const hour = (lag: number | null) => Array.from({ length: 6 }, () => lag);
  expect(barsOf(hour(12))).toEqual([1, 0, 23]);
  expect(barsOf([...hour(12), ...hour(null), 12, 12, 300, 12, 12, 12])).toEqual([1, 1, 22]);
  expect(barsOf(Array.from({ length: 24 }, () => hour(12)).flat())).toEqual([24, 0, 0]);
});

test('without a sample there is no line', () => {
  const text = renderLag({ lagHistory: null, maxLagSeconds: 60 }).text;
  expect(text).not.toContain('<svg');
});
