import { expect, test } from 'bun:test';
import { chaos, reportLines } from './chaos.ts';

test('when each process dies once under load, every answer is right or a 503, and nothing is lost', async () => {
  const report = await chaos({ seconds: 25, seed: 1, print: () => {} });
  console.log(reportLines(report).join('\n'));
  expect(report.seen.wrong.slice(0, 3)).toEqual([]);
  expect(report.lost).toEqual([]);
  expect(report.disturbances.size).toBe(5);
  expect(report.seen.right).toBeGreaterThan(500);
});
