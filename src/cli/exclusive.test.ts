// delegations exclusive, and --resolver of vaults, on a database.

import { beforeAll, expect, test } from 'bun:test';
import { temporaryPath } from '../../test/support/engines.ts';
import { address, block, COLD, CONTRACT, granted, HOT } from '../../test/support/fixtures.ts';
import { runCommand } from '../../test/support/serve-process.ts';
import { checksummed } from '../registry/checksum.ts';
import type { Bytes32 } from '../registry/delegation.ts';
import { openStore } from '../store/open.ts';

const FOREVER: Bytes32 = '0xc10dcfe266c1f71ef476efbd3223555750dc271e4115626b000000ffffffffff';
const TOKENS: Bytes32 = `0x${'766f7465'.padEnd(54, '0')}${(1_893_456_000).toString(16).padStart(10, '0')}`;
const url = `sqlite:${temporaryPath('cli-exclusive.db')}`;
const [cold, hot, player] = [COLD, HOT, address(9)].map(checksummed);

beforeAll(async () => {
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const head = block(101, [
    granted('ALL', { rights: FOREVER }),
    granted('CONTRACT', { to: address(9), rights: TOKENS }),
  ]);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head, verified: 101 });
  await store.close();
});

const run = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCommand([...args, '--block', '101'], { DATABASE_URL: url });
  return { code, text: stdout + stderr };
};

test('prints who acts alone for a wallet, or that it acts for itself', async () => {
  const link = ['--rights', 'hash:AGW_LINK'];
  expect(await run('exclusive', COLD, ...link)).toEqual({
    code: 0,
    text: `${hot} acts alone for ${cold}, never expires\n`,
  });
  expect(await run('exclusive', HOT, ...link)).toEqual({ code: 1, text: `${hot} acts for itself\n` });
  expect(JSON.parse((await run('exclusive', COLD, ...link, '--json')).text)).toMatchObject({
    wallet: hot,
    vault: cold,
  });
});

test('prints who acts alone for a token of an owner, and the vaults of a wallet', async () => {
  const token = ['--contract', CONTRACT, '--token-id', '7', '--rights', 'vote'];
  expect((await run('exclusive', COLD, ...token)).text).toBe(
    `${player} acts alone for ${cold}, until 1 January 2030\n`,
  );
  const vaults = await run('exclusive', HOT, '--vaults', '--rights', 'hash:AGW_LINK');
  expect(vaults).toEqual({
    code: 0,
    text: expect.stringMatching(new RegExp(`^VAULT +UNTIL\n${cold} +never expires\n$`)),
  });
  expect(await run('exclusive', COLD, '--vaults')).toEqual({ code: 1, text: '' });
  const listed = await run('vaults', HOT, '--resolver', 'exclusive', '--rights', 'hash:AGW_LINK');
  expect([listed.code, listed.text]).toEqual([0, expect.stringContaining('AGW_LINK (never expires)')]);
});

test('refuses what does not go together', async () => {
  for (const [args, message] of [
    [['exclusive', COLD, '--contract', CONTRACT], '--contract and --token-id need each other.'],
    [['exclusive', COLD, '--vaults', '--contract', CONTRACT, '--token-id', '7'], '--vaults and --contract'],
    [['exclusive', COLD, '--rights', 'x'.repeat(25)], '--rights must be at most 24 bytes of text'],
    [['exclusive'], 'wallet must be an address'],
    [['vaults', HOT, '--rights', 'hash:AGW_LINK'], '--rights must be a bytes32'],
  ] as const)
    expect(await run(...args)).toEqual({ code: 2, text: expect.stringContaining(message) });
});
