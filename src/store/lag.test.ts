import { describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/support/engines.ts';
import { LAG_KEPT_SECONDS, LAG_STEP_SECONDS } from './lag.ts';
import { openStore } from './open.ts';

const DAY = 1_800_000_000;

for (const engine of ENGINES) {
  describe(`the lag of chains on ${engine.name}`, () => {
    test('is kept for a day, by chain, and only the newest writer records it', async () => {
      const url = await engine.fresh();
      const store = await openStore(url);
      const { epoch } = await store.claim(1, 100);
      const other = await store.claim(10, 100);
      const record = (at: number, seconds: number) => store.recordLag(epoch, { chainId: 1, at, seconds });
      for (let step = 0; step < 200; step++) await record(DAY + step * LAG_STEP_SECONDS, step);
      await store.recordLag(other.epoch, { chainId: 10, at: DAY, seconds: 7 });
      const lags = await store.lags(0);
      expect(lags.filter(({ chainId }) => chainId === 1)).toHaveLength(LAG_KEPT_SECONDS / LAG_STEP_SECONDS);
      expect(lags.at(-1)).toEqual({ chainId: 10, at: DAY, seconds: 7 });
      const newest = DAY + 199 * LAG_STEP_SECONDS;
      expect(await store.lags(newest)).toEqual([{ chainId: 1, at: newest, seconds: 199 }]);

      // Two followers in the same ten minutes: the higher one counts.
      await record(newest, 300);
      await record(newest, 20);
      expect(await store.lags(newest)).toEqual([{ chainId: 1, at: newest, seconds: 300 }]);
      // A clock that was ahead is set back.
      await record(newest - LAG_STEP_SECONDS, 5);
      expect(await store.lags(newest)).toEqual([]);

      await store.claim(1, 100);
      await expect(record(newest, 1)).rejects.toMatchObject({ code: 'overtaken' });
      await store.close();
      // It survives a restart, and readers see it.
      const reader = await openStore(url, { readOnly: true });
      expect(await reader.lags(DAY)).not.toEqual([]);
      await reader.close();
    });
  });
}
