// Runs the receiver of docs/integrating.md, with Bun and with Node, and sends it deliveries as the service does.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { freePort } from '../src/sandbox/free-port.ts';
import { type Networks, parseNetworks } from '../src/webhooks/networks.ts';
import { createSender } from '../src/webhooks/send.ts';
import { createSecret, signatureOf } from '../src/webhooks/sign.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/live-chain.ts';

const ROOT = join(import.meta.dir, '..');
const PAGE = readFileSync(join(ROOT, 'docs/integrating.md'), 'utf8');
const [, RECEIVER = ''] = /```js\n(import [\s\S]+?standardwebhooks[\s\S]+?)```/.exec(PAGE) ?? [];

const send = createSender({ networks: parseNetworks('loopback') as Networks, allowsHttp: true });
const change = (block: number, type = 'began') => ({
  type,
  chainId: 1,
  block: { number: block },
  delegation: { block },
});

describe.each(['bun', 'node'])('the receiver of docs/integrating.md with %s', (program) => {
  const secret = createSecret();
  const port = freePort();
  let receiver: Subprocess<'ignore', 'pipe', 'inherit'>;
  let printed = '';
  beforeAll(async () => {
    const folder = temporaryPath('receiver');
    mkdirSync(folder);
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'receiver.mjs'), RECEIVER);
    const command = program === 'bun' ? process.execPath : 'node';
    receiver = Bun.spawn([command, join(folder, 'receiver.mjs')], {
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    });
    void (async () => {
      for await (const chunk of receiver.stdout) printed += new TextDecoder().decode(chunk);
    })();
    await eventually('listening', async () => (await deliver('msg_0', { type: 'webhook.test' })).type === 'delivered');
  });
  afterAll(async () => {
    receiver.kill();
    await receiver.exited;
  });

  interface Attempt {
    readonly time?: Date;
    readonly key?: string;
    /** The body that arrives, if it is not the signed one. */
    readonly arriving?: string;
  }

  async function deliver(id: string, delivery: object, { time = new Date(), key = secret, arriving }: Attempt = {}) {
    const body = JSON.stringify(delivery);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
      'webhook-signature': await signatureOf([createSecret(), key], id, time, body),
    };
    return send(`http://127.0.0.1:${port}/`, headers, arriving ?? body);
  }

  const changes = (...all: readonly object[]) => ({ type: 'delegations.changes', data: { changes: all } });
  /** The blocks of the changes that the receiver holds after its last delivery. */
  const held = () => JSON.parse(printed.trim().split('\n').at(-1) ?? '[]');
  const holds = async (...blocks: readonly number[]) => {
    await eventually(`holds ${blocks}`, async () => Bun.deepEquals(held(), blocks));
  };

  test('applies changes in order, a duplicate once, and takes back what is undone', async () => {
    expect(await deliver('msg_1', changes(change(5), change(6)))).toMatchObject({ type: 'delivered', status: 204 });
    await holds(5, 6);
    expect(await deliver('msg_1', changes(change(5), change(6)))).toMatchObject({ type: 'delivered', status: 204 });
    await holds(5, 6);
    const undo = { type: 'undo', chainId: 1, block: { number: 5 } };
    expect(await deliver('msg_2', changes(undo, change(7)))).toMatchObject({ type: 'delivered', status: 204 });
    await holds(5, 7);
  });

  test('refuses a changed body, another secret and an old delivery', async () => {
    const delivery = changes(change(9));
    const refused = { type: 'failed', reason: 'status', status: 401 };
    const arriving = JSON.stringify(changes(change(10)));
    expect(await deliver('msg_3', delivery, { arriving })).toMatchObject(refused);
    expect(await deliver('msg_3', delivery, { key: createSecret() })).toMatchObject(refused);
    expect(await deliver('msg_3', delivery, { time: new Date(Date.now() - 600_000) })).toMatchObject(refused);
    expect(held()).toEqual([5, 7]);
  });
});
