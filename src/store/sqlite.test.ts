// The files of a SQLite store: who may read them, and who may create them.

import { expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { temporaryPath } from '../../test/support/engines.ts';
import { block, granted } from '../../test/support/fixtures.ts';
import { openAccounts } from '../accounts/accounts.ts';
import { openStore } from './open.ts';
import { exposedPaths } from './sqlite.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('a new store can be read by its owner alone: its files, and the folders made for it', async () => {
  const folder = temporaryPath('new');
  const path = `${folder}/data/store.db`;
  const store = await openStore(`sqlite:${path}`);
  const { epoch } = await store.claim(1, 100);
  const one = block(100, [granted('ALL')]);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [one], head: one });
  expect([folder, dirname(path), path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual([
    '700',
    '700',
    '600',
    '600',
    '600',
  ]);
  expect(exposedPaths(`sqlite:${path}`)).toEqual([]);
  await store.close();
});

test('a store that others can read is found, and stays as it is', async () => {
  const folder = temporaryPath('shared');
  mkdirSync(folder, { mode: 0o755 });
  const path = `${folder}/store.db`;
  await (await openStore(`sqlite:${path}`)).close();
  chmodSync(path, 0o640);
  expect(exposedPaths(`sqlite:${path}`)).toEqual([{ path, mode: '640' }]);
  // Nobody can read the file through the folder alone.
  chmodSync(path, 0o600);
  expect(exposedPaths(`sqlite:${path}`)).toEqual([]);
  expect(exposedPaths('postgres://localhost/delegations')).toEqual([]);
});

test('accounts of a store that does not exist are an error, and nothing is created', async () => {
  const path = `${temporaryPath('none')}/store.db`;
  await expect(openAccounts(`sqlite:${path}`, { mustExist: true })).rejects.toThrow(
    `There is no store at ${path}. Start the service first, or set DATABASE_URL to its database.`,
  );
  expect(existsSync(dirname(path))).toBe(false);
});

test('a store that is closed ends the writes that have begun, and refuses others', async () => {
  const url = `sqlite:${temporaryPath('closing.db')}`;
  const store = await openStore(url);
  const begun = [1, 2, 3].map((chainId) => store.claim(chainId, 100));
  const closed = store.close();
  await expect(store.claim(4, 100)).rejects.toThrow('The store is closed.');
  await closed;
  expect((await Promise.all(begun)).map(({ chainId }) => chainId)).toEqual([1, 2, 3]);
  const again = await openStore(url);
  expect((await again.chains()).map(({ chainId }) => chainId)).toEqual([1, 2, 3]);
  await again.close();
});
