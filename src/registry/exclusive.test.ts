// The order of classes against the walk that the rules describe.

import { describe, expect, test } from 'bun:test';
import { walkedGrant } from '../../test/support/exclusive-truth.ts';
import { address, delegation } from '../../test/support/fixtures.ts';
import { below, createRandom, pickFrom } from '../../test/support/random.ts';
import type { Bytes32, Delegation } from './delegation.ts';
import { changesAt, decidingGrant, exclusiveClasses, expiryIn } from './exclusive.ts';
import { GLOBAL_ID, NEVER, type RightsId } from './rights.ts';

const [ONE, OTHER] = ['11', '22'].map((byte): RightsId => `0x${byte.repeat(24)}`) as [RightsId, RightsId];
const IDS = [GLOBAL_ID, ONE, OTHER];
const [COLLECTION, ELSEWHERE] = [1, 2].map(address) as [`0x${string}`, `0x${string}`];
const TOKENS = [null, { contract: COLLECTION, tokenId: 7n }, { contract: COLLECTION, tokenId: 0n }];
const rightsOf = (id: RightsId, expiry: number, ignored = '000000'): Bytes32 =>
  `${id}${ignored}${expiry.toString(16).padStart(10, '0')}`;

function expectWalked(list: readonly Delegation[], now: number): void {
  for (const id of IDS) {
    for (const token of TOKENS) {
      const found = decidingGrant(list, exclusiveClasses(id, token), now);
      expect(found).toBe(walkedGrant(list, { id, token, now }));
    }
  }
}

const KINDS: readonly Partial<Delegation>[] = [
  { kind: 'ALL' },
  { kind: 'CONTRACT', contract: COLLECTION },
  { kind: 'ERC721', contract: COLLECTION, tokenId: 7n },
  { kind: 'CONTRACT', contract: ELSEWHERE },
  { kind: 'ERC20', contract: COLLECTION },
  { kind: 'ERC1155', contract: COLLECTION, tokenId: 7n },
];
const grantOf = (fields: Partial<Delegation>, rights: Bytes32) =>
  delegation(fields.kind ?? 'ALL', { ...fields, rights });

describe('the deciding grant', () => {
  test('is that of the walk for every list of up to three grants that count', () => {
    const all = KINDS.slice(0, 4).flatMap((fields) => IDS.map((id) => grantOf(fields, rightsOf(id, NEVER))));
    const lists = (length: number): Delegation[][] =>
      length === 0 ? [[]] : lists(length - 1).flatMap((list) => all.map((one) => [...list, { ...one }]));
    for (const length of [0, 1, 2, 3]) for (const list of lists(length)) expectWalked(list, 5);
  });

  test('is that of the walk for random lists with expiries around the time', () => {
    const random = createRandom(7);
    for (let run = 0; run < 5000; run++) {
      const list = Array.from({ length: below(random, 12) }, () => {
        const expiry = pickFrom(random, [0, 9, 10, 11, NEVER]);
        return grantOf(
          pickFrom(random, KINDS),
          rightsOf(pickFrom(random, IDS), expiry, pickFrom(random, ['000000', 'abcdef'])),
        );
      });
      expectWalked(list, 10);
    }
  });

  test('counts in its last second, and what it says changes in the next', () => {
    const grant = grantOf({ kind: 'ALL' }, rightsOf(ONE, 10));
    const at = (now: number) => decidingGrant([grant], exclusiveClasses(ONE, null), now);
    expect([at(10), at(11)]).toEqual([grant, null]);
    expect([expiryIn(grant), changesAt(expiryIn(grant))]).toEqual([10, 11]);
    const forever = grantOf({ kind: 'ALL' }, rightsOf(ONE, NEVER));
    expect([expiryIn(forever), changesAt('never'), changesAt(null)]).toEqual(['never', null, null]);
  });
});
