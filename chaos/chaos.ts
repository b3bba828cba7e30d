// Kills every part of a running service under load: two API processes, a follower and a standby on a real PostgreSQL and a real
// Redis, following a chain that grows and reorgs. Every answer is compared with the truth at the block that it names.

import { openAccounts } from '../src/accounts/accounts.ts';
import { openStore } from '../src/store/open.ts';
import { eventually } from '../test/support/eventually.ts';
import { liveChain, settingsOf } from '../test/support/live-chain.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { createProber, type Probed } from '../test/support/prober.ts';
import { createRandom } from '../test/support/random.ts';
import { startRedis } from '../test/support/redis.ts';
import { stored } from '../test/support/stored.ts';
import { WALLETS } from '../test/support/wallets.ts';
import { type Role, startRole } from './role.ts';

export interface ChaosOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly print: (line: string) => void;
}

export interface ChaosReport {
  readonly seen: Probed;
  /** Number of times that each disturbance ran. */
  readonly disturbances: ReadonlyMap<string, number>;
  /** The longest time without a right answer, in seconds. */
  readonly longestGap: number;
  /** From the last disturbance until both APIs answered at the chain's head, in seconds. */
  readonly caughtUpAfter: number;
  /** What was missing or wrong after recovery. */
  readonly lost: readonly string[];
  readonly blocks: number;
  readonly reorgs: number;
}

const MAX_LAG_SECONDS = 20;
const ASKERS = 6;
const BLOCK_MS = 1000;

export async function chaos({ seconds, seed, print }: ChaosOptions): Promise<ChaosReport> {
  const random = createRandom(seed);
  const [postgres, redis] = [await startPostgres(), await startRedis()];
  // After what can take long to start: its head must not be older than MAX_LAG_SECONDS.
  const live = liveChain(400, seed);
  const database = await postgres.createDatabase();
  const followed = { ...settingsOf(live.url), DATABASE_URL: database, LOG_LEVEL: 'error' };
  const answering = {
    DATABASE_URL: database,
    REDIS_URL: redis.url,
    MAX_LAG_1: String(MAX_LAG_SECONDS),
    // Never reached; but every request without a key still goes to Redis.
    ANONYMOUS_LIMIT: '10000/1s',
    HOST: '127.0.0.1',
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
  };
  const accounts = await openAccounts(database);
  const key = await accounts.create({ label: 'chaos', now: Math.floor(Date.now() / 1000) });
  await accounts.close();
  const headers = { 'x-api-key': key?.text ?? '' };
  const followers = [await startRole('follow', followed), await startRole('follow', followed)];
  const apis = [await startRole('api', answering), await startRole('api', answering)];
  const prober = createProber(live, seed, { maxAgeSeconds: MAX_LAG_SECONDS + 2 });
  const { seen } = prober;
  const isAtTip = async ({ url }: Role) => {
    const response = await fetch(`${url}/registry/v2/check/all?to=${WALLETS[0]}&from=${WALLETS[1]}`);
    return response.headers.get('x-block-hash') === live.chain.at(-1)?.hash;
  };
  const bothAtTip = async () => (await Promise.all(apis.map(isAtTip))).every(Boolean);
  await eventually('both answer', bothAtTip);

  let [running, reorgs] = [true, 0];
  const chain = (async () => {
    for (let turn = 1; running; turn++) {
      await Bun.sleep(BLOCK_MS);
      if (turn % 5 === 0) {
        live.reorg(1 + Math.floor(random() * 3), 4);
        reorgs++;
      } else live.grow(1);
    }
  })();
  let [lastRight, longestGap, rightBefore] = [performance.now(), 0, 0];
  const askers = Array.from({ length: ASKERS }, async (_, turn) => {
    while (running) {
      await prober.ask((apis[turn % 2] as Role).url, turn % 3 === 0 ? headers : {});
      if (seen.right > rightBefore) {
        longestGap = Math.max(longestGap, performance.now() - lastRight);
        [lastRight, rightBefore] = [performance.now(), seen.right];
      }
      await Bun.sleep(30);
    }
  });

  /** The follower that holds the lease; the lease contains its process id. */
  const active = async () => {
    const sql = new Bun.SQL(database, { max: 1 });
    const [row] = await sql.unsafe('SELECT holder FROM lease');
    await sql.close();
    const pid = Number(String(row?.holder).split(' ')[1]);
    return followers.find((follower) => follower.pid === pid) ?? any(followers);
  };
  const any = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const pause = () => Bun.sleep(500 + random() * 2000);
  const ways: readonly (readonly [string, () => Promise<void>])[] = [
    ['kill -9 of the follower', async () => (await active()).killed(pause)],
    ['kill -9 of an API replica', () => any(apis).killed(pause)],
    [
      'kill -9 of Redis',
      async () => {
        await redis.kill();
        await pause();
        await redis.start();
      },
    ],
    ['crash and restart of PostgreSQL', () => postgres.restart()],
    ['freeze of the follower for 9 s', async () => (await active()).frozen(9000)],
  ];
  const disturbances = new Map<string, number>();
  const end = performance.now() + 1000 * seconds;
  for (let turn = 0; performance.now() < end || turn < ways.length; turn++) {
    // Each disturbance once, then a random one.
    const [name, disturb] = ways[turn] ?? any(ways);
    disturbances.set(name, (disturbances.get(name) ?? 0) + 1);
    print(`${name} (${seen.right} right, ${seen.wrong.length} wrong so far)`);
    await disturb();
    await pause();
  }
  const calm = performance.now();
  await eventually('caught up', bothAtTip);
  const caughtUpAfter = (performance.now() - calm) / 1000;
  running = false;
  await Promise.all([...askers, chain]);

  const lost: string[] = [];
  await eventually('caught up', bothAtTip).catch((error) => void lost.push(String(error)));
  const store = await openStore(database, { readOnly: true });
  const tip = live.chain.at(-1);
  const logs = await store.logs(1, { from: 0, to: tip?.number ?? 0, limit: 1_000_000 });
  const calls = live.chain.flatMap(({ transactions }) => transactions);
  if (logs.length !== calls.length) lost.push(`the store has ${logs.length} logs, the chain ${calls.length}`);
  await store.close();
  const { hash, held } = await stored(database);
  if (hash !== tip?.hash || held.join() !== live.held(hash ?? '').join())
    lost.push('the stored delegations differ from the registry');
  for (const { url } of apis) {
    const { status } = await fetch(`${url}/registry/v2/check/all?to=${WALLETS[0]}&from=${WALLETS[1]}`, { headers });
    if (status !== 200) lost.push(`a request with the API key returned HTTP ${status}`);
  }
  for (const role of [...apis, ...followers]) await role.stop();
  await redis.kill();
  await postgres.stop();
  await live.stop();
  const blocks = live.chain.length;
  return { seen, disturbances, longestGap: longestGap / 1000, caughtUpAfter, lost, blocks, reorgs };
}

export function reportLines(report: ChaosReport): string[] {
  const { seen, disturbances, longestGap, caughtUpAfter, lost, blocks, reorgs } = report;
  const refused = [...seen.refused].map(([type, count]) => `${count} ${type.split('/').at(-1)}`);
  return [
    `${[...disturbances].map(([name, count]) => `${count} × ${name}`).join(', ')}; ${blocks} blocks, ${reorgs} reorgs`,
    `${seen.right} answers right at the block they name, ${seen.wrong.length} wrong`,
    `${seen.gone} lists interrupted by a reorg between two pages; 503: ${refused.join(', ') || 'none'}; ${seen.unreachable} broken connections; longest time without a right answer: ${longestGap.toFixed(1)} s`,
    `caught up ${caughtUpAfter.toFixed(1)} s after the last disturbance; lost: ${lost.join('; ') || 'nothing'}`,
  ];
}
