// Every change of a key is in the log, with the key's id and without the key.

import { afterAll, expect, test } from 'bun:test';
import { openAccounts } from '../src/accounts/accounts.ts';
import { temporaryPath } from './support/engines.ts';
import { COLD } from './support/fixtures.ts';
import { removeServed, runCommand, startServe } from './support/serve-process.ts';

afterAll(removeServed);

const secretsIn = (text: string) => /dk_|0x/.test(text);

test('a wallet creates, rotates and revokes a key at /developers', async () => {
  const url = `sqlite:${temporaryPath('key-log.db')}`;
  const served = await startServe(url, { LOG_REQUESTS: 'off', PUBLIC_URL: 'http://localhost' });
  const accounts = await openAccounts(url);
  const token = await accounts.sessions.open(COLD, Math.floor(Date.now() / 1000));
  await accounts.close();
  const headers = {
    origin: 'http://localhost',
    'content-type': 'application/json',
    cookie: `delegations_session=${token}`,
  };
  const send = async (path: string, body: object) => {
    const response = await fetch(served.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return ((await response.json()) as { record?: { id: number } }).record?.id ?? 0;
  };
  const id = await send('/developers/keys', { label: 'one' });
  const newId = await send('/developers/keys/rotate', { id });
  await send('/developers/keys/revoke', { id: newId });
  // A key that is not there is not a change.
  await send('/developers/keys/revoke', { id: 999 });
  await served.stop();
  const lines = [];
  for await (const line of served.lines) if (String(line['message']).startsWith('key ')) lines.push(line);
  expect(lines).toMatchObject([
    { message: 'key created', keyId: id, by: 'wallet' },
    { message: 'key rotated', keyId: id, newKeyId: newId, by: 'wallet' },
    { message: 'key revoked', keyId: newId, by: 'wallet' },
  ]);
  expect(secretsIn(JSON.stringify(lines))).toBe(false);
});

test('an operator creates, rotates and revokes a key with the command line', async () => {
  const environment = { DATABASE_URL: `sqlite:${temporaryPath('key-command-log.db')}` };
  // `keys` needs the database of a service.
  await (await startServe(environment.DATABASE_URL)).stop();
  const run = async (...args: string[]) => {
    const { stdout, stderr, code } = await runCommand(['keys', ...args, '--json'], environment);
    expect(code).toBe(0);
    const line = stderr.split('\n').find((one) => one.startsWith('{')) ?? '';
    expect(secretsIn(line)).toBe(false);
    return { id: (JSON.parse(stdout) as { id: number }).id, line: JSON.parse(line) };
  };
  const created = await run('create', '--label', 'one');
  expect(created.line).toMatchObject({ message: 'key created', keyId: created.id, by: 'operator' });
  const rotated = await run('rotate', String(created.id));
  expect(rotated.line).toMatchObject({ message: 'key rotated', keyId: created.id, newKeyId: rotated.id });
  const revoked = await run('revoke', String(rotated.id));
  expect(revoked.line).toMatchObject({ message: 'key revoked', keyId: rotated.id, by: 'operator' });
});
