// What the transactions do is compared with the calls of each grant alone.

import { expect, test } from 'bun:test';
import { delegation } from '../../test/support/fixtures.ts';
import { planGrants } from './granting.ts';
import { encodeCall, encodeMulticall, grantCall } from './registry-call.ts';

const token = (tokenId: bigint) => delegation('ERC721', { tokenId });

test('the second registry gets one multicall, the first one transaction for each grant', () => {
  const v1 = [delegation('ALL', { version: 1 }), delegation('TOKEN')];
  const v2 = [token(1n), delegation('ERC20')] as const;
  expect(planGrants([...v1, ...v2])).toEqual([
    { version: 2, grants: v2, calls: v2.map(grantCall), data: encodeMulticall([grantCall(v2[0]), grantCall(v2[1])]) },
    ...v1.map((one) => ({
      version: 1 as const,
      grants: [one],
      calls: [grantCall(one)],
      data: encodeCall(grantCall(one)),
    })),
  ]);
});

test('a single grant goes as it is, more than a block holds go in parts, and nothing needs nothing', () => {
  expect(planGrants([token(1n)])).toMatchObject([{ data: encodeCall(grantCall(token(1n))) }]);
  const parts = planGrants(Array.from({ length: 201 }, (_, id) => token(BigInt(id))));
  expect(parts.map(({ grants }) => grants.length)).toEqual([100, 100, 1]);
  expect(planGrants([])).toEqual([]);
});
