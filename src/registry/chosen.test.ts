// The one wallet that acts for an owner against the rule as it is written.

import { describe, expect, test } from 'bun:test';
import { chosenGrant } from '../../test/support/chosen-truth.ts';
import { address, CONTRACT, delegation } from '../../test/support/fixtures.ts';
import { below, createRandom, pickFrom } from '../../test/support/random.ts';
import { chosenDelegate } from './chosen.ts';
import { type Bytes32, type Delegation, NO_RIGHTS } from './delegation.ts';
import { NEVER } from './rights.ts';

const VOTE: Bytes32 = `0x${'766f7465'.padEnd(64, '0')}`;
const until = (rights: Bytes32, expiry: number): Bytes32 =>
  `${rights.slice(0, 56)}${expiry.toString(16).padStart(10, '0')}` as Bytes32;
const [FIRST, SECOND, THIRD] = [1, 2, 3].map(address) as [`0x${string}`, `0x${string}`, `0x${string}`];
const asked = { contract: CONTRACT, rights: VOTE, now: 10 };
const choose = (lists: Record<1 | 2, Delegation[]>, of = asked) => {
  const passes = ({ kind, contract, version, rights }: Delegation) =>
    (kind === 'ALL' || (kind === 'CONTRACT' && contract === of.contract)) &&
    (version === 1 || rights === NO_RIGHTS || rights === of.rights);
  const passing = [...lists[2], ...lists[1]].filter(passes);
  return chosenDelegate({ exclusive: lists[2], passing }, { rights: of.rights as Bytes32 }, of.now);
};

describe('the chosen delegate', () => {
  test('is the last of the list of v2, before any of v1', () => {
    const lists = {
      1: [delegation('ALL', { version: 1, to: THIRD })],
      2: [delegation('ALL', { to: FIRST }), delegation('CONTRACT', { to: SECOND, rights: VOTE })],
    };
    expect(choose(lists)).toMatchObject({ delegate: SECOND, reason: 'last', grant: { kind: 'CONTRACT' } });
    expect(choose({ ...lists, 2: [] })).toMatchObject({ delegate: THIRD, reason: 'last', grant: { version: 1 } });
    expect(choose({ 1: [], 2: [] })).toBeNull();
  });

  test('is the exclusive wallet while the grant counts, whatever was granted after it', () => {
    const lists = {
      1: [],
      2: [delegation('ALL', { to: FIRST, rights: until(VOTE, 10) }), delegation('ALL', { to: SECOND })],
    };
    expect(choose(lists)).toMatchObject({ delegate: FIRST, reason: 'exclusive' });
    expect(choose(lists, { ...asked, now: 11 })).toMatchObject({ delegate: SECOND, reason: 'last' });
    expect(choose(lists, { ...asked, rights: NO_RIGHTS })).toMatchObject({ delegate: SECOND, reason: 'last' });
  });

  test('is that of the rule for random lists', () => {
    const random = createRandom(11);
    let chosen = 0;
    for (let run = 0; run < 5000; run++) {
      const make = (version: 1 | 2) => () => {
        const kind = pickFrom(random, ['ALL', 'CONTRACT', version === 1 ? 'TOKEN' : 'ERC20'] as const);
        const rights = pickFrom(random, [NO_RIGHTS, VOTE, `0x${'5'.repeat(64)}` as Bytes32]);
        const expiry = pickFrom(random, [0, 9, 10, NEVER]);
        const contract = kind === 'ALL' ? {} : { contract: pickFrom(random, [CONTRACT, THIRD]) };
        const to = address(below(random, 5));
        return delegation(kind, {
          version,
          to,
          ...contract,
          ...(version === 2 && { rights: pickFrom(random, [rights, until(rights, expiry)]) }),
        });
      };
      const lists = {
        1: Array.from({ length: below(random, 3) }, make(1)),
        2: Array.from({ length: below(random, 5) }, make(2)),
      };
      for (const rights of [VOTE, NO_RIGHTS]) {
        const expected = chosenGrant(lists, { ...asked, rights });
        expect(choose(lists, { ...asked, rights })?.grant ?? null).toBe(expected);
        if (expected !== null) chosen++;
      }
    }
    expect(chosen).toBeGreaterThan(3000);
  });
});
