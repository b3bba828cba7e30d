// The readers of a feed by what they asked for, so that a change is not compared with the filter of every reader.

import type { DelegationKey } from '../registry/delegation.ts';
import type { ChangesFilter } from '../store/store.ts';
import type { Feed } from './feed.ts';

/** One of the filters of a reader: what does not have it is not wanted. */
function keyOf({ wallet, from, to, contract }: ChangesFilter): string {
  if (wallet !== undefined) return `wallet ${wallet}`;
  if (from !== undefined) return `from ${from}`;
  if (to !== undefined) return `to ${to}`;
  return contract === undefined ? 'all' : `contract ${contract}`;
}

const keysOf = ({ from, to, contract }: DelegationKey) =>
  // A wallet can delegate to itself.
  new Set(['all', `wallet ${from}`, `wallet ${to}`, `from ${from}`, `to ${to}`, `contract ${contract}`]);

export function createFeedMembers<Member extends { readonly feed: Pick<Feed, 'filter'> }>() {
  const members = new Set<Member>();
  const byKey = new Map<string, Set<Member>>();
  return {
    all: members as ReadonlySet<Member>,
    add(member: Member): void {
      const key = keyOf(member.feed.filter);
      members.add(member);
      byKey.set(key, (byKey.get(key) ?? new Set()).add(member));
    },
    delete(member: Member): void {
      const key = keyOf(member.feed.filter);
      members.delete(member);
      byKey.get(key)?.delete(member);
      if (byKey.get(key)?.size === 0) byKey.delete(key);
    },
    /** Those that may want the delegation, each once. They may have further filters. */
    *near(delegation: DelegationKey): Generator<Member> {
      for (const key of keysOf(delegation)) yield* byKey.get(key) ?? [];
    },
  };
}

export type FeedMembers<Member extends { readonly feed: Pick<Feed, 'filter'> }> = ReturnType<
  typeof createFeedMembers<Member>
>;
