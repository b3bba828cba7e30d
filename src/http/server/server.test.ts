import { expect, spyOn, test } from 'bun:test';
import { serving } from '../../../test/support/serving.ts';
import type { Store } from '../../store/store.ts';

for (const [what, doneAt, endsAt] of [
  ['is over when all requests are answered', 3000, 3000],
  ['cuts requests off after the drain timeout', Number.POSITIVE_INFINITY, 7000],
] as const) {
  test(`a stop ${what}`, async () => {
    let now = 0;
    const stops: [isCut: boolean, at: number][] = [];
    const mocked = [
      spyOn(performance, 'now').mockImplementation(() => now),
      spyOn(Bun, 'sleep').mockImplementation(async (ms) => {
        now += Number(ms);
      }),
      spyOn(Bun, 'serve').mockReturnValue({
        get pendingRequests() {
          return now < doneAt ? 1 : 0;
        },
        async stop(isCut = false) {
          const at = now;
          await new Promise(setImmediate);
          stops.push([isCut, at]);
        },
      } as never),
    ];
    try {
      await serving({} as Store, 0, { drainTimeout: 7 }).stop();
    } finally {
      for (const one of mocked) one.mockRestore();
    }
    expect(stops).toEqual([
      [false, 0],
      [true, endsAt],
    ]);
  });
}
