// A log that cannot be written never ends or blocks the service: lines are dropped and counted.

import { afterEach, describe, expect, test } from 'bun:test';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { PROGRAM } from './support/serve-process.ts';

const children = new Set<Bun.Subprocess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** More than the queue holds: a line has about 150 bytes. */
const REQUESTS = 12_000;

interface Started {
  readonly child: Bun.Subprocess;
  readonly url: string;
  dropped(): Promise<number>;
}

function freePort(): number {
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const { port = 0 } = probe;
  void probe.stop(true);
  return port;
}

/** Starts the service with standard output at a file descriptor. Its log is not read here, so the ports are chosen. */
async function start(stdout: number, ...more: string[]): Promise<Started> {
  const [port, metricsPort] = [freePort(), freePort()];
  const child = Bun.spawn([...PROGRAM, 'serve', ...more], {
    env: {
      ...process.env,
      DATABASE_URL: `sqlite:${temporaryPath('log.db')}`,
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      ANONYMOUS_LIMIT: 'off',
    },
    stdout,
    stderr: 'inherit',
  });
  children.add(child);
  void child.exited.then(() => children.delete(child));
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(`${url}/health`).catch(() => null))?.status === 200;
  while (child.exitCode === null && !(await isUp())) await Bun.sleep(20);
  const dropped = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(/^delegations_log_dropped_lines_total (\d+)$/m.exec(text)?.[1]);
  };
  return { child, url, dropped };
}

/** Requests that are logged; returns their number by status. */
async function sendMany(url: string): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  let left = REQUESTS;
  const lane = async () => {
    while (left-- > 0) {
      const { status } = await fetch(`${url}/registry/v2/check/all`);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 32 }, lane));
  return statuses;
}

/** What is in the pipe now. */
function read(pipe: number): string {
  const buffer = Buffer.alloc(65_536);
  try {
    return buffer.toString('utf8', 0, readSync(pipe, buffer));
  } catch (error) {
    expect((error as { code?: string }).code).toBe('EAGAIN');
    return '';
  }
}

const ALL_ANSWERED = { 400: REQUESTS };

describe('a log that cannot be written', () => {
  test('on a full disk: all requests are answered, lines are dropped and counted, and the exit code is 0', async () => {
    const full = openSync('/dev/full', 'w');
    const { child, url, dropped } = await start(full);
    expect(await sendMany(url)).toEqual(ALL_ANSWERED);
    expect(await dropped()).toBeGreaterThan(0);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    closeSync(full);
  });

  for (const workers of [[], ['--workers', '2']]) {
    test(`to a pipe that nobody reads${workers.length > 0 ? ', with workers' : ''}: once it is read, the log says how many lines are missing`, async () => {
      const path = temporaryPath('pipe');
      Bun.spawnSync(['mkfifo', path]);
      // Open for reading and writing: the pipe never ends.
      const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      const { child, url, dropped } = await start(pipe, ...workers);
      expect(await sendMany(url)).toEqual(ALL_ANSWERED);
      await eventually('lines are dropped', async () => (await dropped()) > 0);

      let [text, requests, reported] = ['', 0, 0];
      // Every request is in the log or counted as dropped.
      while (requests + reported < REQUESTS) {
        const lines = (text + read(pipe)).split('\n');
        text = lines.pop() ?? '';
        for (const line of lines.map((one) => JSON.parse(one) as { message: string; lines: number })) {
          if (line.message === 'request') requests++;
          if (line.message === 'log lines dropped') reported += line.lines;
        }
        await Bun.sleep(1);
      }
      expect(reported).toBeGreaterThan(0);
      await eventually('drops are reported', async () => (await dropped()) === reported);
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
      closeSync(pipe);
    });
  }

  test('to a pipe that nobody reads: the service still stops', async () => {
    const path = temporaryPath('unread');
    Bun.spawnSync(['mkfifo', path]);
    const pipe = openSync(path, 'r+');
    const { child, url } = await start(pipe);
    expect(await sendMany(url)).toEqual(ALL_ANSWERED);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    closeSync(pipe);
  });
});
