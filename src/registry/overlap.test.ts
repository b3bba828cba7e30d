import { describe, expect, test } from 'bun:test';
import { delegation } from '../../test/support/fixtures.ts';
import { type Delegation, delegationId } from './delegation.ts';
import { idsThatGrantTheSame } from './overlap.ts';

const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;
const PLAY = `0x${'706c6179'.padEnd(64, '0')}` as const;
const GRANTS = {
  'v1 all': delegation('ALL', { version: 1 }),
  'v1 contract': delegation('CONTRACT', { version: 1 }),
  'v1 token': delegation('TOKEN'),
  'v2 all': delegation('ALL'),
  'v2 all, vote': delegation('ALL', { rights: VOTE }),
  'v2 contract': delegation('CONTRACT'),
  'v2 contract, play': delegation('CONTRACT', { rights: PLAY }),
  'v2 erc721': delegation('ERC721'),
  'v2 erc721, vote': delegation('ERC721', { rights: VOTE }),
  'v2 erc1155': delegation('ERC1155'),
  'v2 erc20': delegation('ERC20'),
} as const;
type Name = keyof typeof GRANTS;

/** The names of all grants that give what this one gives. */
const sameAs = (name: Name) => {
  const ids = idsThatGrantTheSame(GRANTS[name]);
  return (Object.keys(GRANTS) as Name[]).filter((one) => one !== name && ids.has(delegationId(GRANTS[one])));
};

describe('what gives the same as a delegation', () => {
  test.each<[Name, Name[]]>([
    ['v1 all', ['v2 all']],
    ['v2 all', ['v1 all']],
    ['v2 all, vote', ['v1 all', 'v2 all']],
    ['v1 contract', ['v1 all', 'v2 all', 'v2 contract']],
    ['v2 contract, play', ['v1 all', 'v1 contract', 'v2 all', 'v2 contract']],
    ['v1 token', ['v1 all', 'v1 contract', 'v2 all', 'v2 contract', 'v2 erc721', 'v2 erc1155']],
    ['v2 erc721', ['v1 all', 'v1 contract', 'v1 token', 'v2 all', 'v2 contract']],
    ['v2 erc721, vote', ['v1 all', 'v1 contract', 'v1 token', 'v2 all', 'v2 all, vote', 'v2 contract', 'v2 erc721']],
    ['v2 erc1155', ['v1 all', 'v1 contract', 'v1 token', 'v2 all', 'v2 contract']],
    ['v2 erc20', ['v1 all', 'v1 contract', 'v2 all', 'v2 contract']],
  ])('%s: %p', (name, same) => {
    expect(sameAs(name)).toEqual(same);
  });

  test('a grant to another wallet, or of another contract or token, does not', () => {
    const { 'v2 erc721': grant } = GRANTS;
    const others: Partial<Delegation>[] = [
      { to: `0x${'99'.repeat(20)}` },
      { contract: `0x${'98'.repeat(20)}` },
      { tokenId: 99n },
    ];
    const ids = idsThatGrantTheSame(grant);
    for (const other of others) expect(ids.has(delegationId({ ...grant, ...other }))).toBe(false);
  });
});
