import { describe, expect, test } from 'bun:test';
import { inTurns } from './turn.ts';

describe('requests that arrive together', () => {
  test('take turns: each step is done for all before the next one', async () => {
    const steps: string[] = [];
    const handle = inTurns(async (name: string) => {
      steps.push(`${name} asks`);
      await null;
      steps.push(`${name} answers`);
      return name;
    });
    expect(await Promise.all(['first', 'second'].map(handle))).toEqual(['first', 'second']);
    expect(steps).toEqual(['first asks', 'second asks', 'first answers', 'second answers']);
  });

  test('fail alone', async () => {
    const handle = inTurns(async (name: string) => {
      if (name === 'bad') throw new Error('no');
      return name;
    });
    const [bad, good] = await Promise.allSettled(['bad', 'good'].map(handle));
    expect(bad?.status).toBe('rejected');
    expect(good).toEqual({ status: 'fulfilled', value: 'good' });
    expect(await handle('later')).toBe('later');
  });
});
