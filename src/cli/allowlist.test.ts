// The list of who may claim: one wallet for each owner, with its reason, from the store.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { newChain } from '../../test/support/chain.ts';
import { chosenGrant } from '../../test/support/chosen-truth.ts';
import { ENGINES, temporaryPath } from '../../test/support/engines.ts';
import { address, block, CONTRACT, granted, revocation, timeOf } from '../../test/support/fixtures.ts';
import { below, createRandom, pickFrom } from '../../test/support/random.ts';
import { runCommand } from '../../test/support/serve-process.ts';
import { checksummed } from '../registry/checksum.ts';
import { type Address, type Bytes32, type Delegation, NO_RIGHTS } from '../registry/delegation.ts';
import { rightsOf } from '../registry/rights.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

const CLAIM = rightsOf('claim') as Bytes32;
const FOREVER = `${CLAIM.slice(0, 56)}ffffffffff` as Bytes32;
const [ADA, BEN, CLEO, DORA, EVE, HOT] = [1, 2, 3, 4, 5, 6].map((of) => address(0xabc0 + of)) as Address[] as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const fileOf = (content: string) => {
  const file = temporaryPath('owners.csv');
  writeFileSync(file, content);
  return file;
};

for (const engine of ENGINES) {
  describe(`delegations allowlist on ${engine.name}`, () => {
    let [url, store] = ['', {} as Store];
    let chains: Awaited<ReturnType<typeof newChain>>[] = [];
    const people = Array.from({ length: 15 }, (_, of) => address(700 + of));
    beforeAll(async () => {
      url = await engine.fresh();
      store = await openStore(url);
      chains = [await newChain(store, 1), await newChain(store, 8453)];
      const [one, other] = chains as [(typeof chains)[0], (typeof chains)[0]];
      const random = createRandom(17);
      const some = () =>
        Array.from({ length: 12 }, () => {
          const version = pickFrom(random, [1, 2] as const);
          const rights =
            version === 1 ? null : pickFrom(random, [NO_RIGHTS, CLAIM, FOREVER, `0x${'5'.repeat(64)}` as Bytes32]);
          return granted(pickFrom(random, ['ALL', 'CONTRACT']), {
            version,
            rights,
            from: pickFrom(random, people),
            to: pickFrom(random, people),
          });
        });
      await one.add(
        [
          block(101, [
            granted('ALL', { from: ADA, to: HOT }),
            granted('CONTRACT', { from: ADA, to: EVE, rights: CLAIM }),
            granted('ALL', { version: 1, from: BEN, to: EVE }),
            granted('ALL', { from: CLEO, to: EVE, rights: FOREVER }),
            granted('ALL', { from: CLEO, to: HOT }),
          ]),
          block(102, some()),
          block(103, [granted('ALL', { from: ADA, to: DORA }), granted('ALL', { version: 1, from: DORA, to: HOT })]),
          revocation(104, DORA),
          block(105),
        ],
        { verified: 105 },
      );
      await other.add([block(101, some()), block(102, [granted('ALL', { from: DORA, to: EVE })]), block(105)], {
        verified: 105,
      });
    });
    afterAll(() => store.close());

    const run = (args: readonly string[], owners?: string) =>
      runCommand(
        ['allowlist', '--contract', CONTRACT, ...(owners === undefined ? [] : ['--owners', fileOf(owners)]), ...args],
        {
          DATABASE_URL: url,
        },
      );

    test('merges what one claimant has, with the reason of each owner', async () => {
      const owners = `wallet;balance\n${checksummed(ADA)};10\n${BEN};5\n${CLEO};1\n${EVE};0\n${HOT};3\n${BEN};2\n`;
      const { code, stdout, stderr } = await run(['--rights', 'claim', '--block', '102'], owners);
      expect([code, stderr]).toEqual([
        0,
        `5 owners: 1 by v2, 1 by v1, 1 by exclusive wallets, 2 without a delegation.\n2 claimants, 21 in all.\nChain 1: block 102 (${new Date(1000 * timeOf(102)).toISOString().replace('.000', '')})\n`,
      ]);
      const since = `since 101, ${new Date(1000 * timeOf(101)).toISOString().replace('.000', '')}`;
      expect(stdout).toBe(
        [
          'claimant,amount,owners,reason',
          `${checksummed(EVE)},18,4,"${checksummed(ADA)}: v2 CONTRACT for claim on chain 1 ${since}; ${checksummed(BEN)}: v1 ALL on chain 1 ${since}; ${checksummed(CLEO)}: v2 ALL for claim (never expires), exclusive on chain 1 ${since}; ${checksummed(EVE)}: no delegation"`,
          `${checksummed(HOT)},3,1,${checksummed(HOT)}: no delegation`,
          '',
        ].join('\n'),
      );
    });

    test('by vault, each owner claims for itself and its delegate is the reason', async () => {
      const { stdout } = await run(['--to', 'vault', '--block', '102'], `owner\n${ADA}\n${EVE}\n`);
      const [, first, second] = stdout.split('\n');
      expect(first).toStartWith(
        `${checksummed(ADA)},1,1,"${checksummed(ADA)}: delegated to ${checksummed(HOT)}, v2 ALL on chain 1`,
      );
      expect(second).toBe(`${checksummed(EVE)},1,1,${checksummed(EVE)}: no delegation`);
    });

    test('of two chains, the first on which an owner has delegated decides; the tree is that of the list', async () => {
      const owners = `owner,amount\n${people.map((person, of) => `${person},${of + 1}`).join('\n')}\n`;
      let compared = 0;
      for (const [order, at] of [
        ['1,8453', [0, 1]],
        ['8453,1', [1, 0]],
        ['8453', [1]],
      ] as const) {
        const tree = temporaryPath('tree.json');
        const args = [
          '--delegation-chain',
          order,
          '--time',
          String(timeOf(103)),
          '--rights',
          'text:claim',
          '--tree',
          tree,
        ];
        const { code, stdout, stderr } = await run(args, owners);
        expect([code, [...(stderr.match(/Chain \d+: block \d+/g) ?? [])]]).toEqual([
          0,
          (order === '8453' ? [0, 1] : at).map((chain) => `Chain ${[1, 8453][chain]}: block ${[103, 102][chain]}`),
        ]);
        const expected = new Map<string, bigint>();
        for (const [position, owner] of people.entries()) {
          let chosen: Delegation | null = null;
          for (const chain of at) {
            const { list } = chains[chain] as (typeof chains)[0];
            const lists = { 1: await list(103, owner, 1, 'outgoing'), 2: await list(103, owner, 2, 'outgoing') };
            chosen ??= chosenGrant(lists, { contract: CONTRACT, rights: CLAIM, now: timeOf(103) });
          }
          const claimant = chosen?.to ?? owner;
          expected.set(claimant, (expected.get(claimant) ?? 0n) + BigInt(position + 1));
          if (chosen !== null) compared++;
        }
        const rows = stdout
          .trimEnd()
          .split('\n')
          .slice(1)
          .map((row) => row.split(',').slice(0, 2));
        const sorted = [...expected]
          .sort()
          .map(([claimant, amount]) => [checksummed(claimant as Address), String(amount)]);
        expect(rows).toEqual(sorted);
        const loaded = StandardMerkleTree.load<[Address, string]>(await Bun.file(tree).json());
        expect(stderr).toContain(`Root: ${loaded.root}\n`);
        expect([...loaded.entries()].map(([, [claimant, amount]]) => [checksummed(claimant), amount])).toEqual(sorted);
      }
      expect(compared).toBeGreaterThan(15);
    });

    test('a file of proofs is about one chain', async () => {
      const prove = ['--delegation-chain', '1,8453', '--time', String(timeOf(103)), '--prove', temporaryPath('bundle')];
      const { code, stdout, stderr } = await run(prove, `owner\n${people.join('\n')}\n`);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('owners have chosen on several')]);
    });

    test('an owner that is not certain prevents the whole list', async () => {
      const tree = temporaryPath('tree.json');
      const { code, stdout, stderr } = await run(['--block', '105', '--tree', tree], `owner\n${ADA}\n${DORA}\n`);
      expect([code, stdout, existsSync(tree)]).toEqual([2, '', false]);
      expect(stderr).toContain(`A revocation of ${DORA} could not be read`);
      // Before the revocation it was certain.
      expect((await run(['--block', '103'], `owner\n${ADA}\n${DORA}\n`)).stdout).toContain(`${checksummed(HOT)},1,1`);
    });
  });
}

describe('mistakes', () => {
  let url = '';
  beforeAll(async () => {
    url = `sqlite:${temporaryPath('allowlist.db')}`;
    const store = await openStore(url);
    await (await newChain(store, 1)).add([block(101), block(105)], { verified: 105 });
    await store.close();
  });
  const stderrOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(['allowlist', ...args], { DATABASE_URL: url });
    expect([code, stdout]).toEqual([2, '']);
    return stderr;
  };
  const with_ = (content: string, ...more: string[]) =>
    stderrOf('--contract', CONTRACT, '--owners', fileOf(content), ...more);
  const big = `${ADA},${2n ** 256n - 1n}`;

  for (const [what, content, detail] of [
    ['an empty file', '', 'has no owners'],
    ['only a header', 'owner\n', 'has no owners'],
    ['no column of owners', 'x,amount\n', 'has no column owner. It is: x,amount'],
    ['two columns of owners', 'owner,Wallet\n', 'two columns for owner'],
    ['an address that is none', `owner\n${ADA}\n0x12\n`, 'Row 3'],
    ['a bad checksum', `owner\n0x${'aB'.repeat(20)}\n`, 'checksum'],
    ['the zero address', `owner\n${address(0)}\n`, 'zero address'],
    ['an amount that is none', `owner,amount\n${ADA},1.5\n`, 'the amount must be an integer'],
    ['an amount that is missing', `owner,amount\n${ADA}\n`, 'the amount must be an integer'],
    ['amounts that do not fit', `owner,amount\n${big}\n${big}\n`, 'more than 2^256-1'],
  ] as const)
    test(what, async () => {
      expect(await with_(content, '--block', '105')).toContain(detail);
    });

  test('options', async () => {
    const owners = `owner\n${ADA}\n`;
    expect(await stderrOf('--contract', CONTRACT)).toContain('--owners is required');
    expect(await stderrOf('--owners', 'x.csv')).toContain('--contract is required');
    expect(await stderrOf('--contract', CONTRACT, '--owners', '/nowhere.csv')).toContain('File not found');
    expect(await with_(owners, '--rights', 'x'.repeat(33))).toContain('--rights');
    expect(await with_(owners, '--block', '105', '--time', '5')).toContain('cannot be combined');
    expect(await with_(owners, '--chain', '10', '--block', '105')).toContain('10 is not served');
    expect(await with_(owners, '--delegation-chain', '1,8453', '--block', '105')).toContain('8453 is not served');
    expect(await with_(owners, '--delegation-chain', 'served')).toContain('--delegation-chain must be chain ids');
    expect(await with_(owners, '--block', '99')).toContain('indexed from block 100 on');
    // No follower runs: the newest block is old.
    expect(await with_(owners)).toContain('stale');
    expect(await with_(owners, '--block', '105', '--tree', '/nowhere/tree.json')).toContain(
      'The tree cannot be written',
    );
  });
});

test('100,000 owners from the store', async () => {
  const url = `sqlite:${temporaryPath('many-owners.db')}`;
  const store = await openStore(url);
  const chain = await newChain(store, 1);
  const random = createRandom(2);
  const owners = Array.from({ length: 100_000 }, (_, of) => address(0x100000 + of));
  for (let from = 0, number = 101; from < owners.length; from += 20_000, number++) {
    const grants = owners
      .slice(from, from + 20_000)
      .flatMap((owner) =>
        below(random, 2) === 0 ? [] : [granted('ALL', { from: owner, to: address(0x900000 + below(random, 50_000)) })],
      );
    await chain.add([block(number, grants)], { verified: number - 1 });
  }
  await chain.add([block(110)], { verified: 110 });
  await store.close();
  const began = performance.now();
  const tree = temporaryPath('tree.json');
  const args = ['allowlist', '--contract', CONTRACT, '--owners', fileOf(`owner\n${owners.join('\n')}\n`)];
  const { code, stdout, stderr } = await runCommand([...args, '--block', '110', '--tree', tree], { DATABASE_URL: url });
  console.log(`100,000 owners: ${Math.round((performance.now() - began) / 1000)} s`);
  expect([code, stderr]).toEqual([0, expect.stringContaining('100000 owners: ')]);
  const amounts = stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => Number(row.split(',')[1]));
  expect(amounts.reduce((sum, one) => sum + one, 0)).toBe(100_000);
}, 300_000);
