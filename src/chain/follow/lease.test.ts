// Which process follows a chain when the lease holder makes no progress: real followers on one store.

import { describe, expect, test } from 'bun:test';
import { ENGINES } from '../../../test/support/engines.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { liveChain } from '../../../test/support/live-chain.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { FIRST } from '../../../test/support/world.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { createProviderPool } from '../rpc/provider-pool.ts';
import { createFollower } from './follower.ts';
import { holdLease } from './lease.ts';
import { runFollower, sleep } from './run-follower.ts';

const DEAD = 'http://127.0.0.1:9';

interface Candidate {
  /** Whether it followed or stood by, in order. */
  readonly turns: boolean[];
  readonly seen: { progress: number; stalls: number };
  stop(): Promise<void>;
}

/** One that follows when it can, and hands over after two seconds of failures. */
function candidate(store: Store, holder: string, url: string): Candidate {
  const stopping = new AbortController();
  const providers = createProviderPool(MAINNET, [url]);
  const turns: boolean[] = [];
  const seen = { progress: 0, stalls: 0 };
  const options = {
    store,
    chainId: 1,
    holder,
    signal: stopping.signal,
    onChange: (isOurs: boolean) => void turns.push(isOurs),
    onError: () => {},
  };
  const ended = holdLease(options, async (signal) => {
    const follower = createFollower({ network: MAINNET, store, providers, now: Date.now, firstBlock: FIRST });
    const how = await runFollower(follower, {
      pollMs: 50,
      stalledMs: 2000,
      signal,
      onError: () => {},
      onProgress: () => void seen.progress++,
    });
    if (how === 'stalled') seen.stalls++;
    return how;
  });
  return {
    turns,
    seen,
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

describe.each(ENGINES)('a lease on $name', ({ fresh }) => {
  test('goes to a standby when the holder makes no progress, and stays there while the standby does', async () => {
    const live = liveChain(30);
    const url = await fresh();
    const stores = [await openStore(url), await openStore(url)] as const;
    const atTip = () =>
      eventually('followed', async () => (await stores[0].chain(1))?.head?.hash === live.chain.at(-1)?.hash);
    const bad = candidate(stores[0], 'bad', DEAD);
    await eventually('held', async () => bad.turns.length > 0);
    const good = candidate(stores[1], 'good', live.url);
    await atTip();
    // It asked for the lease again after its pause.
    await eventually('the first stands by', async () => bad.turns.length > 1);
    const { epoch } = (await stores[0].chain(1)) ?? {};
    live.grow(3);
    await atTip();
    expect([bad.turns, bad.seen.progress]).toEqual([[true, false], 0]);
    expect([good.turns.at(-1), good.seen.stalls]).toEqual([true, 0]);
    expect((await stores[0].chain(1))?.epoch).toBe(epoch as number);
    expect(await stores[0].lease(1, 'another', 1000)).toBe('good');

    // The one that did better ends: the first has its turn again.
    await good.stop();
    await eventually('a turn again', async () => bad.turns.at(-1) === true);
    await bad.stop();
    for (const store of stores) await store.close();
    await live.stop();
  });

  test('stays with a single process, which follows as soon as its node responds', async () => {
    const live = liveChain(30);
    const store = await openStore(await fresh());
    live.node.fault = () => new Response('away', { status: 503 });
    const alone = candidate(store, 'alone', live.url);
    await eventually('stalled', async () => alone.seen.stalls > 0);
    live.node.fault = null;
    await eventually('followed', async () => (await store.chain(1))?.head?.hash === live.chain.at(-1)?.hash);
    // It is not told as a change: nobody else followed meanwhile.
    expect(alone.turns).toEqual([true]);
    await alone.stop();
    await store.close();
    await live.stop();
  });

  test('of a process of this machine that has ended is taken at once, and one of another machine is not', async () => {
    const store = await openStore(await fresh());
    const stopping = new AbortController();
    const ended: Promise<void>[] = [];
    const isTaken = (chainId: number) =>
      new Promise<boolean>((onChange) => {
        const options = { store, chainId, signal: stopping.signal, onChange, onError: () => {} };
        ended.push(holdLease(options, (signal) => sleep(600_000, signal).then(() => 'stopped')));
      });
    expect(await isTaken(1)).toBe(true);
    const [place] = (await store.lease(1, 'nobody', 1)).split(' ');
    // No process has this id.
    await store.lease(2, `${place} 99999999`, 600_000);
    expect(await isTaken(2)).toBe(true);
    await store.lease(3, 'elsewhere 99999999', 600_000);
    expect(await isTaken(3)).toBe(false);
    await store.lease(4, `${place} ${process.pid}`, 600_000);
    expect(await isTaken(4)).toBe(false);
    stopping.abort();
    await Promise.all(ended);
    await store.close();
  });

  test('stays with a holder whose chain makes no blocks while its node responds', async () => {
    const live = liveChain(30);
    const store = await openStore(await fresh());
    const quiet = candidate(store, 'quiet', live.url);
    await eventually('many ticks', async () => quiet.seen.progress > 20);
    expect([quiet.turns, quiet.seen.stalls]).toEqual([[true], 0]);
    await quiet.stop();
    await store.close();
    await live.stop();
  });
});
