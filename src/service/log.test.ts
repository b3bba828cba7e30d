import { afterEach, expect, mock, spyOn, test } from 'bun:test';
import { createErrorLog, createWarningLog, type Log } from './log.ts';

let now = 0;
afterEach(() => mock.restore());

function logging() {
  now = 1000;
  spyOn(performance, 'now').mockImplementation(() => now);
  const lines: object[] = [];
  const log: Log = (level, message, fields) => lines.push({ level, message, ...fields });
  return { log, take: () => lines.splice(0) };
}

test('what the service works without is a warning at once, and again every five minutes with the number of failures', () => {
  const { log, take } = logging();
  const warn = createWarningLog(log, 'metrics not exported');
  const seen: [at: number, line: object][] = [];
  for (const start = now; now <= start + 600_000; now += 10_000) {
    warn(new Error('refused'));
    for (const line of take()) seen.push([(now - start) / 1000, line]);
  }
  const line = { level: 'warn', message: 'metrics not exported', error: 'refused' };
  expect(seen).toEqual([
    [0, { ...line, times: 1 }],
    [300, { ...line, times: 31 }],
    [600, { ...line, times: 61 }],
  ]);
});

test('the same internal error is logged once in five seconds, and another one at once', () => {
  const { log, take } = logging();
  const logError = createErrorLog(log);
  const seen: number[] = [];
  for (; now <= 12_000; now += 1000) {
    logError(new Error('broken'));
    if (take().length > 0) seen.push(now);
  }
  expect(seen).toEqual([1000, 6000, 11_000]);
  logError(new Error('other'));
  expect(take()).toMatchObject([{ level: 'error', message: 'internal error', error: 'Error: other' }]);
});
