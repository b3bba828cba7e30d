import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { blockInput, RECORDINGS } from '../../../test/support/vectors.ts';
import type { Bytes32 } from '../../registry/delegation.ts';
import { decodeRights, decodeUint, encodeRights, encodeUint } from './cells.ts';
import { columns } from './columns.ts';
import { KEY } from './key-columns.ts';
import { encodeEvent, eventDecoder } from './log-row.ts';

test('every uint256 comes back, in as few bytes as it needs', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 256n - 1n), (value) => {
      const bytes = encodeUint(value);
      expect(decodeUint(bytes)).toBe(value);
      expect(bytes[0]).not.toBe(0);
    }),
  );
  expect(encodeUint(0n)).toHaveLength(0);
});

test('every bytes32 of rights comes back', () => {
  const hex = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): Bytes32 => `0x${bytes.toHex()}`);
  const short = fc.uint8Array({ maxLength: 32 }).map((bytes): Bytes32 => `0x${bytes.toHex().padEnd(64, '0')}`);
  fc.assert(fc.property(fc.oneof(hex, short), (rights) => expect(decodeRights(encodeRights(rights))).toBe(rights)));
});

test('every recorded event comes back from its columns', () => {
  const decodeEvent = eventDecoder(columns('version', ...KEY.names, 'amount').col);
  for (const { blocks } of RECORDINGS) {
    for (const { event } of blocks.flatMap((block) => blockInput(block).logs)) {
      expect(decodeEvent(encodeEvent(event))).toEqual(event);
    }
  }
});
