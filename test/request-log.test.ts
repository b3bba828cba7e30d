// What the log says about requests, and how a request is found in it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { openAccounts } from '../src/accounts/accounts.ts';
import { createErrorLog, createLog } from '../src/service/log.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, granted, HOT, timeOf } from './support/fixtures.ts';
import { fillLongList } from './support/long-list.ts';
import { type LogLine, removeServed, type ServeProcess, startServe } from './support/serve-process.ts';
import { appOf } from './support/serving.ts';

/** About 17 MB as a list, which is more than the buffers between server and reader hold. */
const COUNT = 60_000;
const CHECK = `/registry/v2/check/all?to=${HOT}&from=${COLD}`;
const LIST = `/registry/v2/${HOT}?detail=full`;
const ROUTE = '/registry/v2/check/all';

let url = '';
let key = '';
let keyId = 0;
beforeAll(async () => {
  url = `sqlite:${temporaryPath('requests.db')}`;
  await fillLongList(url, COUNT, 1000);
  const accounts = await openAccounts(url);
  const created = await accounts.create({ label: 'one', now: Math.floor(Date.now() / 1000) });
  [key, keyId] = [created?.text ?? '', created?.record.id ?? 0];
  await accounts.close();
});
afterAll(removeServed);

const start = (more: Record<string, string> = {}, ...command: string[]) =>
  startServe(url, { MAX_LAG_1: '86400', ...more }, ...command);

const requestLine = async ({ lines }: ServeProcess): Promise<LogLine> => {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error('The log ended.');
    if (value['message'] === 'request') return value;
  }
};

/** Stops the service and returns all requests in the rest of its log. */
async function restOf(served: ServeProcess): Promise<LogLine[]> {
  await served.stop();
  const rest: LogLine[] = [];
  for await (const line of served.lines) if (line['message'] === 'request') rest.push(line);
  return rest;
}

describe('the request log', () => {
  test('names the request, the trace, the key and the bytes, and nothing else that the caller sent', async () => {
    const served = await start();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const response = await fetch(served.url + CHECK, {
      headers: { 'x-request-id': 'abc-123', traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-api-key': key },
    });
    const body = await response.text();
    expect(response.headers.get('x-request-id')).toBe('abc-123');
    const line = await requestLine(served);
    expect(line).toEqual({
      time: expect.any(String),
      level: 'info',
      message: 'request',
      id: 'abc-123',
      method: 'GET',
      route: ROUTE,
      status: 200,
      chainId: 1,
      block: response.headers.get('x-block-number'),
      seconds: expect.any(Number),
      bytes: body.length,
      keyId,
      traceId,
    });
    expect(JSON.stringify(line)).not.toContain(key.slice(0, 8));

    // A page is of no chain, whatever its caller writes.
    await fetch(`${served.url}/docs?chainId=10&block=5`);
    const { chainId, block, route } = await requestLine(served);
    expect([route, chainId, block]).toEqual(['/docs', undefined, undefined]);

    // Without an id, or with one that could break a log, one is made; a bad traceparent is ignored.
    const made = [];
    for (const given of [{}, { 'x-request-id': 'a"b {}' }, { 'x-request-id': 'x'.repeat(101), traceparent: '00-x' }]) {
      const id = (await fetch(served.url + CHECK, { headers: given })).headers.get('x-request-id');
      expect(await requestLine(served)).toMatchObject({ id });
      made.push(id);
    }
    expect(new Set(made).size).toBe(3);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-z]+$/);
    await served.stop();
  });

  test('names the chain, the block and the problem of a request that was refused, and no wallet', async () => {
    const served = await start();
    const asked = async (path: string) => {
      const response = await fetch(served.url + path);
      await response.text();
      const { status, chainId, block: number, problem, ...rest } = await requestLine(served);
      expect(JSON.stringify(rest)).not.toContain('0x');
      return [status, chainId, number, problem];
    };
    expect(await asked(`${CHECK}&block=99999999`)).toEqual([503, 1, '99999999', 'not-yet-indexed']);
    expect(await asked(`${CHECK}&chainId=10&block=latest`)).toEqual([400, 10, 'latest', 'unknown-chain']);
    expect(await asked(`${CHECK}&chainId=${HOT}&block=${COLD}`)).toEqual([400, undefined, undefined, 'bad-request']);
    expect(await asked('/nowhere')).toEqual([404, undefined, undefined, 'not-found']);
    const metrics = await (await fetch(served.metricsUrl)).text();
    expect(metrics).toContain('delegations_problems_total{type="not-yet-indexed"} 1');
    await served.stop();
  });

  test('a list is logged when it has been sent, with all its bytes, or how far it came', async () => {
    const served = await start();
    const { hostname, port } = new URL(served.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${LIST} HTTP/1.1\r\nHost: x\r\nX-Request-Id: cut\r\n\r\n`);
    await new Promise<void>((resolve) => {
      socket.once('data', () => {
        socket.pause();
        resolve();
      });
    });
    // The first list is still being sent, so it is logged after a later request.
    const body = await (await fetch(served.url + LIST, { headers: { 'x-request-id': 'whole' } })).text();
    expect(await requestLine(served)).toMatchObject({ id: 'whole', status: 200, bytes: body.length });
    socket.destroy();
    const cut = await requestLine(served);
    expect(cut).toMatchObject({ id: 'cut', aborted: true });
    expect(Number(cut['bytes'])).toBeLessThan(body.length);
    await served.stop();
  });

  test('probes are not logged', async () => {
    const served = await start();
    for (const path of ['/health', '/ready', '/networks']) expect((await fetch(served.url + path)).status).toBe(200);
    expect((await restOf(served)).map(({ route }) => route)).toEqual(['/networks']);
  });

  for (const [setting, statuses] of [
    ['off', []],
    ['errors', [400, 400, 400]],
    // The first of every four requests.
    ['sample:4', [200, 200]],
  ] as const) {
    test(`LOG_REQUESTS=${setting}`, async () => {
      const served = await start({ LOG_REQUESTS: setting });
      for (const path of [CHECK, ROUTE, CHECK, ROUTE, CHECK, ROUTE]) await fetch(served.url + path);
      expect((await restOf(served)).map(({ status }) => status)).toEqual([...statuses]);
    });
  }

  test('of workers names the worker', async () => {
    const served = await start({}, 'serve', '--workers', '2');
    await fetch(served.url + CHECK);
    const [line] = await restOf(served);
    expect([1, 2]).toContain(Number(line?.['worker']));
  });
});

test('a 500 is logged with the route, the id and the stack', async () => {
  const store = await openStore(`sqlite:${temporaryPath('fails.db')}`);
  const { epoch } = await store.claim(1, 100);
  const head = block(101, [granted('ALL')]);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  const failing: Store = { ...store, check: () => Promise.reject(new Error('broken')) };
  const lines: string[] = [];
  const onError = createErrorLog(createLog('info', (line) => lines.push(line)));
  const request = new Request(`http://localhost${CHECK}`, { headers: { 'x-request-id': 'find-me' } });
  const response = await appOf(failing, timeOf(101), { onError }).fetch(request);
  expect([response.status, response.headers.get('x-request-id')]).toEqual([500, 'find-me']);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: expect.any(String),
      level: 'error',
      message: 'internal error',
      id: 'find-me',
      route: ROUTE,
      error: 'Error: broken',
      stack: expect.arrayContaining([expect.stringMatching(/^at .*request-log\.test\.ts/)]),
    },
  ]);
  await store.close();
});
