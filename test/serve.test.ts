// Runs delegations serve as a real process on real sockets.

import { describe, expect, test } from 'bun:test';
import { freePort } from '../src/sandbox/free-port.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, granted, HOT } from './support/fixtures.ts';
import { fatalIn, type LogLine, PROGRAM, runCommand, type ServeProcess, startServe } from './support/serve-process.ts';

const next = async ({ lines }: ServeProcess) => (await lines.next()).value as LogLine;

describe('delegations serve', () => {
  test('answers from the store, counts and logs each request without its query, and shuts down cleanly', async () => {
    const path = temporaryPath('serve.db');
    const store = await openStore(`sqlite:${path}`);
    const { epoch } = await store.claim(1, 100);
    const timestamp = Math.floor(Date.now() / 1000);
    const head = { ...block(101, [granted('ALL')]), timestamp };
    await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
    await store.close();

    const served = await startServe(`sqlite:${path}`);
    try {
      expect(served.listening).toMatchObject({ message: 'listening', chainIds: [1] });
      const response = await fetch(`${served.url}/registry/v2/check/all?to=${HOT}&from=${COLD}`, {
        headers: { cookie: 'secret' },
      });
      expect([response.status, await response.text()]).toEqual([200, 'true']);
      const [warning, start, request] = [await next(served), await next(served), await next(served)];
      expect([warning['message'], start['message']]).toEqual(['configuration', 'starting']);
      expect(request).toMatchObject({
        message: 'request',
        route: '/registry/v2/check/all',
        status: 200,
        method: 'GET',
      });
      expect(JSON.stringify(request)).not.toMatch(/secret|0x/);
      const metrics = await (await fetch(served.metricsUrl)).text();
      expect(metrics).toContain('delegations_requests_total{route="/registry/v2/check/all",status="200"} 1');
      expect(metrics).toContain('delegations_chain_head{chain="1"} 101');
      expect(metrics).toMatch(/^delegations_store_bytes [1-9]\d{4,}$/m);
    } finally {
      expect(await served.stop()).toBe(0);
    }
    const rest = [];
    for await (const line of served.lines) rest.push(line['message']);
    expect(rest).toEqual(['stopping', 'stopped']);
  });

  test('serves a chain that is added to the store while it runs', async () => {
    const path = temporaryPath('later.db');
    const store = await openStore(`sqlite:${path}`);
    const served = await startServe(`sqlite:${path}`);
    try {
      const ask = async () => (await fetch(`${served.url}/registry/v2/check/all?to=${HOT}&from=${COLD}`)).status;
      expect(await ask()).toBe(400);
      const { epoch } = await store.claim(1, 100);
      const head = { ...block(101), timestamp: Math.floor(Date.now() / 1000) };
      await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
      let status = 0;
      for (let left = 100; left > 0 && status !== 200; left--) {
        await Bun.sleep(100);
        status = await ask();
      }
      expect(status).toBe(200);
    } finally {
      await served.stop();
      await store.close();
    }
  });

  test('rejects an invalid configuration and lists every error', async () => {
    const { stdout, code } = await runCommand(['serve'], { PORT: 'http', LOG_LEVEL: 'loud' });
    expect(code).toBe(2);
    expect(fatalIn(stdout)).toContain('PORT must be an integer');
    expect(fatalIn(stdout)).toContain('LOG_LEVEL must be one of');
  });

  for (const which of ['PORT', 'METRICS_PORT']) {
    test(`exits with a message when ${which} is in use`, async () => {
      const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
      const { port } = taken;
      const environment = {
        DATABASE_URL: `sqlite:${temporaryPath('port.db')}`,
        HOST: '127.0.0.1',
        PORT: '0',
        METRICS_PORT: '0',
        [which]: String(port),
      };
      const { stdout, stderr, code } = await runCommand(['serve'], environment);
      await taken.stop(true);
      expect(stderr).toBe('');
      expect([fatalIn(stdout), code]).toEqual([
        `${which}=${port}: the port is already in use on 127.0.0.1. Set ${which} to another one.`,
        2,
      ]);
    });
  }

  for (const name of ['HOST', 'METRICS_HOST']) {
    test(`exits with a message when this machine does not have ${name}`, async () => {
      for (const args of [['serve'], ['serve', '--workers', '2']]) {
        const environment = {
          DATABASE_URL: `sqlite:${temporaryPath('host.db')}`,
          HOST: '127.0.0.1',
          PORT: '0',
          METRICS_PORT: '0',
          [name]: '192.0.2.1',
        };
        const { stdout, code } = await runCommand(args, environment);
        expect([fatalIn(stdout), code]).toEqual([
          `${name}=192.0.2.1: this machine does not have that address. Example: ${name}=0.0.0.0`,
          2,
        ]);
      }
    });
  }

  test('a database that cannot be reached is named, with the error of the system', async () => {
    const DATABASE_URL = `postgres://user:secret@127.0.0.1:${freePort()}/x`;
    const { stdout, code } = await runCommand(['serve'], { DATABASE_URL, PORT: '0', METRICS_PORT: '0' });
    expect([code, fatalIn(stdout)]).toEqual([
      2,
      `Cannot connect to PostgreSQL at ${new URL(DATABASE_URL).host}: ECONNREFUSED. Failed to connect.`,
    ]);
    expect(stdout).not.toContain('secret');
  });

  test('what ends a service is not the closed pipe of its log', async () => {
    const command = `${PROGRAM.map((one) => JSON.stringify(one)).join(' ')} serve | true; exit \${PIPESTATUS[0]}`;
    const environment = { PATH: process.env['PATH'] ?? '', DATABASE_URL: 'postgres://x@127.0.0.1:1/x', PORT: '0' };
    const child = Bun.spawn(['bash', '-c', command], { env: environment, stdout: 'ignore', stderr: 'pipe' });
    expect([await child.exited, await child.stderr.text()]).toEqual([2, '']);
  });

  test('two services never share a port', async () => {
    const served = await startServe(`sqlite:${temporaryPath('first.db')}`);
    const port = new URL(served.url).port;
    const second = await runCommand(['serve'], {
      DATABASE_URL: `sqlite:${temporaryPath('second.db')}`,
      HOST: '127.0.0.1',
      PORT: port,
      METRICS_PORT: '0',
    });
    expect([second.code, fatalIn(second.stdout)]).toEqual([
      2,
      `PORT=${port}: the port is already in use on 127.0.0.1. Set PORT to another one.`,
    ]);
    await served.stop();
  });

  test('prints help', async () => {
    const { stdout, code } = await runCommand(['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('delegations config --help');
    expect((await runCommand(['config', '--help'])).stdout).toContain('DATABASE_URL');
    expect((await runCommand(['serve', '--help'])).stdout).toContain('Usage: delegations serve');
    const unknown = await runCommand(['surve']);
    expect([unknown.code, unknown.stderr.split('\n')[0]]).toEqual([
      2,
      'Unknown command: surve. Did you mean serve? See delegations --help.',
    ]);
  });
});
