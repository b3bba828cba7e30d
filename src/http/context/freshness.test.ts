// Clocks that are wrong: a stopped follower is never taken for a fresh one.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { block, COLD, granted, HOT, timeOf } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { App } from '../server/app.ts';
import { createSightings } from './freshness.ts';

/** It makes blocks on demand. */
const ARBITRUM = 42161;
const HOUR = 3600;

describe('freshness', () => {
  let store: Store;
  let app: App;
  /** What the two clocks of the machine say. */
  let [wall, monotonic] = [0, 0];
  const epochs = new Map<number, number>();
  beforeEach(async () => {
    store = await openStore(`sqlite:${temporaryPath('fresh.db')}`);
    for (const chainId of [1, ARBITRUM]) {
      const { epoch } = await store.claim(chainId, 100);
      epochs.set(chainId, epoch);
      const head = block(105);
      const blocks = [block(101, [granted('ALL')]), block(103), head];
      await store.apply({ chainId, epoch, after: null, blocks, head, verified: 103 });
    }
    app = serve();
  });
  afterEach(() => store.close());

  const serve = (more: Partial<Parameters<typeof appOf>[2]> = {}) =>
    appOf(store, 0, {
      chainIds: new Set([1, ARBITRUM]),
      now: () => wall,
      sightings: createSightings(() => monotonic),
      ...more,
    });
  const send = (path: string) => app.fetch(new Request(`http://localhost${path}`));
  const check = (more = '') => send(`/registry/v2/check/all?to=${HOT}&from=${COLD}${more}`);
  const type = async (response: Response) => ((await response.json()) as { type: string }).type;
  const network = async (chainId: number) =>
    ((await (await send('/networks')).json()) as Record<string, unknown>[]).find((one) => one['chainId'] === chainId);
  const grow = (number: number, after: number) =>
    store.apply({
      chainId: 1,
      epoch: epochs.get(1) ?? 0,
      after: block(after),
      blocks: [block(number)],
      head: block(number),
    });

  test('a chain that does not move grows stale by the monotonic clock, whatever the wall clock says', async () => {
    // By a clock that is slow, the block is of just now, and stays so when the clock is set back again.
    [wall, monotonic] = [timeOf(105), 1000];
    expect((await check()).status).toBe(200);
    expect(await (await send('/ready')).json()).toMatchObject({ chainIds: [1, ARBITRUM] });
    monotonic += 60;
    expect((await check()).status).toBe(200);
    monotonic += 1;
    const stale = await check();
    expect([stale.status, await stale.json()]).toEqual([
      503,
      expect.objectContaining({ type: '/docs#problem-chain-stale', ageSeconds: 61, maxAgeSeconds: 60 }),
    ]);
    expect((await send(`/registry/v2/${HOT}`)).status).toBe(503);
    expect(await network(1)).toMatchObject({ ready: false, lagSeconds: 61 });
    expect((await send('/ready')).status).toBe(503);
    expect(await (await check('&block=finalized')).text()).toBe('true');

    await grow(106, 105);
    expect((await check()).status).toBe(200);
    expect(await network(1)).toMatchObject({ ready: true, lagSeconds: 0 });
  });

  test('a chain that moved while nobody asked is fresh', async () => {
    [wall, monotonic] = [timeOf(105), 0];
    expect((await check()).status).toBe(200);
    await grow(106, 105);
    await grow(200, 106);
    [wall, monotonic] = [timeOf(200), 950];
    expect((await check()).status).toBe(200);
  });

  test('a chain that moves is stale all the same while its newest block is too old', async () => {
    [wall, monotonic] = [timeOf(105) + HOUR, 0];
    expect((await check()).status).toBe(503);
    await grow(106, 105);
    expect(await network(1)).toMatchObject({ ready: false, lagSeconds: HOUR - 10 });
  });

  test('where blocks come on demand, a confirmation is a movement, and elsewhere it is none', async () => {
    [wall, monotonic] = [timeOf(105) + 30, 0];
    for (const chainId of [1, ARBITRUM]) expect((await check(`&chainId=${chainId}`)).status).toBe(200);
    monotonic += 61;
    for (const chainId of [1, ARBITRUM]) {
      expect((await check(`&chainId=${chainId}`)).status).toBe(503);
      await store.report(chainId, epochs.get(chainId) ?? 0, { confirmedAt: wall });
    }
    expect((await check()).status).toBe(503);
    expect((await check(`&chainId=${ARBITRUM}`)).status).toBe(200);
  });

  test('a head from the future is refused as a clock that is behind; final blocks are answered', async () => {
    wall = timeOf(105) - 60;
    expect((await check()).status).toBe(200);
    wall = timeOf(105) - HOUR;
    const refused = await check();
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await refused.json()).toMatchObject({
      type: '/docs#problem-clock-skew',
      status: 503,
      indexedBlock: 105,
      clockBehindSeconds: HOUR,
      detail: expect.stringContaining(`${HOUR} seconds behind chain 1`),
    });
    expect(await type(await send(`/registry/v2/${HOT}`))).toBe('/docs#problem-clock-skew');
    expect(await type(await check('&block=104'))).toBe('/docs#problem-clock-skew');
    for (const at of ['block=103', 'block=finalized', `timestamp=${timeOf(102)}`]) {
      expect(await (await check(`&${at}`)).text()).toBe('true');
    }
    expect(await network(1)).toMatchObject({ ready: false, clockBehindSeconds: HOUR });
    expect((await send('/ready')).status).toBe(503);
    expect(await (await send('/status')).text()).toContain('60 minutes behind the chain: check NTP');
  });

  test('a sandbox may make up its times', async () => {
    wall = timeOf(105) - HOUR;
    app = serve({ sandbox: true });
    expect((await check()).status).toBe(200);
    expect(await network(1)).toMatchObject({ ready: true, clockBehindSeconds: 0 });
  });

  test('a clock that is ahead is told apart from a chain that stands still', async () => {
    const detail = async () => ((await (await check()).json()) as { detail: string }).detail;
    const report = (tip: number) => store.report(1, epochs.get(1) ?? 0, { tip });
    [wall, monotonic] = [timeOf(105) + HOUR, 1000];
    await report(105);
    // It may have stood still for an hour.
    expect(await detail()).not.toContain('clock');
    await grow(106, 105);
    [wall, monotonic] = [timeOf(106) + HOUR, 1012];
    // Behind the chain, the follower catches up.
    await report(107);
    expect(await detail()).not.toContain('clock');
    await report(106);
    expect(await detail()).toContain("New blocks come, and are that old: the server's clock is ahead");
    // Then it stands still.
    monotonic += 2 * HOUR;
    wall += 2 * HOUR;
    expect(await detail()).not.toContain('clock');
  });
});
