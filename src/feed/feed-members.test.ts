import { expect, test } from 'bun:test';
import { address, delegation } from '../../test/support/fixtures.ts';
import { createRandom } from '../../test/support/random.ts';
import type { ChangesFilter } from '../store/store.ts';
import type { FeedEntry } from './feed.ts';
import { isWanted } from './feed.ts';
import { createFeedMembers } from './feed-members.ts';

test('every member that wants a delegation is found once, and after it left not at all', () => {
  const random = createRandom(18);
  const pick = () => address(1 + Math.floor(random() * 3));
  const maybe = () => (random() < 0.5 ? pick() : undefined);
  const filters: ChangesFilter[] = Array.from({ length: 200 }, () => ({
    wallet: maybe(),
    from: maybe(),
    to: maybe(),
    contract: maybe(),
  }));
  const all = filters.map((filter) => ({ feed: { filter } }));
  const members = createFeedMembers<(typeof all)[number]>();
  for (const member of all) members.add(member);
  let found = 0;
  for (let turn = 0; turn < 500; turn++) {
    const left = all[Math.floor(random() * all.length)];
    if (turn % 5 === 0 && left !== undefined && members.all.has(left)) members.delete(left);
    const changed = delegation(random() < 0.5 ? 'ALL' : 'CONTRACT', { from: pick(), to: pick() });
    const entry = { change: { delegation: { ...changed, contract: changed.contract && pick() } } } as FeedEntry;
    const wanted = all.filter((one) => members.all.has(one) && isWanted(entry, one.feed));
    const near = [...members.near(entry.change?.delegation ?? changed)];
    expect(new Set(near).size).toBe(near.length);
    expect(new Set(near.filter((one) => isWanted(entry, one.feed)))).toEqual(new Set(wanted));
    found += wanted.length;
  }
  expect(found).toBeGreaterThan(1000);
});
