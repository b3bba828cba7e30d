import { expect, test } from 'bun:test';
import { createReadBudget } from './shared-reads.ts';

test('one caller has a part of what runs, and others have their turn', async () => {
  const budget = createReadBudget({ maxRunning: 4, maxRunningOfOne: 2, maxWaiting: 100, maxWaitingOfOne: 5 });
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const read = (caller: string) =>
    budget.run(caller, async () => {
      order.push(caller);
      await gate.promise;
    });
  const many = Array.from({ length: 8 }, () => read('many'));
  expect(many.map((one) => one === null)).toEqual([...Array(7).fill(false), true]);
  const others = ['one', 'other', 'one'].map(read);
  expect(order).toEqual(['many', 'many', 'one', 'other']);
  gate.resolve();
  await Promise.all([...many, ...others]);
  expect(order).toEqual(['many', 'many', 'one', 'other', 'many', 'one', ...Array(4).fill('many')]);
});

test('a budget runs so many at once, in order, and shares its queue', async () => {
  const queue = { waiting: 0 };
  const limits = { maxRunning: 1, maxRunningOfOne: 1, maxWaiting: 1, maxWaitingOfOne: 1 };
  const [one, other] = [createReadBudget(limits, queue), createReadBudget(limits, queue)];
  const order: number[] = [];
  const gate = Promise.withResolvers<void>();
  const first = one.run('a', () => gate.promise.then(() => void order.push(1)));
  const second = one.run('a', async () => void order.push(2));
  expect(other.run('a', async () => void order.push(3))).not.toBeNull();
  expect([one.run('a', async () => {}), queue.waiting]).toEqual([null, 1]);
  gate.resolve();
  await Promise.all([first, second]);
  expect([order, queue.waiting]).toEqual([[3, 1, 2], 0]);
  const failing = one.run('a', () => Promise.reject(new Error('no')));
  expect(failing).rejects.toThrow('no');
  await failing?.catch(() => {});
  await one.run('a', async () => void order.push(4));
  expect(order.at(-1)).toBe(4);
});
