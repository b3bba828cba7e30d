// Runs the receivers of docs/integrating.md, and sends them deliveries as the service does.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { freePort } from '../src/sandbox/free-port.ts';
import { type Networks, parseNetworks } from '../src/webhooks/networks.ts';
import { createSender } from '../src/webhooks/send.ts';
import { createSecret, signatureOf } from '../src/webhooks/sign.ts';
import { codeBlock } from './support/code-blocks.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { findProgram } from './support/programs.ts';
import { GO_ENVIRONMENT } from './support/run-block.ts';

const ROOT = join(import.meta.dir, '..');
const PAGE = 'docs/integrating.md';

/** The command of each, made in a folder of its own. */
const PROGRAMS: Readonly<Record<string, (folder: string) => string[]>> = {
  bun: (folder) => [process.execPath, writeTo(folder, 'receiver.mjs', "from 'standardwebhooks'")],
  node: (folder) => ['node', writeTo(folder, 'receiver.mjs', "from 'standardwebhooks'")],
  python: (folder) => [findProgram('python3'), writeTo(folder, 'receiver.py', 'BaseHTTPRequestHandler')],
  go(folder) {
    const program = join(folder, 'receiver');
    const build = [findProgram('go'), 'build', '-o', program, writeTo(folder, 'receiver.go', 'func isSigned')];
    const { exitCode, stderr } = Bun.spawnSync(build, { cwd: folder, env: { ...process.env, ...GO_ENVIRONMENT } });
    if (exitCode !== 0) throw new Error(stderr.toString());
    return [program];
  },
};

function writeTo(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, codeBlock(PAGE, text).text);
  return path;
}

/** The others only verify, and answer challenges. */
const KEEPS_CHANGES = new Set(['bun', 'node']);

const send = createSender({ networks: parseNetworks('loopback') as Networks, allowsHttp: true });
const change = (block: number, type = 'began') => ({
  type,
  chainId: 1,
  block: { number: block },
  delegation: { block },
});

describe.each(Object.keys(PROGRAMS))('the receiver of docs/integrating.md with %s', (program) => {
  const secret = createSecret();
  const port = freePort();
  let receiver: Subprocess<'ignore', 'pipe', 'inherit'>;
  let printed = '';
  beforeAll(async () => {
    const folder = temporaryPath('receiver');
    mkdirSync(folder);
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const command = PROGRAMS[program]?.(folder) ?? [];
    receiver = Bun.spawn(command, {
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
    readonly challenge?: string;
  }

  async function deliver(
    id: string,
    delivery: object,
    { time = new Date(), key = secret, arriving, challenge }: Attempt = {},
  ) {
    const body = JSON.stringify(delivery);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
      'webhook-signature': await signatureOf([createSecret(), key], id, time, body),
    };
    return send(`http://127.0.0.1:${port}/`, headers, arriving ?? body, { challenge });
  }

  const changes = (...all: readonly object[]) => ({ type: 'delegations.changes', data: { changes: all } });
  /** The blocks of the changes that the receiver holds after its last delivery. */
  const held = () => JSON.parse(printed.trim().split('\n').at(-1) ?? '[]');
  const holds = async (...blocks: readonly number[]) => {
    await eventually(`holds ${blocks}`, async () => Bun.deepEquals(held(), blocks));
  };

  test('answers a challenge with it, if it is signed', async () => {
    const challenge = 'x7Jk2-_Qm4';
    const delivery = { type: 'webhook.challenge', data: { webhook: 3, challenge } };
    expect(await deliver('msg_c', delivery, { challenge })).toMatchObject({ type: 'delivered', status: 200 });
    expect(await deliver('msg_c', delivery, { challenge, key: createSecret() })).toMatchObject({ status: 401 });
  });

  if (KEEPS_CHANGES.has(program))
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
    if (KEEPS_CHANGES.has(program)) expect(held()).toEqual([5, 7]);
  });
});
