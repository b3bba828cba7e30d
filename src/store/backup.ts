// Copies a SQLite store to a file while other processes use it.

import { Database } from 'bun:sqlite';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { StoreError } from './errors.ts';
import { createFile } from './sqlite.ts';

/**
 * Writes one consistent state of the store at `path` to a new file that only its owner can read, checks it, and returns its size
 * in bytes. The file appears under its name once it is complete.
 */
export function backUpSqlite(path: string, file: string): number {
  if (!existsSync(path)) throw new StoreError('bad-store', `There is no store at ${resolve(path)}.`);
  if (existsSync(file)) throw new StoreError('bad-store', `${file} exists already. Choose another name.`);
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    createFile(partial);
    using source = new Database(path, { readonly: true });
    source.run('VACUUM INTO ?', [partial]);
    checkCopy(partial);
    const written = openSync(partial, 'r+');
    fsyncSync(written);
    closeSync(written);
    renameSync(partial, file);
    return statSync(file).size;
  } catch (cause) {
    rmSync(partial, { force: true });
    throw new StoreError('failed', `The backup failed, and nothing was kept: ${(cause as Error).message}`, { cause });
  }
}

function checkCopy(path: string): void {
  using copy = new Database(path, { readonly: true });
  const [[result] = []] = copy.query('PRAGMA quick_check').values();
  if (result !== 'ok') throw new Error(`the copy is damaged: ${result}`);
}
