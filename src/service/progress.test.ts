import { expect, test } from 'bun:test';
import { FOLLOWER_STATUS } from '../../test/support/fixtures.ts';
import { createProgressRate, createProgressReport } from './progress.ts';

function report(write: ((text: string) => void) | null = null) {
  const lines: { level: string; message: string }[] = [];
  const run = createProgressReport((level, message, fields) => lines.push({ level, message, ...fields }), write);
  return { run, lines };
}

test('the log has progress at once and every 30 seconds, before a provider answers too, and a line when caught up', () => {
  const { run, lines } = report();
  const at: unknown[] = [];
  for (let second = 0; second < 400; second++) {
    // A provider answers after 50 seconds; the head is reached after 150; a short lag is normal.
    const block = second < 50 ? null : 1000 + second;
    const tip = second < 50 ? null : second < 150 ? 5000 : 1000 + second + (second % 3);
    run([{ ...FOLLOWER_STATUS, block, tip, logs: second }], 1000 * second);
    for (const { message } of lines) at.push([second, message]);
    if (lines[0]?.message === 'caught up')
      expect(lines).toMatchObject([{ level: 'info', chainId: 1, block: 1150, logs: 150, seconds: 150 }]);
    lines.length = 0;
  }
  const progress = [0, 30, 60, 90, 120].map((second) => [second, 'backfill progress']);
  expect(at).toEqual([...progress, [150, 'caught up']]);
});

test('a chain that needs no backfill is caught up at once, one that falls behind says so again, and a standby says nothing', () => {
  const { run, lines } = report();
  const messages = () => lines.splice(0).map(({ message }) => message);
  run([{ ...FOLLOWER_STATUS, block: 9, tip: 9 }], 0);
  expect(messages()).toEqual(['caught up']);
  run([{ ...FOLLOWER_STATUS, block: 9, tip: 200 }], 1000);
  run([{ ...FOLLOWER_STATUS, block: 190, tip: 200 }], 2000);
  expect(messages()).toEqual(['backfill progress']);
  run([{ ...FOLLOWER_STATUS, block: 201, tip: 201 }], 3000);
  expect(messages()).toEqual(['caught up']);
  run([{ ...FOLLOWER_STATUS, standby: true }], 4000);
  run([{ ...FOLLOWER_STATUS, standby: true, block: 1, tip: 900 }], 40_000);
  expect(messages()).toEqual([]);
});

test('a terminal shows a line for each chain every time, until it is caught up', () => {
  let shown = '';
  const { run, lines } = report((text) => {
    shown = text;
  });
  run([FOLLOWER_STATUS], 0);
  expect(shown).toContain('block – of –');
  for (let second = 1; second < 10; second++) {
    shown = '';
    run([{ ...FOLLOWER_STATUS, block: second, tip: 5000 }], 1000 * second);
    expect(shown).toContain(`block ${second} of 5000`);
  }
  run([{ ...FOLLOWER_STATUS, block: 5000, tip: 5000 }], 10_000);
  expect(shown).not.toContain('block');
  expect(lines.map(({ message }) => message)).toEqual(['caught up']);
});

test('the first estimate after a restart is based on the blocks of this run', () => {
  const measure = createProgressRate();
  expect(measure(0, null, 0).blocks).toBeNull();
  expect(measure(1000, 20_000_000, 0).blocks).toBeNull();
  expect(measure(3000, 20_000_200, 50)).toEqual({ blocks: 100, logs: 25 });
  // Another follower has taken over: its counter starts at 0.
  expect(measure(5000, 20_000_400, 0)).toEqual({ blocks: null, logs: 0 });
  expect(measure(6000, 20_000_500, 7)).toEqual({ blocks: 100, logs: 7 });
  // Older samples do not count.
  expect(measure(35_500, 20_000_500, 7)).toEqual({ blocks: 0, logs: 0 });
});
