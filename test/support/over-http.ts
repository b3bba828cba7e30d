// Sends checks and lists over HTTP and parses the responses.

import type { Question } from '../../src/registry/check.ts';
import type { Address, Bytes32, Delegation } from '../../src/registry/delegation.ts';

export function pathOf(question: Question): string {
  const query = new URLSearchParams({ [question.version === 1 ? 'delegate' : 'to']: question.to });
  query.set(question.version === 1 ? 'vault' : 'from', question.from);
  if (question.scope !== 'all') query.set('contract', question.contract);
  if ('tokenId' in question) query.set('tokenId', String(question.tokenId));
  if (question.version === 2) query.set('rights', question.rights);
  return `/registry/v${question.version}/check/${question.scope}?${query}`;
}

export const listPathOf = (version: 1 | 2, wallet: Address) =>
  `/registry/v${version}/${wallet}?detail=full&numbers=string`;

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
