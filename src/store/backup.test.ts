import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { temporaryPath } from '../../test/support/engines.ts';
import { backUpSqlite } from './backup.ts';

test('a copy that is damaged is not kept: what a backup leaves can be restored', () => {
  const [path, file] = [temporaryPath('damaged.db'), temporaryPath('backup.db')];
  const store = new Database(path);
  store.run('CREATE TABLE chain (head INTEGER         )');
  store.run('INSERT INTO chain VALUES (NULL)');
  store.close();
  // A changed byte that SQLite copies without noticing.
  const bytes = readFileSync(path, 'latin1').replace('INTEGER         )', 'INTEGER NOT NULL)');
  writeFileSync(path, bytes, 'latin1');
  expect(() => backUpSqlite(path, file)).toThrow('the copy is damaged');
  expect([existsSync(file), existsSync(`${file}.partial`)]).toEqual([false, false]);
});
