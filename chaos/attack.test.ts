import { expect, test } from 'bun:test';
import { attack, attackLines } from './attack.ts';

test('under every attack at once, honest checks are answered, and rightly', async () => {
  const report = await attack({ seconds: 5, grants: 20_000, print: () => {} });
  console.log(attackLines(report).join('\n'));
  expect(report.honest.wrong).toEqual([]);
  expect(report.honest.right).toBeGreaterThan(10);
  expect(report.honest.unanswered).toBeLessThan(report.honest.right / 4);
  expect(report.restarts).toBe(0);
  expect(Math.max(...report.megabytes)).toBeLessThan(300);
  // Every kind of attack ran.
  expect(report.hostile.size).toBeGreaterThan(12);
});

test('bodies that were refused do not stay in memory', async () => {
  const { megabytes } = await attack({ seconds: 4, grants: 1000, print: () => {}, only: 'large batch' });
  expect(Math.max(...megabytes)).toBeLessThan(300);
});
