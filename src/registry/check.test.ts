import { describe, expect, test } from 'bun:test';
import { COLD, CONTRACT, delegation, HOT } from '../../test/support/fixtures.ts';
import { answer, grantingKeys, type Question } from './check.ts';
import { type Delegation, MAX_UINT256, NO_RIGHTS, sameDelegation } from './delegation.ts';

const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;
const AIRDROP = `0x${'61697264726f70'.padEnd(64, '0')}` as const;
const pair = { from: COLD, to: HOT };
const token = { contract: CONTRACT, tokenId: 7n };
const v2 = { version: 2, ...pair, rights: NO_RIGHTS } as const;

const ask = (question: Question, ...held: Delegation[]) =>
  answer(
    question,
    held.filter((one) => grantingKeys(question).some((key) => sameDelegation(key, one))),
  );

describe('a v1 check', () => {
  const all = delegation('ALL', { version: 1 });
  const contract = delegation('CONTRACT', { version: 1 });
  const one = delegation('TOKEN');

  test('a broader delegation satisfies a narrower check, never the other way round', () => {
    const table = (['all', 'contract', 'token'] as const).map((scope) =>
      [all, contract, one].map((held) => ask({ version: 1, ...pair, scope, ...token } as Question, held)),
    );
    expect(table).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
  });

  test('another token, contract or wallet is not delegated', () => {
    const asks = { version: 1, ...pair, scope: 'token', ...token } as const;
    expect(ask({ ...asks, tokenId: 8n }, one)).toBe(false);
    expect(ask({ ...asks, contract: HOT }, one, contract)).toBe(false);
    expect(ask({ ...asks, from: HOT, to: COLD }, all)).toBe(false);
    expect(ask(asks, delegation('ERC721'), delegation('ALL'))).toBe(false);
  });
});

describe('a v2 check', () => {
  test('an unrestricted delegation satisfies every right', () => {
    expect(ask({ ...v2, scope: 'all', rights: VOTE }, delegation('ALL'))).toBe(true);
  });

  test('a limited delegation satisfies its own right only, and never the check without rights', () => {
    const held = delegation('ALL', { rights: VOTE });
    expect(ask({ ...v2, scope: 'all', rights: VOTE }, held)).toBe(true);
    expect(ask({ ...v2, scope: 'all', rights: AIRDROP }, held)).toBe(false);
    expect(ask({ ...v2, scope: 'all' }, held)).toBe(false);
  });

  test('a balance is the largest amount, never the sum', () => {
    const held = [delegation('ERC20', { amount: 5n }), delegation('ERC20', { amount: 9n, rights: VOTE })];
    expect(ask({ ...v2, scope: 'erc20', contract: CONTRACT, rights: VOTE }, ...held)).toBe(9n);
    expect(ask({ ...v2, scope: 'erc20', contract: CONTRACT }, ...held)).toBe(5n);
    expect(ask({ ...v2, scope: 'erc1155', ...token }, delegation('ERC1155', { amount: 4n }))).toBe(4n);
  });

  test('the whole wallet or contract gives the largest balance there is', () => {
    const some = delegation('ERC20', { amount: 5n });
    expect(ask({ ...v2, scope: 'erc20', contract: CONTRACT }, some, delegation('ALL'))).toBe(MAX_UINT256);
    expect(ask({ ...v2, scope: 'erc1155', ...token }, delegation('CONTRACT'))).toBe(MAX_UINT256);
  });

  test('without a delegation the balance is 0', () => {
    expect(ask({ ...v2, scope: 'erc20', contract: CONTRACT })).toBe(0n);
  });

  test('kinds of token do not cross', () => {
    expect(ask({ ...v2, scope: 'erc1155', ...token }, delegation('ERC721'))).toBe(0n);
    expect(ask({ ...v2, scope: 'erc721', ...token }, delegation('ERC1155'))).toBe(false);
    expect(ask({ ...v2, scope: 'erc20', contract: CONTRACT }, delegation('ERC1155'))).toBe(0n);
  });

  test('never more than six delegations decide', () => {
    expect(grantingKeys({ ...v2, scope: 'erc721', ...token, rights: VOTE })).toHaveLength(6);
  });
});

test('the v2 registry grants nothing from the addresses 0 and 1, which v1 does', () => {
  for (const last of ['0', '1', '2']) {
    const from = `0x${last.padStart(40, '0')}` as const;
    const isGranted = [
      ask({ ...v2, from, scope: 'all' }, delegation('ALL', { from })),
      ask({ version: 1, ...pair, from, scope: 'all' }, delegation('ALL', { version: 1, from })),
    ];
    expect([last, isGranted]).toEqual([last, [last === '2', true]]);
  }
});
