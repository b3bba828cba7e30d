import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Fault } from '../api/params.ts';
import type { DelegationRecord } from '../api/responses.ts';
import { type Address, type DelegationKey, KINDS, KINDS_OF, type Kind, NO_RIGHTS } from '../registry/delegation.ts';
import { ALL_VERSIONS, hasRights, type Version } from '../registry/versions.ts';
import { grantId, grantIdOf, readGrantId, revokeLink } from './grant-id.ts';

const FROM: Address = `0x${'a1'.repeat(20)}`;
const TO: Address = `0x${'b2'.repeat(20)}`;
const CONTRACT: Address = `0x${'c3'.repeat(20)}`;
const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;

const RECORD: DelegationRecord = {
  type: 'TOKEN',
  version: 2,
  from: FROM,
  to: TO,
  contract: CONTRACT,
  tokenId: '7',
  standard: 'ERC1155',
  rights: VOTE,
  rightsText: 'vote',
  rightsName: null,
  rightsId: `0x${'0'.repeat(48)}`,
  expires: null,
  amount: '3',
  chainId: 10,
  since: { block: 1, timestamp: 1, transactionHash: VOTE, logIndex: 0 },
};

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((of) => `0x${of.toHex()}` as const);
const keys = fc
  .constantFrom(...ALL_VERSIONS.flatMap((version) => KINDS_OF[version].map((kind) => [version, kind] as const)))
  .chain(([version, kind]: readonly [Version, Kind]) =>
    fc.record({
      version: fc.constant(version),
      kind: fc.constant(kind),
      from: fc.constant(FROM),
      to: hex(20),
      contract: KINDS[kind].contract ? hex(20) : fc.constant(null),
      tokenId: KINDS[kind].tokenId ? fc.bigInt(0n, 2n ** 256n - 1n) : fc.constant(null),
      rights: hasRights(version) ? fc.oneof(fc.constant(NO_RIGHTS), fc.constant(VOTE), hex(32)) : fc.constant(null),
    }),
  );

describe('the id of a grant', () => {
  test('is read back as the same grant', () => {
    fc.assert(fc.property(keys, (key: DelegationKey) => expect(readGrantId(grantIdOf(key), FROM)).toEqual(key)));
  });

  test('names everything but the amount', () => {
    expect(grantId(RECORD)).toBe(`v2.ERC1155.${TO}.${CONTRACT}.7.0x766f7465`);
    expect(revokeLink(FROM, RECORD)).toBe(`/revoke?wallet=${FROM}&chain=10&grant=${grantId(RECORD)}`);
  });

  test('is not made from a number, which may have lost digits', () => {
    expect(() => grantId({ ...RECORD, tokenId: 2 ** 60 })).toThrow(TypeError);
  });

  test.each([
    ['', 'must begin with'],
    ['v3.ALL.0x', 'must begin with'],
    [`v1.ERC721.${TO}`, 'must begin with'],
    [`v2.__proto__.${TO}`, 'must begin with'],
    ['v2.ALL', 'must be an address'],
    [`v2.CONTRACT.${TO}`, 'must be an address'],
    [`v1.TOKEN.${TO}.${CONTRACT}`, 'must be a token id'],
    [`v1.TOKEN.${TO}.${CONTRACT}.${2n ** 256n}`, 'at most 2^256-1'],
    [`v2.ALL.${TO}.0x1`, 'a right of 1 to 32 bytes'],
    [`v2.ALL.${TO}.0x${'1'.repeat(66)}`, 'a right of 1 to 32 bytes'],
    [`v1.ALL.${TO}.0x12`, 'more parts'],
    [`v2.ALL.${TO}.0x12.5`, 'more parts'],
  ])('%p is refused', (text, detail) => {
    const fault = readGrantId(text, FROM);
    expect(fault).toBeInstanceOf(Fault);
    expect((fault as Fault).detail).toContain(detail);
  });
});
