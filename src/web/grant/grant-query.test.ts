// What the form and the links of the grant page mean, and what is wrong with them.

import { describe, expect, test } from 'bun:test';
import { address, COLD, CONTRACT, delegation, HOT } from '../../../test/support/fixtures.ts';
import { MAX_UINT256, NO_RIGHTS, ZERO_ADDRESS } from '../../registry/delegation.ts';
import { expiringRights, GLOBAL_ID, rightsIdOf, rightsOf } from '../../registry/rights.ts';
import { type Field, grantPaths, readGrantQuery } from './grant-query.ts';

const NOW = Date.UTC(2026, 0, 15) / 1000;
const LAST_SECOND = Date.UTC(2027, 0, 31, 23, 59, 59) / 1000;

const read = (query: string) => readGrantQuery(query, [1, 8453], NOW);
const form = (values: Partial<Record<Field, string>>) =>
  read(String(new URLSearchParams({ wallet: COLD, chain: '1', to: HOT, kind: 'all', ...values, review: 'yes' })));
const contract = CONTRACT;

describe('the form', () => {
  test('describes every kind, always in the second registry', () => {
    for (const [values, grant] of [
      [{}, delegation('ALL')],
      [{ kind: 'contract', contract }, delegation('CONTRACT')],
      [{ kind: 'erc721', contract, tokenId: '7' }, delegation('ERC721')],
      [{ kind: 'erc20', contract, amount: '100' }, delegation('ERC20')],
      [{ kind: 'erc20', contract, amount: ' Any ' }, delegation('ERC20', { amount: MAX_UINT256 })],
      [{ kind: 'erc1155', contract, tokenId: '7', amount: '100' }, delegation('ERC1155')],
      [{ right: 'vote' }, delegation('ALL', { rights: rightsOf('vote') ?? NO_RIGHTS })],
      [{ right: NO_RIGHTS }, delegation('ALL')],
      [{ until: '2027-01-31' }, delegation('ALL', { rights: expiringRights(GLOBAL_ID, LAST_SECOND) })],
      [
        { right: 'vote', until: '2027-01-31' },
        delegation('ALL', { rights: expiringRights(rightsIdOf(rightsOf('vote') ?? NO_RIGHTS), LAST_SECOND) }),
      ],
    ] as const)
      expect(form(values)).toMatchObject({ grants: [grant], wrong: new Map(), faults: [] });
  });

  test('says what is wrong with each field, and then grants nothing', () => {
    for (const [values, field, text] of [
      [{ wallet: '' }, 'wallet', 'Enter an address.'],
      [{ to: 'ada.eth' }, 'to', 'This is a name.'],
      [{ to: COLD }, 'to', 'This is your own wallet'],
      [{ to: ZERO_ADDRESS }, 'to', 'Nobody has the key'],
      [{ chain: '10' }, 'chain', 'does not follow this chain'],
      [{ kind: 'house' }, 'kind', 'Choose what it may act for.'],
      [{ kind: 'constructor' }, 'kind', 'Choose what it may act for.'],
      [{ kind: 'contract' }, 'contract', 'Enter an address.'],
      [{ contract }, 'contract', 'it would cover more'],
      [{ kind: 'contract', contract, tokenId: '7' }, 'tokenId', 'it would cover more'],
      [{ kind: 'erc721', contract, tokenId: '-1' }, 'tokenId', 'Enter a token id'],
      [{ kind: 'erc20', contract, amount: '0' }, 'amount', 'Enter how much'],
      [{ kind: 'erc20', contract, amount: '1.5' }, 'amount', 'Enter how much'],
      [{ kind: 'erc20', contract, amount: `${MAX_UINT256 + 1n}` }, 'amount', 'Enter how much'],
      [{ until: '2026-02-31x' }, 'until', 'Enter a date'],
      [{ until: '2026-01-14' }, 'until', 'This day is over.'],
      [{ right: 'x'.repeat(33) }, 'right', 'This must be at most 32 bytes of text.'],
      [{ right: 'x'.repeat(25), until: '2027-01-31' }, 'right', 'room for 24 bytes'],
      [{ right: '0x12' }, 'right', 'must be a bytes32'],
    ] as const) {
      const { grants, wrong } = form(values);
      expect([values, wrong.get(field)]).toEqual([values, expect.stringContaining(text)]);
      expect(grants).toEqual([]);
    }
  });

  test('is not judged before it is sent', () => {
    expect(read(`wallet=${COLD}`)).toMatchObject({ wallet: COLD, wrong: new Map(), grants: [] });
    expect(read('')).toMatchObject({ wallet: null, wrong: new Map(), grants: [] });
    expect(read('wallet=0x12').wrong.get('wallet')).toContain('38 too few');
    expect(read('walet=x').faults).toHaveLength(1);
  });
});

describe('a link', () => {
  const every = [
    delegation('ALL', { version: 1 }),
    delegation('TOKEN'),
    delegation('ERC721'),
    delegation('ERC20', { amount: MAX_UINT256, rights: rightsOf('vote') }),
    delegation('ERC1155'),
  ];

  test('names exactly the grants that it was made of, in parts that fit', () => {
    const [path = '', ...others] = grantPaths(COLD, 1, every);
    expect(others).toEqual([]);
    expect(read(path.split('?')[1] ?? '')).toMatchObject({ grants: every, wrong: new Map(), faults: [] });
    const longest = Array.from({ length: 21 }, (_, id) =>
      delegation('ERC1155', {
        to: address(id),
        tokenId: MAX_UINT256,
        amount: MAX_UINT256,
        rights: `0x${'ab'.repeat(32)}`,
      }),
    );
    const paths = grantPaths(COLD, 1, longest);
    expect(paths.flatMap((one) => read(one.split('?')[1] ?? '').grants)).toEqual(longest);
    for (const one of paths) expect(one.length).toBeLessThan(7900);
    expect(grantPaths(COLD, 1, [])).toEqual([]);
  });

  test.each([
    [`v2.ERC20.${HOT}.${CONTRACT}`, 'must have its amount at the end'],
    [`v2.ERC20.${HOT}.${CONTRACT}~0`, 'must have its amount at the end'],
    ['v2.ALL.0x12', 'must be an address'],
    [`v1.ALL.${HOT}`, 'is of a registry that is not on this chain'],
  ])('with %s grants nothing', (id, text) => {
    const { grants, faults } = read(`wallet=${COLD}&chain=8453&grant=${id}&grant=v2.ALL.${HOT}`);
    expect(grants).toEqual([]);
    expect(faults[0]?.detail).toContain(text);
  });
});
