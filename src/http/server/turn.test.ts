import { describe, expect, test } from 'bun:test';
import { inTurns, MOST_AT_ONCE } from './turn.ts';

/** The first word. */
const callerOf = (name: string) => name.split(' ')[0] as string;

describe('requests that arrive together', () => {
  test('take turns: each step is done for all before the next one', async () => {
    const steps: string[] = [];
    const handle = inTurns(async (name: string) => {
      steps.push(`${name} asks`);
      await null;
      steps.push(`${name} answers`);
      return name;
    }, callerOf);
    expect(await Promise.all(['first', 'second'].map(handle))).toEqual(['first', 'second']);
    expect(steps).toEqual(['first asks', 'second asks', 'first answers', 'second answers']);
  });

  test('fail alone', async () => {
    const handle = inTurns(async (name: string) => {
      if (name === 'bad') throw new Error('no');
      return name;
    }, callerOf);
    const [bad, good] = await Promise.allSettled(['bad', 'good'].map(handle));
    expect(bad?.status).toBe('rejected');
    expect(good).toEqual({ status: 'fulfilled', value: 'good' });
    expect(await handle('later')).toBe('later');
  });

  test('and are many: who sends a thousand keeps nobody waiting, and each turn of the event loop handles a few', async () => {
    const order: string[] = [];
    const handle = inTurns(async (name: string) => void order.push(name), callerOf);
    const flood = Array.from({ length: 1000 }, (_, turn) => handle(`flood ${turn}`));
    await new Promise(setImmediate);
    expect(order).toHaveLength(MOST_AT_ONCE);
    const single = handle('single');
    await single;
    expect(order.indexOf('single')).toBeLessThan(MOST_AT_ONCE + 2);
    await Promise.all(flood);
    expect(order.filter((name) => name !== 'single')).toEqual(
      Array.from({ length: 1000 }, (_, turn) => `flood ${turn}`),
    );
  });
});
