// What signals do to requests in flight: the first one drains, and only an insistent operator cuts a list off.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { temporaryPath } from './support/engines.ts';
import { COLD, HOT } from './support/fixtures.ts';
import { fillLongList } from './support/long-list.ts';
import { childrenOf, isAlive } from './support/processes.ts';
import { type LogLine, removeServed, type ServeProcess, startServe } from './support/serve-process.ts';

/** More than the buffers between server and reader hold: about 18 MB. */
const COUNT = 60_000;
const CHECK = `/registry/v2/check/all?to=${HOT}&from=${COLD}`;

let url = '';
beforeAll(async () => {
  url = `sqlite:${temporaryPath('drain.db')}`;
  await fillLongList(url, COUNT, 1000);
});
afterAll(removeServed);

/** It drains for longer than a test lasts, unless a test sets another time. */
const start = (more: Record<string, string> = {}, ...command: string[]) =>
  startServe(url, { MAX_LAG_1: '86400', DRAIN_TIMEOUT: '600', ...more }, ...command);

/** Asks for the whole list and stops reading after the first bytes. `finish` reads the rest. */
async function startList(from: string) {
  const { hostname, port } = new URL(from);
  const socket = connect(Number(port), hostname);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  let tail = '';
  let ids = 0;
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      const text = tail + chunk.toString('latin1');
      tail = text.slice(-10);
      ids += text.split('"tokenId"').length - 1 - (tail.split('"tokenId"').length - 1);
      socket.pause();
      resolve();
    });
    socket.write(`GET /registry/v2/${HOT}?detail=full HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  });
  return {
    async finish() {
      socket.on('data', () => socket.resume());
      socket.resume();
      await closed;
      return { ids, isWhole: tail.endsWith('0\r\n\r\n') };
    },
  };
}

async function waitFor({ lines }: ServeProcess, message: string): Promise<LogLine> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`The log ended without "${message}"`);
    if (value['message'] === message) return value;
  }
}

/** One that its parent has stopped meanwhile is not there any more. */
function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}

describe('a stop signal while a list is sent', () => {
  for (const [what, workers] of [
    ['one process', []],
    ['workers', ['serve', '--workers', '2']],
  ] as const) {
    test(`${what}: Ctrl-C through npm signals twice, and the list is sent whole`, async () => {
      const served = await start({}, ...workers);
      const list = await startList(served.url);
      const group = [served.pid, ...(await childrenOf(served.pid))];
      for (const pid of group) interrupt(pid);
      await waitFor(served, 'stopping');
      process.kill(served.pid, 'SIGINT');
      await waitFor(served, 'already stopping');
      expect(await list.finish()).toEqual({ ids: COUNT, isWhole: true });
      expect(await served.exited).toBe(0);
    });

    test(`${what}: the third signal cuts it off`, async () => {
      const served = await start({}, ...workers);
      const list = await startList(served.url);
      const workerPids = await childrenOf(served.pid);
      for (const message of ['stopping', 'already stopping', 'stopping at once']) {
        process.kill(served.pid, 'SIGTERM');
        await waitFor(served, message);
      }
      expect(await served.exited).toBe(143);
      expect((await list.finish()).isWhole).toBe(false);
      // They exit at once: their own drain would not end.
      while (workerPids.some(isAlive)) await Bun.sleep(20);
    });
  }

  test('SIGHUP drains too', async () => {
    const served = await start();
    const list = await startList(served.url);
    process.kill(served.pid, 'SIGHUP');
    expect(await waitFor(served, 'stopping')).toMatchObject({ reason: 'SIGHUP' });
    expect(await list.finish()).toEqual({ ids: COUNT, isWhole: true });
    expect(await served.exited).toBe(0);
  });

  test('DRAIN_TIMEOUT ends a list whose reader has stalled', async () => {
    const [patient, served] = [await start(), await start({ DRAIN_TIMEOUT: '1' })];
    const [waiting, list] = [await startList(patient.url), await startList(served.url)];
    for (const { pid } of [patient, served]) process.kill(pid, 'SIGTERM');
    expect(await served.exited).toBe(0);
    expect((await list.finish()).isWhole).toBe(false);
    expect(await waiting.finish()).toEqual({ ids: COUNT, isWhole: true });
    expect(await patient.exited).toBe(0);
  });
});

describe('DRAIN_DELAY', () => {
  for (const workers of [[], ['serve', '--workers', '2']]) {
    test(`/ready is 503 while requests are still answered${workers.length > 0 ? ', by all workers' : ''}`, async () => {
      const served = await start({ DRAIN_DELAY: '300' }, ...workers);
      // A new connection each time: the port must still be open.
      const statusOf = async (path: string) =>
        (await fetch(served.url + path, { keepalive: false, headers: { connection: 'close' } })).status;
      expect(await statusOf('/ready')).toBe(200);
      process.kill(served.pid, 'SIGTERM');
      // Every worker logs the line, and the parent too.
      for (let left = workers.length > 0 ? 3 : 1; left > 0; left--) await waitFor(served, 'stopping');
      for (let turn = 0; turn < 20; turn++) {
        expect(await statusOf('/ready')).toBe(503);
        expect(await statusOf(CHECK)).toBe(200);
      }
      for (const message of ['already stopping', 'stopping at once']) {
        process.kill(served.pid, 'SIGTERM');
        await waitFor(served, message);
      }
      await served.exited;
    });
  }

  test('a process stops by itself after the delay', async () => {
    const served = await start({ DRAIN_DELAY: '1' });
    expect(await served.stop()).toBe(0);
  });
});
