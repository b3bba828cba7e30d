// Parses lists from HTTP responses.

import type { Address, Bytes32, Delegation } from '../../src/registry/delegation.ts';

/** Parses records in full detail into delegations. */
export function delegationsOf(text: string, version: 1 | 2): Delegation[] {
  const lower = (address: string) => address.toLowerCase() as Address;
  const uint = (digits: string | null) => (digits === null ? null : BigInt(digits));
  return (JSON.parse(text) as Record<string, string | null>[]).map((record) => {
    const [from, to] = version === 1 ? [record['vault'], record['delegate']] : [record['from'], record['to']];
    return {
      version,
      kind: (record['standard'] ?? record['type']) as Delegation['kind'],
      from: lower(from as string),
      to: lower(to as string),
      contract: record['contract'] == null ? null : lower(record['contract']),
      tokenId: uint(record['tokenId'] ?? null),
      rights: (record['rights'] ?? null) as Bytes32 | null,
      amount: uint(record['amount'] ?? null),
    };
  });
}
