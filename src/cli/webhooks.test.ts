// The command that manages webhooks, on a real store.

import { beforeAll, describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../test/support/engines.ts';
import { block, COLD, granted } from '../../test/support/fixtures.ts';
import { runCommand } from '../../test/support/serve-process.ts';
import { openAccounts } from '../accounts/accounts.ts';
import { openStore } from '../store/open.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';

const DATABASE_URL = `sqlite:${temporaryPath('webhooks.db')}`;
const URL_TEXT = 'https://hooks.example/a';
const webhooks = (...args: readonly string[]) => runCommand(['webhooks', ...args], { DATABASE_URL });

beforeAll(async () => {
  const store = await openStore(DATABASE_URL);
  const { epoch } = await store.claim(1, 100);
  const blocks = [block(101, [granted('ALL')]), block(102)];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head: block(102), verified: 102 });
  await store.close();
  await (await openAccounts(DATABASE_URL)).close();
});

/** The change that was logged, and what was printed. */
async function succeed(...args: readonly string[]) {
  const { code, stdout, stderr } = await webhooks(...args);
  expect([code, stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{')).length <= 1]).toEqual([
    0,
    true,
  ]);
  return { stdout, logged: stderr.split('\n').find((line) => line.startsWith('{')) ?? '' };
}

test('the life of a webhook', async () => {
  expect((await succeed('list')).stdout).toBe('No webhooks yet.\n');
  expect((await succeed('list', '--json')).stdout).toBe('[]\n');
  const created = await succeed('create', '--url', URL_TEXT, '--chain', '1', '--wallet', COLD, '--at', 'head');
  expect((await succeed('list')).stdout).toContain(' paused: unconfirmed ');
  expect((await succeed('resume', '1')).stdout).toBe('Webhook 1 resumed.\n');
  expect(created.stdout).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
  expect(JSON.parse(created.logged)).toMatchObject({ message: 'webhook created', webhookId: 1, by: 'operator' });
  expect(created.logged).not.toContain('hooks.example');
  expect((await succeed('list')).stdout).toMatch(
    /^ID +URL .*\n1 +https:\/\/hooks.example\/a +operator +head +active +0\n$/,
  );

  const shown = (await succeed('show', '1')).stdout;
  for (const line of [
    /^chains +1$/m,
    new RegExp(`^wallet +${COLD}$`, 'm'),
    /^state +active$/m,
    /^No deliveries yet\.$/m,
  ])
    expect(shown).toMatch(line);

  const rotated = JSON.parse((await succeed('rotate', '1', '--overlap', '48', '--json')).stdout);
  expect(rotated).toMatchObject({ id: 1, secret: expect.stringMatching(/^whsec_/), owner: null, chainIds: [1] });
  expect(rotated.secret).not.toBe(created.stdout.trim());

  expect((await succeed('pause', '1')).stdout).toStartWith('Webhook 1 paused.');
  expect((await succeed('list')).stdout).toContain(' paused ');
  expect(await webhooks('pause', '1')).toMatchObject({ code: 2, stderr: 'Webhook 1 is already paused.\n' });
  expect((await succeed('resume', '1')).stdout).toBe('Webhook 1 resumed.\n');
  expect(await webhooks('resume', '1')).toMatchObject({ code: 2, stderr: 'Webhook 1 is not paused.\n' });
  expect((await succeed('test', '1', '--json')).stdout).toBe('{"id":1,"tested":true}\n');

  const before = JSON.parse((await succeed('show', '1', '--json')).stdout);
  expect(before).toMatchObject({ url: URL_TEXT, state: 'active', attempts: [], testRequestedAt: expect.any(String) });
  expect(JSON.stringify(before)).not.toContain('whsec_');
  expect((await succeed('replay', '1', '--chain', '1', '--block', '101')).stdout).toBe(
    'Webhook 1 continues from block 101 of chain 1.\n',
  );
  expect(JSON.parse((await succeed('show', '1', '--json')).stdout).cursor).not.toBe(before.cursor);
  expect((await succeed('replay', '1', '--block', 'start')).stdout).toBe(
    'Webhook 1 continues from the start of history.\n',
  );
  expect((await succeed('remove', '1')).stdout).toBe('Webhook 1 removed.\n');
  expect((await succeed('list')).stdout).toBe('No webhooks yet.\n');
});

test('a webhook whose receiver agrees is active at once', async () => {
  const { id, state } = JSON.parse((await succeed('create', '--url', URL_TEXT, '--confirmed', '--json')).stdout);
  expect(state).toBe('active');
  const { stderr } = await webhooks('create', '--url', URL_TEXT);
  expect(stderr).toMatch(/Then let the receiver confirm: delegations webhooks test \d+$/m);
  for (const one of [id, id + 1]) await succeed('remove', String(one));
});

test('deliveries are shown, newest first', async () => {
  const { id } = JSON.parse((await succeed('create', '--url', URL_TEXT, '--json')).stdout);
  const accounts = await openAccounts(DATABASE_URL);
  const webhooks = createWebhooks(accounts.engine);
  const claimed = await webhooks.claim(id, 60_000, Date.now());
  if (claimed === null) throw new Error('not claimed');
  const attempt = { type: 'test', deliveryId: 'msg_1', changes: 0, ms: 12 } as const;
  const time = Date.parse('2026-01-01T00:00:00Z');
  await webhooks.record(claimed.lease, { ...attempt, failure: 'status', status: 500, at: time }, null);
  await webhooks.record(claimed.lease, { ...attempt, failure: 'dns', status: null, at: time + 1000 }, null);
  await webhooks.record(claimed.lease, { ...attempt, failure: null, status: 204, at: time + 2000 }, null);
  await accounts.close();
  const { stdout } = await succeed('show', String(id));
  const outcomes = [...stdout.matchAll(/^(2026\S+) +msg_1 +test +0 +(\S+(?: \d+)?) +12$/gm)].map(([, at, what]) => [
    at,
    what,
  ]);
  expect(outcomes).toEqual([
    ['2026-01-01T00:00:02.000Z', 'delivered 204'],
    ['2026-01-01T00:00:01.000Z', 'dns'],
    ['2026-01-01T00:00:00.000Z', 'status 500'],
  ]);
});

describe('mistakes', () => {
  test.each([
    [['create'], '--url is missing. Example: --url https://example.com/webhook'],
    [
      ['create', '--url', 'http://hooks.example/'],
      '--url must be a URL with https, such as https://example.com/webhook.',
    ],
    [['create', '--url', 'https://10.0.0.1/'], '--url must be at a public address.'],
    [['create', '--url', URL_TEXT, '--chain', '10'], '--chain names chain 10, which is not served.'],
    [['create', '--url', URL_TEXT, '--from', '0x1'], '--from must be an address (0x and 40 hex digits), not "0x1".'],
    [['create', '--url', URL_TEXT, '--at', 'now'], '--at must be one of final, head, got now.'],
    [['create', '7', '--url', URL_TEXT], 'Unexpected argument: 7. webhooks create takes no id.'],
    [['show'], 'Missing webhook id. Usage: delegations webhooks show <id>'],
    [['show', 'x'], 'Missing webhook id. Usage: delegations webhooks show <id>'],
    [
      ['close', '1'],
      'Unknown action: close. Use one of create, list, show, pause, resume, rotate, test, replay, remove.',
    ],
    ...['show', 'pause', 'resume', 'rotate', 'test', 'remove', 'replay'].map(
      (action) => [[action, '999'], 'No webhook with id 999. See delegations webhooks list.'] as [string[], string],
    ),
  ] as [string[], string][])('%j', async (args, message) => {
    expect(await webhooks(...args)).toMatchObject({ code: 2, stdout: '', stderr: `${message}\n` });
  });

  test('of a replay', async () => {
    const { id } = JSON.parse((await succeed('create', '--url', URL_TEXT, '--json')).stdout);
    for (const [args, message] of [
      [[], '--block must be start or a block number.'],
      [['--block', '5'], '--chain must be the chain of that block, one that the webhook reads.'],
      [['--block', '5', '--chain', '10'], '--chain must be the chain of that block, one that the webhook reads.'],
      [['--block', 'start', '--chain', '1'], '--chain must be absent: start replays every chain.'],
    ] as [string[], string][])
      expect(await webhooks('replay', String(id), ...args)).toMatchObject({ code: 2, stderr: `${message}\n` });
  });
});
