// The operator's commands: configuration, keys, backup, and moving an index.

import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { temporaryPath } from '../../test/support/engines.ts';
import { block, COLD, granted, HOT } from '../../test/support/fixtures.ts';
import { runCommand, runProgram } from '../../test/support/serve-process.ts';
import { openStore } from '../store/open.ts';

const LAUNCHER = join(import.meta.dir, '../../delegations');

function emptyFolder(): string {
  const folder = temporaryPath('folder');
  mkdirSync(folder);
  return folder;
}

/** A store with one delegation in a final block. */
async function filledStore(): Promise<string> {
  const url = `sqlite:${temporaryPath('filled.db')}`;
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const blocks = [block(101, [granted('ALL')]), block(102)];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head: block(102), verified: 102 });
  await store.close();
  return url;
}

const checkIn = (url: string) =>
  runCommand(['check', '--from', COLD, '--to', HOT, '--block', '101'], { DATABASE_URL: url });

describe('commands that need the store of a service', () => {
  for (const command of [
    ['keys', 'create', '--label', 'x'],
    ['keys', 'list'],
    ['rewind', '--chain', '1', '--to', '5'],
    ['api'],
    ['backup', 'b.db'],
  ]) {
    test(`${command.join(' ')} creates none`, async () => {
      const folder = emptyFolder();
      const { code, stdout, stderr } = await runProgram([LAUNCHER, ...command], { folder });
      expect(code).toBe(2);
      expect(stdout).not.toContain('dk_');
      // A service has said it in its log.
      expect(stdout + stderr).toContain('no store at');
      expect(readdirSync(folder)).toEqual([]);
    });
  }

  test('keys of a database without a store are an error on PostgreSQL too', async () => {
    const { postgresDatabase } = await import('../../test/support/postgres-database.ts');
    const { code, stderr } = await runCommand(['keys', 'list'], { DATABASE_URL: await postgresDatabase() });
    expect([code, stderr]).toEqual([2, 'The store has no tables yet. Start the follower once to create them.\n']);
  });
});

describe('delegations config', () => {
  test('shows every effective value without secrets, and warns of names that are not used', async () => {
    const { code, stdout, stderr } = await runCommand(['config'], {
      RPC_URL_1: 'https://user:secret1@node.example/secret2?key=secret3,https://other.example',
      DATABASE_URL: 'postgres://me:secret4@db.example/delegations?sslpassword=secret5',
      REDIS_URL: 'redis://:secret6@redis.example:6379/1',
      MAX_LAG_1: '100',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer secret7',
      RPC_URL: 'https://node.example',
      RPC_URLS_10: 'https://node.example',
      ANONYMOUS_LIMITS: 'off',
    });
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain('secret');
    for (const line of [
      /^DATABASE_URL +postgres:\/\/me:\*\*\*@db.example\/delegations\?\*\*\* +set$/m,
      /^REDIS_URL +redis:\/\/:\*\*\*@redis.example:6379\/1 +set$/m,
      /^OTEL_EXPORTER_OTLP_HEADERS +\*\*\* +set$/m,
      /^PORT +8080 +default$/m,
      /^RPC_URL_1 +https:\/\/\*\*\*@node.example\/\*\*\*,https:\/\/other.example\/ +set$/m,
      /^START_BLOCK_1 +15590000 +network$/m,
      /^MAX_LAG_1 +100 +set$/m,
    ])
      expect(stdout).toMatch(line);
    expect(stderr.trim().split('\n').sort()).toEqual([
      'Warning: ANONYMOUS_LIMITS is not used. Did you mean ANONYMOUS_LIMIT?',
      'Warning: RPC_URL is not used. Did you mean RPC_URL_1?',
      'Warning: RPC_URLS_10 is not used. Did you mean RPC_URL_10?',
    ]);
  });

  test('an invalid value is an error that names the accepted range', async () => {
    const { code, stderr } = await runCommand(['config'], { MAX_LAG_1: '100000000', ANONYMOUS_LIMIT: '5' });
    expect(code).toBe(2);
    expect(stderr).toContain('MAX_LAG_1 must be an integer from 0 to 31536000');
    expect(stderr).toContain('with 1 to 10000 requests and 1 to 3600 seconds');
  });

  test('the launcher does not read a .env file of the current folder', async () => {
    const folder = emptyFolder();
    writeFileSync(
      join(folder, '.env'),
      'DATABASE_URL=postgres://other.example/other\nRPC_URL_10=http://other.example\n',
    );
    const { code, stdout, stderr } = await runProgram([LAUNCHER, 'config'], { folder });
    expect(stdout).not.toContain('other');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Warning: No chain is configured.')]);
  });
});

describe('delegations backup', () => {
  test('copies a store that is in use, and only its owner can read the copy', async () => {
    const url = await filledStore();
    const store = await openStore(url);
    const file = join(emptyFolder(), 'backup.db');
    const made = await runCommand(['backup', file], { DATABASE_URL: url });
    expect([made.code, made.stderr, made.stdout]).toEqual([0, '', expect.stringContaining(`Wrote ${file}`)]);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect((await checkIn(`sqlite:${file}`)).stdout).toContain('yes');
    // An existing file is kept.
    const again = await runCommand(['backup', file], { DATABASE_URL: url });
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already')]);
    await store.close();
  });

  test('a backup that fails leaves no file, and PostgreSQL has its own tool', async () => {
    const file = '/proc/backup.db';
    const failed = await runCommand(['backup', file], { DATABASE_URL: await filledStore() });
    expect([failed.code, failed.stderr]).toEqual([2, expect.stringContaining('The backup failed')]);
    expect(existsSync(file)).toBe(false);
    const other = await runCommand(['backup', 'x.db'], { DATABASE_URL: 'postgres://localhost/delegations' });
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('pg_dump')]);
  });
});

describe('delegations import', () => {
  test('reads gzip, and standard input, gzipped or not', async () => {
    const { stdout } = await runCommand(['export', '--chain', '1'], { DATABASE_URL: await filledStore() });
    const plain = Buffer.from(stdout);
    const zipped = gzipSync(plain);
    const file = temporaryPath('index.ndjson.gz');
    writeFileSync(file, zipped);
    for (const [operand, input] of [
      [file, null],
      ['-', plain],
      ['-', zipped],
    ] as const) {
      const url = `sqlite:${temporaryPath('imported.db')}`;
      const temporary = emptyFolder();
      const made = await runProgram([LAUNCHER, 'import', operand], {
        environment: { DATABASE_URL: url, TMPDIR: temporary },
        input: input && new Blob([input]),
      });
      expect([made.code, made.stderr]).toEqual([0, '']);
      expect((await checkIn(url)).stdout).toContain('yes');
      expect(readdirSync(temporary)).toEqual([]);
    }
    writeFileSync(file, zipped.subarray(0, zipped.length - 20));
    const cut = await runCommand(['import', file], { DATABASE_URL: `sqlite:${temporaryPath('cut.db')}` });
    expect([cut.code, cut.stderr]).toEqual([2, expect.stringContaining('not a complete gzip file')]);
  });
});

test('an unknown option suggests the one that was meant, and errors name options as the command line does', async () => {
  const typo = await runCommand(['check', '--tokenId', '5']);
  expect([typo.code, typo.stderr]).toEqual([
    2,
    'Unknown option: --tokenId. Did you mean --token-id? See delegations check --help.\n',
  ]);
  const missing = await runCommand(['check', '--from', COLD, '--to', HOT, '--type', 'erc721'], {
    DATABASE_URL: await filledStore(),
  });
  expect([missing.code, missing.stderr]).toEqual([2, '--contract is required; --token-id is required\n']);
});
