// Two API processes behind the nginx of deploy/, restarted one after the other under load: no request fails.

import { expect, test } from 'bun:test';
import { freePort } from '../src/sandbox/free-port.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, granted, HOT } from './support/fixtures.ts';
import { startNginx } from './support/nginx.ts';
import { LOCAL, type ServeProcess, startServe } from './support/serve-process.ts';

const CALLERS = 8;
const TURNS = 2;

test.each(['nginx.conf', 'systemd/nginx.conf'])('behind deploy/%s a rolling restart fails no request', async (file) => {
  const url = `sqlite:${temporaryPath('rolling.db')}`;
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const head = { ...block(101, [granted('ALL')]), timestamp: Math.floor(Date.now() / 1000) };
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  const ports = [freePort(), freePort()] as const;
  const start = (port: number) =>
    startServe(url, { ...LOCAL, PORT: String(port), MAX_LAG_1: '86400', DRAIN_DELAY: '0', LOG_LEVEL: 'info' }, 'api');
  const processes: ServeProcess[] = [];
  for (const port of ports) processes.push(await start(port));
  const nginx = await startNginx(file, ...ports);
  let [answered, isOver] = [0, false];
  const failed: unknown[] = [];
  const ask = async () => {
    while (!isOver) {
      const response = await fetch(`${nginx.url}/registry/v2/check/all?to=${HOT}&from=${COLD}`).catch(String);
      const text = typeof response === 'string' ? response : `${response.status} ${await response.text()}`;
      if (text === '200 true') answered++;
      else failed.push(text);
    }
  };
  const asking = Array.from({ length: CALLERS }, ask);
  const more = async (count: number) => {
    for (const until = answered + count; answered < until && failed.length === 0; ) await Bun.sleep(5);
  };
  for (let turn = 0; turn < TURNS; turn++)
    for (const [position, port] of ports.entries()) {
      await more(200);
      await processes[position]?.stop();
      await more(200);
      processes[position] = await start(port);
    }
  await more(200);
  isOver = true;
  await Promise.all(asking);
  for (const one of [nginx, ...processes]) await one.stop();
  await store.close();
  expect(failed).toEqual([]);
  expect(answered).toBeGreaterThan(1000);
});
