// Runs the commands of docs/operating.md for keys, backups and restoring them, and checks its firewall rules.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openStore } from '../src/store/open.ts';
import { codeBlock } from './support/code-blocks.ts';
import { temporaryPath } from './support/engines.ts';
import { block, granted, HOT } from './support/fixtures.ts';
import { startOlderPostgres } from './support/older-postgres.ts';
import type { PostgresServer } from './support/postgres.ts';
import { findProgram } from './support/programs.ts';
import { runProgram } from './support/serve-process.ts';

const ROOT = join(import.meta.dir, '..');
const PAGE = 'docs/operating.md';
const commandsWith = (text: string) => codeBlock(PAGE, text).text;

/** A folder of an operator, which has the program. */
function newFolder(): string {
  const folder = temporaryPath('operator');
  mkdirSync(folder);
  symlinkSync(join(ROOT, 'delegations'), join(folder, 'delegations'));
  return folder;
}

/** Runs commands in a folder until one fails. */
const attempt = (commands: string, folder: string, databaseUrl = '') =>
  runProgram(['bash', '-e', '-c', commands], {
    folder,
    environment: { DATABASE_URL: databaseUrl, PATH: `${folder}:${process.env['PATH']}` },
  });

/** Returns what the commands print. */
async function run(commands: string, folder: string, databaseUrl?: string): Promise<string> {
  const { code, stdout, stderr } = await attempt(commands, folder, databaseUrl);
  if (code !== 0) throw new Error(`exit code ${code} of ${commands}\n${stderr}`);
  return stdout;
}

const BLOCK = 100;

/** An index with one delegation, as a follower leaves it. */
async function createIndex(url: string): Promise<void> {
  const store = await openStore(url);
  const head = block(BLOCK, [granted('ALL')]);
  const { epoch } = await store.claim(1, BLOCK);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head, verified: BLOCK });
  await store.close();
}

const CREATE_KEY = 'delegations keys create --label "mint site"';
const keysIn = (folder: string, url: string) => run('delegations keys list', folder, url);

/** The database has these keys and the delegation. */
async function expectAll(keys: string, folder: string, url: string): Promise<void> {
  expect(await keysIn(folder, url)).toBe(keys);
  expect(await run(`delegations list ${HOT} --block ${BLOCK}`, folder, url)).toContain('ALL');
}

test('keys are created, listed, rotated, revoked and limited', async () => {
  const folder = newFolder();
  const url = `sqlite:${join(folder, 'delegations.db')}`;
  await createIndex(url);
  // The page goes on with key 3.
  await run(`${CREATE_KEY}; ${CREATE_KEY}`, folder, url);
  await run(commandsWith('keys create'), folder, url);
  const states = [...(await keysIn(folder, url)).matchAll(/^(\d+) .*?(active|revoked) .*? (\S+) +never$/gm)];
  expect(states.map((row) => row.slice(1))).toEqual([
    ['4', 'active', 'default'],
    ['3', 'revoked', '100/10s'],
    ['2', 'active', 'default'],
    ['1', 'active', 'default'],
  ]);
});

describe('a backup', () => {
  const [intoSqlite = '', intoPostgres = ''] = commandsWith('sqlite3 -bail').split('\n');

  test('of SQLite is restored, whole or the keys alone, which replace no others', async () => {
    findProgram('sqlite3');
    const url = 'sqlite:delegations.db';
    const [old, whole, fresh] = [newFolder(), newFolder(), newFolder()];
    await createIndex(`sqlite:${join(old, 'delegations.db')}`);
    await run(CREATE_KEY, old, url);
    await run(commandsWith('delegations backup backup.db'), old, url);
    const keys = await keysIn(old, url);

    copyFileSync(join(old, 'backup.db'), join(whole, 'delegations.db'));
    await expectAll(keys, whole, url);

    copyFileSync(join(old, 'keys.sql'), join(fresh, 'keys.sql'));
    await createIndex(`sqlite:${join(fresh, 'delegations.db')}`);
    await run(intoSqlite, fresh, url);
    await expectAll(keys, fresh, url);
    expect((await attempt(intoSqlite, fresh, url)).code).not.toBe(0);
    await expectAll(keys, fresh, url);
  });

  describe('of PostgreSQL', () => {
    let server: PostgresServer;
    beforeAll(async () => {
      findProgram('pg_dump');
      server = await startOlderPostgres();
    });
    afterAll(() => server.stop());

    test('is restored, whole or the keys alone, which replace no others', async () => {
      const folder = newFolder();
      const old = await server.createDatabase();
      await createIndex(old);
      await run(CREATE_KEY, folder, old);
      await run(commandsWith('pg_dump --format=custom'), folder, old);
      const keys = await keysIn(folder, old);

      const whole = await server.createDatabase();
      const [restore = ''] = /pg_restore [^`]+/.exec(readFileSync(join(ROOT, PAGE), 'utf8')) ?? [];
      await run(restore, folder, whole);
      await expectAll(keys, folder, whole);

      const fresh = await server.createDatabase();
      await createIndex(fresh);
      await run(intoPostgres, folder, fresh);
      await expectAll(keys, folder, fresh);
      expect((await attempt(intoPostgres, folder, fresh)).code).not.toBe(0);
      await expectAll(keys, folder, fresh);
    });
  });
});

test('the rules for a firewall are valid', async () => {
  const folder = dirname(findProgram('iptables-translate'));
  // Prints a rule as one of nftables, and changes nothing.
  const commands = commandsWith('iptables -A').replace(/^(ip6?tables) /gm, `${folder}/$1-translate `);
  const rules = await run(commands, newFolder());
  expect(rules.match(/dport 8080 .* ct count over 100 .* reject with tcp reset/g)).toHaveLength(2);
});
