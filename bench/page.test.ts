import { expect, test } from 'bun:test';
import { pageText } from './page.ts';
import { findBehind, type Section } from './section.ts';

const FOUND = [
  { name: 'ours, SQLite', cpu: 10, perSecond: 100 },
  { name: 'ours, PostgreSQL', cpu: 30, perSecond: 50 },
  { name: 'nginx', cpu: 1, perSecond: 1000 },
  { name: 'Ponder', cpu: 20, perSecond: 50 },
];

const behind = findBehind(FOUND, [
  { what: 'CPU', best: 'least', value: ({ cpu }) => cpu, text: (value) => `${value} µs` },
  { what: 'requests/s', best: 'most', value: ({ perSecond }) => perSecond, text: String },
]);

function pageOf(section: Partial<Section>): string {
  const sections = [{ title: 'Checks', about: 'How.', columns: ['Check'], rows: [['one']], ...section }];
  return pageText([{ part: 'checks', day: '2026-01-01', machine: 'a machine', commit: 'abc', sections }]);
}

test('a peer is ahead where its figure is better, and not where it is equal; nginx is no peer', () => {
  expect(behind).toEqual([{ what: 'CPU', ours: 'ours, PostgreSQL: 30 µs', peer: 'Ponder: 20 µs', by: '1.50 ×' }]);
});

test('the first section of the page lists where a peer is ahead', () => {
  const page = pageOf({ behind });
  expect(/^## (.*)$/m.exec(page)?.[1]).toBe('Where a peer is ahead');
  expect(page).toContain('| Checks: CPU | ours, PostgreSQL: 30 µs | Ponder: 20 µs | 1.50 × |');
});

test('the page says so if no peer is ahead, and nothing if no peer was measured', () => {
  expect(pageOf({ behind: [] })).toContain('Nowhere in these measurements.');
  expect(pageOf({})).not.toContain('Where a peer is ahead');
});

test('the page lists the ratios of all sections before the sections', () => {
  const page = pageOf({ ratios: [{ what: 'Two workers over one', figure: '1.90 ×' }] });
  expect(page.indexOf('| Two workers over one | 1.90 × |')).toBeLessThan(page.indexOf('## Checks'));
  expect(page).toContain('| Two workers over one | 1.90 × |');
});
