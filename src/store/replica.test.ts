// Reads from a streaming replica: the whole program over a real primary and its replica, while the replica falls behind.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newChain } from '../../test/support/chain.ts';
import { eventually } from '../../test/support/eventually.ts';
import { block, COLD, ended, granted } from '../../test/support/fixtures.ts';
import { caughtUp, liveChain, settingsOf } from '../../test/support/live-chain.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { createProber } from '../../test/support/prober.ts';
import { metric, PROGRAM, startServe } from '../../test/support/serve-process.ts';
import { openStore } from './open.ts';
import { withReplica } from './replica.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describe('DATABASE_REPLICA_URL', () => {
  test('a replica that lags is passed by: every answer is right as of the block it names, and none is old', async () => {
    const live = liveChain(400, 31);
    const database = await server.createDatabase();
    const replica = await server.startReplica();
    const environment = { ...process.env, DATABASE_URL: database, ...settingsOf(live.url) };
    const follower = Bun.spawn([...PROGRAM, 'follow'], { env: environment, stdout: 'ignore' });
    const settings = { DATABASE_REPLICA_URL: replica.urlOf(database), MAX_LAG_1: '600' };
    const api = await startServe(database, settings, 'api');
    const primary = await openStore(database, { readOnly: true });
    const isFresh = async () => (await metric(api, 'delegations_replica_fresh')) === 1;
    const passed = () => metric(api, 'delegations_replica_fallback_total');
    try {
      await caughtUp(api, live);
      await eventually('fresh', isFresh);
      const prober = createProber(live, 7);
      const { seen } = prober;
      const askSome = () => Promise.all(Array.from({ length: 8 }, () => prober.ask(api.url)));
      /** Changes the chain, waits until the follower has it, and asks. */
      const moveOn = async (turns: number) => {
        for (let turn = 0; turn < turns; turn++) {
          if (turn % 3 === 2) live.reorg(2, 3);
          else live.grow(1);
          const tip = live.chain.at(-1)?.hash;
          await eventually('followed', async () => (await primary.chain(1))?.head?.hash === tip);
          await askSome();
        }
      };
      // On a busy machine the replica may be late in some of these rounds.
      let rounds = 0;
      await eventually('answered by the replica alone', async () => {
        const before = await passed();
        await askSome();
        if ((await passed()) === before) rounds++;
        return rounds === 20;
      });
      const fromReplica = seen.right;

      // The replica stands still, while the chain goes on and is reorganised.
      await replica.setPaused(true);
      await moveOn(6);
      await eventually('passed by', async () => !(await isFresh()));
      seen.farthest = 0;
      await moveOn(12);
      const late = seen.farthest;
      await replica.setPaused(false);
      await moveOn(6);
      await eventually('fresh again', isFresh);
      console.log(
        `${seen.right} answers right as of their block (${fromReplica} before the lag), ` +
          `${JSON.stringify([...seen.refused])} refused, ${seen.gone} lists reorganised, ${seen.wrong.length} wrong; ` +
          `while the replica stood still answers were at most ${late} blocks behind`,
      );
      expect(seen.wrong.slice(0, 3)).toEqual([]);
      expect(seen.right).toBeGreaterThan(200);
      expect(seen.unreachable).toBe(0);
      // Without the primary's answers they would have been ten blocks and more behind.
      expect(late).toBeLessThan(4);
    } finally {
      follower.kill('SIGTERM');
      await follower.exited;
      await api.stop();
      await primary.close();
      await live.stop();
    }
  });

  test('a store that is not a replica is reported, and not read from', async () => {
    const [database, other] = [await server.createDatabase(), await server.createDatabase()];
    const [mine, foreign] = [await startServe(database), await startServe(other)];
    await Promise.all([mine.stop(), foreign.stop()]);
    const api = await startServe(database, { DATABASE_REPLICA_URL: other }, 'api');
    // On a busy machine a timeout may be reported first.
    await eventually('told', async () => {
      for await (const { message, why } of api.lines)
        if (message === 'replica not in use' && String(why).includes('not a replica of this store')) return true;
      return false;
    });
    await api.stop();
  });

  test('a reader of changes that was ahead of the replica is answered by the primary, and has nothing to undo', async () => {
    const database = await server.createDatabase();
    const replica = await server.startReplica();
    const primary = await openStore(database);
    const chain = await newChain(primary);
    await chain.add([block(101, [granted('ALL')])]);
    const compared = await primary.chains();
    // The comparison is always a moment old. Here it stays so.
    const late = { ...primary, chains: async () => compared };
    const replicated = withReplica(late, replica.urlOf(database), {
      log: (_level, event) => void logged.push(event),
      onFallback: () => fallbacks++,
    });
    const logged: string[] = [];
    let fallbacks = 0;
    try {
      await eventually('fresh', async () => replicated.isFresh());
      expect(logged.at(-1)).toBe('replica in use');
      const query = { chainId: chain.chainId, isFinal: false, limit: 10 };
      const first = await replicated.store.changes({ ...query, after: null });
      const grants = { chainId: chain.chainId, wallet: COLD, limit: 10, at: { block: 101, revision: 1 } };
      expect(first.changes).toHaveLength(1);
      expect((await replicated.store.history(grants)).entries).toHaveLength(1);
      expect(fallbacks).toBe(0);
      await replica.setPaused(true);
      await chain.add([block(102, [ended('ALL')])]);
      const { next, changes } = await primary.changes({ ...query, after: first.next });
      expect(changes).toHaveLength(1);
      expect(await replicated.store.changes({ ...query, after: next })).toMatchObject({ undo: null, changes: [] });
      expect(fallbacks).toBe(1);
    } finally {
      await replica.setPaused(false);
      await replicated.stop();
      await primary.close();
    }
  });
});
