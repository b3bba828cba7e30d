// Runs the whole program on fake nodes: its answers, its status, and the failures it survives.

import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { archiveLines, importArchive } from '../src/store/archive.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { Refusal, startFakeNode } from './support/fake-node.ts';
import { caughtUp, type LiveChain, liveChain, SECRET, settingsOf } from './support/live-chain.ts';
import { postgresDatabase } from './support/postgres-database.ts';
import { createRandom } from './support/random.ts';
import { type LogLine, PROGRAM, runCommand, startServe } from './support/serve-process.ts';
import { stored } from './support/stored.ts';
import { WALLETS } from './support/wallets.ts';
import { FIRST } from './support/world.ts';

/** Starts `delegations follow` as a process. */
function startFollow(databaseUrl: string, nodeUrl: string) {
  const child = Bun.spawn([...PROGRAM, 'follow'], {
    env: { ...process.env, DATABASE_URL: databaseUrl, ...settingsOf(nodeUrl) },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const logged = {
    text: '',
    async stop() {
      child.kill('SIGTERM');
      await reading;
      await child.exited;
    },
  };
  const reading = (async () => {
    for await (const chunk of child.stdout) logged.text += new TextDecoder().decode(chunk);
  })();
  return logged;
}

/** Whether no process holds the write lock of the database. */
function isWritable(path: string): boolean {
  const database = new Database(path);
  try {
    database.run('PRAGMA busy_timeout = 100');
    database.run('BEGIN IMMEDIATE');
    database.run('ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    database.close();
  }
}

/** The store is at the chain's head, not halted, and has no unsettled revocation. */
async function isFollowed(store: Store, { chain }: LiveChain): Promise<boolean> {
  const state = await store.chain(1);
  const isAtTip = state?.halt === null && state.head?.hash === chain.at(-1)?.hash;
  return isAtTip && (await store.unsettledVaults(1, null, 1)).length === 0;
}

/** The window was verified at least once: only then is there anything to export or to rewind. */
const untilVerified = (store: Store) =>
  eventually('verified', async () => ((await store.chain(1))?.verified ?? 0) > FIRST + 20);

/** The program has polled the chain's head several times. */
async function someTicks({ node }: LiveChain): Promise<void> {
  const asked = () => [...node.calls.values()].reduce((sum, calls) => sum + calls, 0);
  const before = asked();
  await eventually('ticks', async () => asked() > before + 40);
}

/** The store has the delegations of the chain's model at its head. */
async function expectRight(url: string, live: LiveChain): Promise<void> {
  const { held, hash } = await stored(url);
  expect(live.modelAt(hash ?? '')).not.toBeNull();
  expect(held).toEqual(live.held(hash ?? ''));
}

/** Runs the work next to `delegations follow`, which must reach the chain's head with the right delegations afterwards. */
async function besideFollower(url: string, live: LiveChain, work: (store: Store) => Promise<void>): Promise<void> {
  const follower = startFollow(url, live.url);
  const store = await openStore(url);
  try {
    await work(store);
    await eventually('followed', () => isFollowed(store, live));
    await expectRight(url, live);
  } finally {
    await follower.stop();
    await store.close();
    await live.stop();
  }
}

describe('delegations serve, following', () => {
  test('gives the answers of the registry through growth and reorgs, and reports its status', async () => {
    const live = liveChain(300);
    const path = temporaryPath('follow.db');
    const served = await startServe(`sqlite:${path}`, settingsOf(live.url));
    try {
      await caughtUp(served, live);
      for (let turn = 0; turn < 6; turn++) {
        if (turn % 2 === 0) live.grow(3);
        else live.reorg(2, 4);
        await caughtUp(served, live);
        await expectRight(`sqlite:${path}`, live);
      }
      const query = `to=${WALLETS[1]}&from=${WALLETS[0]}`;
      live.grow(1, () => [
        { call: ['v2', WALLETS[0], 'delegateAll', [WALLETS[1], `0x${'0'.repeat(64)}`, true]], direct: true },
      ]);
      await eventually(
        'the grant',
        async () => (await (await fetch(`${served.url}/registry/v2/check/all?${query}`)).text()) === 'true',
      );
      // The follower process reports its status every second.
      const network = await eventually('figures', async () => {
        const [one] = (await (await fetch(`${served.url}/networks`)).json()) as Record<string, unknown>[];
        const isWhole = (one?.['progress'] as { share: number } | null)?.share === 1;
        return isWhole && one?.['chainBlock'] === live.chain.at(-1)?.number ? one : undefined;
      });
      expect(network).toMatchObject({ ready: true, progress: { providers: [{ name: '1/1', healthy: true }] } });
      const metrics = await eventually('metrics', async () => {
        const text = await (await fetch(served.metricsUrl)).text();
        return /^delegations_follower_events_total\{chain="1",type="reorg"\} 3$/m.test(text) && text;
      });
      const calls = 'delegations_rpc_calls_total{chain="1",provider="1/1",method="eth_getLogs",outcome="ok"}';
      expect(metrics).toMatch(new RegExp(`^${RegExp.escape(calls)} [1-9]`, 'm'));
      const [, requests] =
        /^delegations_rpc_request_duration_seconds_count\{chain="1",provider="1\/1"\} (\d+)$/m.exec(metrics) ?? [];
      expect(Number(requests)).toBeGreaterThan(10);
      expect(metrics).toMatch(/^delegations_build_info\{version="\d+\.\d+\.\d+",bun="[\d.]+"\} 1$/m);
      for (const name of ['api', 'follower'])
        for (const measure of ['cpu_seconds_total', 'resident_memory_bytes', 'start_time_seconds', 'open_fds'])
          expect(metrics).toMatch(new RegExp(`^process_${measure}\\{process="${name}"\\} [\\d.]+$`, 'm'));
      expect(metrics).toContain('delegations_provider_healthy{chain="1",provider="1/1"} 1');
    } finally {
      expect(await served.stop()).toBe(0);
      await live.stop();
    }
    const logged: LogLine[] = [];
    for await (const line of served.lines) logged.push(line);
    const caught = logged.filter(({ message }) => message === 'caught up');
    expect(caught).toMatchObject([
      { level: 'info', chainId: 1, block: expect.any(Number), seconds: expect.any(Number) },
    ]);
  });

  test('the cause of each provider failure is in the log, in networks and in the metrics, and so is its recovery', async () => {
    const live = liveChain(60);
    const others = [startFakeNode(live.chain), startFakeNode(live.chain)] as const;
    others[0].fault = () => new Response(`key ${SECRET} is not valid`, { status: 401 });
    others[1].fault = () => {
      throw new Refusal(-32_005, 'daily request count exceeded');
    };
    const urls = [live.url, ...others.map(({ url }) => `${url}/${SECRET}`)].join(',');
    const served = await startServe(`sqlite:${temporaryPath('causes.db')}`, settingsOf(urls));
    const logged: LogLine[] = [];
    try {
      await caughtUp(served, live);
      const providers = async () => {
        const [one] = (await (await fetch(`${served.url}/networks`)).json()) as { progress: { providers: unknown } }[];
        return JSON.stringify(one?.progress.providers);
      };
      const unhealthy = JSON.stringify([
        { name: '1/1', healthy: true, cause: null },
        { name: '1/2', healthy: false, cause: 'http-401' },
        { name: '1/3', healthy: false, cause: 'rate-limited' },
      ]);
      await eventually('causes', async () => (await providers()) === unhealthy);
      const { stdout } = await runCommand(['networks', '--url', served.url]);
      expect(stdout).toContain('provider 1/2 unhealthy: http-401; provider 1/3 unhealthy: rate-limited');
      expect(await (await fetch(`${served.url}/status`)).text()).toContain('1/2 unhealthy: http-401');
      const metrics = await (await fetch(served.metricsUrl)).text();
      expect(metrics).toMatch(
        /^delegations_provider_failures_total\{chain="1",provider="1\/2",cause="http-401"\} \d+$/m,
      );
      expect(metrics).toContain('delegations_provider_healthy{chain="1",provider="1/3"} 0');
      for (const node of others) node.fault = null;
      await eventually('recovered', async () => !(await providers()).includes('false'));
    } finally {
      expect(await served.stop()).toBe(0);
      for (const node of others) await node.stop();
      await live.stop();
    }
    for await (const line of served.lines) logged.push(line);
    const of = (provider: string, message: string) =>
      logged.filter((line) => line['provider'] === provider && line['message'] === message);
    expect(of('1/2', 'provider unhealthy')).toMatchObject([
      { chainId: 1, cause: 'http-401', httpStatus: 401, error: 'HTTP 401: key … is not valid' },
    ]);
    expect(of('1/3', 'provider unhealthy')).toMatchObject([
      { cause: 'rate-limited', rpcCode: -32_005, error: 'eth_chainId: daily request count exceeded' },
    ]);
    for (const provider of ['1/2', '1/3'])
      expect(of(provider, 'provider recovered')).toMatchObject([{ chainId: 1, unhealthySeconds: expect.any(Number) }]);
    expect(JSON.stringify(logged)).not.toContain(SECRET);
  });

  test('one chain unreachable, one hung, one with another id: the others continue, and each reports why', async () => {
    const live = liveChain(60);
    const [hung, wrong] = [startFakeNode(live.chain), startFakeNode(live.chain)];
    hung.fault = () => new Promise(() => {});
    const served = await startServe(`sqlite:${temporaryPath('dead.db')}`, {
      ...settingsOf(live.url),
      RPC_URL_10: `http://127.0.0.1:9/${SECRET}`,
      START_BLOCK_10: '1',
      RPC_URL_137: `${hung.url}/${SECRET}`,
      START_BLOCK_137: '1',
      RPC_URL_8453: `${wrong.url}/${SECRET}`,
      START_BLOCK_8453: '1',
    });
    const logged: string[] = [];
    try {
      await caughtUp(served, live);
      const ask = async (chainId: number) => {
        const query = `to=${WALLETS[1]}&from=${WALLETS[0]}&chainId=${chainId}`;
        const response = await fetch(`${served.url}/registry/v2/check/all?${query}`);
        const text = await response.text();
        logged.push(text);
        return { status: response.status, text };
      };
      const refused = (chainId: number, why: string) =>
        eventually(`chain ${chainId} says ${why}`, async () => {
          const { status, text } = await ask(chainId);
          return status === 503 && text.includes(why);
        });
      await refused(10, '10/1 connection-refused');
      await refused(8453, '8453/1 wrong-chain');
      await refused(137, '137/1 timeout');
      for (let turn = 0; turn < 5; turn++) {
        live.grow(1);
        await caughtUp(served, live);
        expect((await ask(1)).status).toBe(200);
      }
      logged.push(await (await fetch(served.metricsUrl)).text(), await (await fetch(`${served.url}/networks`)).text());
    } finally {
      await served.stop();
      for (const node of [hung, wrong]) await node.stop();
      await live.stop();
    }
    for await (const line of served.lines) logged.push(JSON.stringify(line));
    expect(logged.length).toBeGreaterThan(10);
    // A provider's URL is a secret: it must not be in any response, metric or log line.
    const secret = new RegExp(`${SECRET}|:${live.node.port}\\b`);
    expect(logged.filter((text) => secret.test(text))).toEqual([]);
  });

  test('kill -9 at any moment loses nothing: the store is always right at its own head, and catches up in the end', async () => {
    const kills = 16;
    const live = liveChain(400, 3);
    const path = temporaryPath('killed.db');
    const random = createRandom(5);
    let beforeTip = 0;
    let patienceMs = 600;
    for (let turn = 0; turn < kills || beforeTip === 0; turn++) {
      const child = Bun.spawn([...PROGRAM, 'follow'], {
        env: { ...process.env, DATABASE_URL: `sqlite:${path}`, ...settingsOf(live.url), POLL_INTERVAL_1: '100' },
        stdout: 'pipe',
        stderr: 'ignore',
      });
      // During the backfill at first, and at the head later.
      await child.stdout.getReader().read();
      await Bun.sleep(random() * patienceMs);
      if (turn % 3 === 0) live.reorg(1 + Math.floor(random() * 5), 6);
      else live.grow(2);
      await Bun.sleep(random() * 150);
      child.kill('SIGKILL');
      await child.exited;
      const found = await stored(`sqlite:${path}`, 0).catch(() => ({ hash: undefined, held: [] }));
      // Nothing was stored yet, or the revocations of the head were not read: a busy machine needs more time.
      if (found.hash === undefined) {
        patienceMs *= 1.5;
        continue;
      }
      if (found.hash !== live.chain.at(-1)?.hash) beforeTip++;
      expect(found.held).toEqual(live.held(found.hash));
    }
    const served = await startServe(`sqlite:${path}`, settingsOf(live.url));
    await caughtUp(served, live);
    await expectRight(`sqlite:${path}`, live);
    await served.stop();
    console.log(`${kills} kills, ${beforeTip} of them before the follower had caught up: 0 wrong`);
    await live.stop();
  });

  test('a clock that is an hour slow is reported, and queries at the head are not answered', async () => {
    const live = liveChain(120);
    const served = await startServe(`sqlite:${temporaryPath('slow.db')}`, {
      ...settingsOf(live.url),
      BUN_OPTIONS: `--preload ${import.meta.dir}/support/slow-clock.ts`,
    });
    const ask = async (path: string) => await (await fetch(served.url + path)).json();
    const query = `to=${WALLETS[1]}&from=${WALLETS[0]}`;
    const isClock = (line: LogLine) => line['message'] === 'clock behind the chain';
    const logged: LogLine[] = [];
    try {
      await caughtUp(served, live);
      await eventually('final blocks', async () => {
        const [one] = (await ask('/networks')) as { finalizedBlock: number | null }[];
        return one?.finalizedBlock !== null;
      });
      for (let turn = 0; turn < 10; turn++) {
        expect(await ask(`/registry/v2/check/all?${query}`)).toMatchObject({
          type: '/docs#problem-clock-skew',
          status: 503,
          detail: expect.stringMatching(/clock of the server is 3\d\d\d seconds behind chain 1.*NTP/),
        });
      }
      expect(typeof (await ask(`/registry/v2/check/all?${query}&block=finalized`))).toBe('boolean');
      const [network] = (await ask('/networks')) as Record<string, unknown>[];
      expect(network).toMatchObject({ ready: false });
      expect(network?.['clockBehindSeconds']).toBeGreaterThan(3000);
      expect(await (await fetch(`${served.url}/status`)).text()).toContain('check NTP');
      const metrics = await (await fetch(served.metricsUrl)).text();
      expect(metrics).toMatch(/^delegations_chain_clock_behind_seconds\{chain="1"\} 3\d\d\d/m);
      while (logged.length === 0) logged.push(...[(await served.lines.next()).value as LogLine].filter(isClock));
    } finally {
      await served.stop();
      await live.stop();
    }
    for await (const line of served.lines) if (isClock(line)) logged.push(line);
    expect(logged).toMatchObject([{ level: 'error', chainId: 1 }]);
  });

  test('a follower that is stopped, overtaken and resumed writes nothing', async () => {
    const live = liveChain(50);
    const path = temporaryPath('overtaken.db');
    const environment = { ...process.env, DATABASE_URL: `sqlite:${path}`, ...settingsOf(live.url) };
    const first = Bun.spawn([...PROGRAM, 'follow'], {
      env: environment,
      stdout: 'pipe',
      stderr: 'ignore',
    });
    let logged = '';
    const reading = (async () => {
      for await (const chunk of first.stdout) logged += new TextDecoder().decode(chunk);
    })();
    const tipStored = () =>
      eventually('followed', async () => (await stored(`sqlite:${path}`)).hash === live.chain.at(-1)?.hash);
    await tipStored();
    await eventually('stopped between two transactions', async () => {
      first.kill('SIGSTOP');
      if (isWritable(path)) return true;
      first.kill('SIGCONT');
      return false;
    });
    const second = await startServe(`sqlite:${path}`, settingsOf(live.url));
    live.grow(3);
    await tipStored();
    const store = await openStore(`sqlite:${path}`, { readOnly: true });
    const epoch = (await store.chain(1))?.epoch;
    first.kill('SIGCONT');
    live.grow(2);
    await tipStored();
    // It learns it from the store or from the lease, whichever it reads first.
    await eventually('noticed', async () => /chain written by another process|standing by/.test(logged));
    first.kill('SIGTERM');
    await reading;
    expect((await store.chain(1))?.epoch).toBe(epoch as number);
    await store.close();
    await expectRight(`sqlite:${path}`, live);
    await second.stop();
    await live.stop();
  });

  test('a standby on PostgreSQL takes over when the active follower is killed or frozen, while an API answers', async () => {
    const live = liveChain(60, 21);
    const database = await postgresDatabase();
    const environment = { ...process.env, DATABASE_URL: database, ...settingsOf(live.url) };
    const start = () => {
      const logged = { text: '' };
      const child = Bun.spawn([...PROGRAM, 'follow'], {
        env: environment,
        stdout: 'pipe',
        stderr: 'ignore',
      });
      void (async () => {
        for await (const chunk of child.stdout) logged.text += new TextDecoder().decode(chunk);
      })();
      return { child, standsBy: () => eventually('stands by', async () => logged.text.includes('standing by')) };
    };
    const store = await openStore(database);
    const atTip = () =>
      eventually('followed', async () => (await store.chain(1))?.head?.hash === live.chain.at(-1)?.hash);
    const { child: first } = start();
    await atTip();
    const { child: second, standsBy } = start();
    // An API process needs no node, because it does not follow.
    const answering = await startServe(database, { MAX_LAG_1: '600' }, 'api');
    await standsBy();
    const before = await store.chain(1);
    const replaced = async (what: string, follower: typeof first, signal: 'SIGKILL' | 'SIGSTOP') => {
      follower.kill(signal);
      const at = performance.now();
      live.grow(3);
      await atTip();
      const seconds = (performance.now() - at) / 1000;
      console.log(`a follower that was ${what} was replaced after ${seconds.toFixed(1)} s`);
    };
    await replaced('killed', first, 'SIGKILL');
    expect((await store.chain(1))?.epoch).toBe((before?.epoch ?? 0) + 1);
    // A frozen follower keeps its lease until it expires.
    const { child: third, standsBy: thirdStandsBy } = start();
    await thirdStandsBy();
    await replaced('frozen', second, 'SIGSTOP');
    second.kill('SIGCONT');
    live.reorg(2, 4);
    await atTip();
    const query = `to=${WALLETS[1]}&from=${WALLETS[0]}`;
    const response = await fetch(`${answering.url}/registry/v2/check/all?${query}`);
    expect([response.status, response.headers.get('x-block-hash')]).toEqual([200, live.chain.at(-1)?.hash as string]);
    second.kill('SIGTERM');
    third.kill('SIGTERM');
    expect(await Promise.all([second.exited, third.exited])).toEqual([0, 0]);
    expect(await answering.stop()).toBe(0);
    await store.close();
    await live.stop();
  });

  test('a follower whose node is unreachable hands its chain to a standby, and does not take it back', async () => {
    const live = liveChain(60, 22);
    const database = await postgresDatabase();
    const start = (url: string) => {
      const follower = Bun.spawn([...PROGRAM, 'follow'], {
        env: { ...process.env, DATABASE_URL: database, ...settingsOf(url) },
        stdout: 'pipe',
      });
      const logged = { text: '', ended: Promise.resolve() };
      logged.ended = (async () => {
        for await (const chunk of follower.stdout) logged.text += new TextDecoder().decode(chunk);
      })();
      return { follower, logged };
    };
    const bad = start('http://127.0.0.1:9');
    await eventually('the first follows', async () => bad.logged.text.includes('"message":"lease acquired"'));
    const good = start(live.url);
    await eventually('the second stands by', async () => good.logged.text.includes('standing by'));
    const api = await startServe(database, { MAX_LAG_1: '600' }, 'api');
    try {
      const answered = async () => {
        const response = await fetch(`${api.url}/registry/v2/check/all?to=${WALLETS[1]}&from=${WALLETS[0]}`);
        return response.status === 200 && response.headers.get('x-block-hash') === live.chain.at(-1)?.hash;
      };
      await eventually('handed over, and answered', answered);
      // It requested the lease again while another follower held it.
      await eventually('the first stands by', async () => bad.logged.text.includes('standing by'));
      expect(bad.logged.text).toContain('no successful tick, releasing the lease');
      const store = await openStore(database);
      const epoch = (await store.chain(1))?.epoch;
      for (let turn = 0; turn < 5; turn++) {
        live.grow(1);
        await eventually('answered', answered);
      }
      expect((await store.chain(1))?.epoch).toBe(epoch as number);
      await store.close();
    } finally {
      for (const { follower, logged } of [bad, good]) {
        follower.kill('SIGTERM');
        await logged.ended;
      }
      await api.stop();
      await live.stop();
    }
    expect(bad.logged.text.match(/"message":"lease acquired"/g)).toHaveLength(1);
  });

  test('followers and APIs on one PostgreSQL exchange the status of chains and denied checks', async () => {
    const live = liveChain(40, 5);
    const database = await postgresDatabase();
    const follower = Bun.spawn([...PROGRAM, 'follow'], {
      env: { ...process.env, DATABASE_URL: database, LOG_LEVEL: 'debug', ...settingsOf(live.url) },
      stdout: 'pipe',
    });
    let logged = '';
    const reading = (async () => {
      for await (const chunk of follower.stdout) logged += new TextDecoder().decode(chunk);
    })();
    const api = await startServe(database, { MAX_LAG_1: '600' }, 'api');
    try {
      await caughtUp(api, live);
      const token = `contract=0x${'77'.repeat(20)}&tokenId=${2n ** 200n + 1n}`;
      const path = `/registry/v2/check/erc721?to=${WALLETS[0]}&from=0x${'99'.repeat(20)}&${token}`;
      expect(await (await fetch(api.url + path)).text()).toBe('false');
      await eventually('figures', async () => {
        const [network] = (await (await fetch(`${api.url}/networks`)).json()) as {
          progress: { share: number } | null;
        }[];
        return network?.progress?.share === 1;
      });
      await eventually('denied', async () => logged.includes('"message":"denied"'));
    } finally {
      follower.kill('SIGTERM');
      await reading;
      await api.stop();
      await live.stop();
    }
  });

  test('denied checks reach the audit, large token ids included', async () => {
    const live = liveChain(40);
    const settings = { ...settingsOf(live.url), LOG_LEVEL: 'debug' };
    const served = await startServe(`sqlite:${temporaryPath('denied.db')}`, settings);
    await caughtUp(served, live);
    const tokenId = 2n ** 256n - 1n;
    const query = `from=${WALLETS[0]}&to=0x${'77'.repeat(20)}&contract=0x${'88'.repeat(20)}&tokenId=${tokenId}`;
    const response = await fetch(`${served.url}/registry/v2/check/erc721?${query}`);
    expect(await response.text()).toBe('false');
    for await (const line of served.lines) {
      if (line['message'] !== 'denied') continue;
      expect(line).toMatchObject({ level: 'debug', chainId: 1, questions: 1 });
      break;
    }
    expect(await served.stop()).toBe(0);
    await live.stop();
  });

  test('audit compares an index with its chain, and rewind reads blocks again', async () => {
    const live = liveChain(120);
    const path = temporaryPath('audited.db');
    const environment = { DATABASE_URL: `sqlite:${path}`, ...settingsOf(live.url) };
    const run = (...args: string[]) => runCommand(args, environment);
    const followed = async () => {
      const served = await startServe(`sqlite:${path}`, settingsOf(live.url));
      await caughtUp(served, live);
      // Only final blocks are audited, and they are verified after the head was reached.
      await eventually('verified', async () => {
        const [one] = (await (await fetch(`${served.url}/networks`)).json()) as { finalizedBlock: number | null }[];
        return (one?.finalizedBlock ?? 0) > FIRST + 40;
      });
      // Waits for the revocations of the head, which nobody reads once this process has stopped.
      await stored(`sqlite:${path}`);
      await served.stop();
    };
    await followed();
    const good = await run('audit', '--chain', '1', '--pairs', '500', '--json');
    expect([good.code, good.stderr]).toEqual([0, '']);
    expect(JSON.parse(good.stdout)).toMatchObject({ chainId: 1, missing: 0, surplus: 0, wrong: [] });
    const { pairs, lists } = JSON.parse(good.stdout) as { pairs: number; lists: number };
    expect([pairs > 50, lists > 5]).toEqual([true, true]);

    // The node omits the logs of one indexed block.
    const honest = live.node.chain;
    const emptied = honest.find(({ number, transactions }) => number > FIRST + 30 && transactions.length > 0);
    live.node.chain = honest.map((block) => (block === emptied ? { ...block, transactions: [] } : block));
    const bad = await run('audit', '--chain', '1', '--pairs', '10');
    live.node.chain = honest;
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain(`${emptied?.transactions.length} only in the index`);

    const rewound = await run('rewind', '--chain', '1', '--to', String(FIRST + 50));
    expect([rewound.code, rewound.stderr]).toEqual([0, '']);
    const before = await stored(`sqlite:${path}`);
    expect(before.held).toEqual(live.held(before.hash ?? ''));
    await followed();
    const after = await stored(`sqlite:${path}`);
    expect(after.hash).toBe(live.chain.at(-1)?.hash as string);
    expect(after.held).toEqual(live.held(after.hash ?? ''));

    for (const [args, why] of [
      [['audit'], '--chain is missing'],
      [['audit', '--chain', '5'], 'not a supported network'],
      [['audit', '--chain', '10'], 'RPC_URL_10 is missing'],
      [['rewind', '--chain', '1'], '--to is missing'],
      [['rewind', '--chain', '1', '--to', '99999999'], 'Nothing to roll back'],
      [['audit', '--nonsense'], 'nonsense'],
    ] as const) {
      const { code, stderr } = await run(...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    }
    await live.stop();
  });

  for (const [why, halts] of [
    [
      'a finalized block changed',
      // A reorg below the finalized block: only time or an operator can resolve it.
      async (live: LiveChain, store: Store) => {
        live.reorg(110, 115);
        await eventually('halted', async () => (await store.chain(1))?.halt?.code === 'finality-violation');
      },
    ],
    [
      'the index has an extra log',
      async (_: LiveChain, store: Store) => {
        const { epoch = 0 } = (await store.chain(1)) ?? {};
        await store.report(1, epoch, { halt: { code: 'registry-mismatch', since: 1, block: FIRST + 15 } });
      },
    ],
  ] as const) {
    test(`a halted follower resumes by itself after rewind: ${why}`, async () => {
      const live = liveChain(120, 21);
      const url = `sqlite:${temporaryPath('woken.db')}`;
      await besideFollower(url, live, async (store) => {
        await untilVerified(store);
        await halts(live, store);
        await someTicks(live);
        live.grow(3);
        const rewound = await runCommand(['rewind', '--chain', '1', '--to', String(FIRST + 9)], { DATABASE_URL: url });
        expect([rewound.code, rewound.stderr]).toEqual([0, '']);
      });
    });
  }

  test('an import continues next to a running follower, which waits for it', async () => {
    const live = liveChain(150, 22);
    const [from, to] = [`sqlite:${temporaryPath('export.db')}`, `sqlite:${temporaryPath('import.db')}`];
    const first = await openStore(from);
    const exporting = startFollow(from, live.url);
    await untilVerified(first);
    await exporting.stop();
    const lines: string[] = [];
    for (const archive = archiveLines(first, 1); ; ) {
      const { value, done } = await archive.next();
      if (done) break;
      lines.push(value.trimEnd());
    }
    await first.close();
    const checked = { head: JSON.parse(lines[0] ?? ''), end: JSON.parse(lines.at(-1) ?? '') };
    const half = lines.length >> 1;
    async function* linesWith(midway: () => Promise<unknown>) {
      yield* lines.slice(0, half);
      await midway();
      yield* lines.slice(half);
    }
    const broken = await openStore(to);
    const cut = linesWith(() => Promise.reject(new Error('the power failed')));
    await expect(importArchive(broken, checked, cut)).rejects.toThrow('the power failed');
    await broken.close();
    await besideFollower(to, live, async (store) => {
      await someTicks(live);
      expect((await store.chain(1))?.halt?.code).toBe('import-unfinished');
      await importArchive(
        store,
        checked,
        linesWith(() => someTicks(live)),
      );
    });
  });

  test('an index moves to another store and is followed there; an incomplete file is rejected', async () => {
    const live = liveChain(150, 11);
    const [path, other] = [temporaryPath('exported.db'), temporaryPath('imported.db')];
    const file = temporaryPath('index.ndjson');
    const run = (database: string, ...args: string[]) =>
      runCommand(args, { DATABASE_URL: `sqlite:${database}`, ...settingsOf(live.url) });
    const served = await startServe(`sqlite:${path}`, settingsOf(live.url));
    await caughtUp(served, live);
    const source = await openStore(`sqlite:${path}`);
    await untilVerified(source);
    await source.close();
    await expectRight(`sqlite:${path}`, live);
    await served.stop();
    const exported = await run(path, 'export', '--chain', '1');
    expect([exported.code, exported.stderr]).toEqual([0, expect.stringContaining('Exported')]);
    const lines = exported.stdout.trimEnd().split('\n');

    for (const [text, why] of [
      [lines.slice(0, -1).join('\n'), 'incomplete'],
      [exported.stdout.replace('"granted"', '"ended"'), 'checksum'],
      ['hello\n', 'not an archive'],
      ['{"format":"other"}\n', 'not an archive'],
    ] as const) {
      await Bun.write(file, text);
      const refused = await run(other, 'import', file);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(why)]);
    }
    await Bun.write(file, exported.stdout);
    // Rejected too if the node has other block hashes.
    const honest = live.node.chain;
    live.node.chain = honest.map((block) => ({
      ...block,
      hash: `0x${'9'.repeat(56)}${block.hash.slice(-8)}` as const,
    }));
    expect((await run(other, 'import', file)).stderr).toContain('has another hash on chain');
    live.node.chain = honest;

    // A pipe can be read only once, and import reads its file twice.
    const piped = Bun.spawnSync(['bash', '-c', `${PROGRAM.join(' ')} import <(cat ${file})`], {
      env: { ...process.env, DATABASE_URL: `sqlite:${other}` },
    });
    expect([piped.exitCode, piped.stderr.toString()]).toEqual([2, expect.stringContaining('is not a regular file')]);

    // After an interrupted import the store does not answer; running the import again completes it.
    const broken = await openStore(`sqlite:${other}`);
    const [first = '', ...rest] = lines;
    const checked = { head: JSON.parse(first), end: JSON.parse(lines.at(-1) ?? '') };
    async function* half() {
      yield first;
      for (const line of rest.slice(0, Math.floor(rest.length / 2))) yield line;
    }
    await expect(importArchive(broken, checked, half())).rejects.toThrow('changed while it was imported');
    expect((await broken.chain(1))?.halt?.code).toBe('import-unfinished');
    await broken.close();

    const imported = await run(other, 'import', file);
    expect([imported.stderr, imported.code]).toEqual(['', 0]);
    await expectRight(`sqlite:${other}`, live);
    expect((await run(other, 'import', file)).stderr).toContain('already in this store');
    const again = await run(other, 'export', '--chain', '1');
    expect(again.stdout).toBe(exported.stdout);

    const { last } = JSON.parse(first);
    const asked: number[] = [];
    live.node.fault = ({ method, params }, honest) => {
      if (method === 'eth_getLogs') asked.push(Number(params[0].fromBlock));
      return honest();
    };
    live.grow(5);
    const goesOn = await startServe(`sqlite:${other}`, settingsOf(live.url));
    await caughtUp(goesOn, live);
    await expectRight(`sqlite:${other}`, live);
    await goesOn.stop();
    // It goes on after the imported blocks. The audit, which reads them again, needs few calls.
    expect(asked).toContain(last.number + 1);
    expect(asked.length).toBeLessThan(20);
    await live.stop();
  });
});
