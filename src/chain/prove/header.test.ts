import { describe, expect, test } from 'bun:test';
import vectors from '../../../test/vectors/headers.json' with { type: 'json' };
import { stateRootOf } from '../../proof/answer-proof.ts';
import { encodeRlp, toQuantity } from '../../proof/rlp.ts';
import { hexOf } from '../../registry/bytes.ts';
import type { Bytes32 } from '../../registry/delegation.ts';
import { keccak } from '../../registry/keccak.ts';
import type { Json } from '../rpc/node.ts';
import { encodeHeader } from './header.ts';

test.each(vectors.map((one) => [`${one.chain} ${one.number}`, one] as const))(
  '%s',
  (_, { header, comesOut: expected }) => {
    expect(encodeHeader(header as Json) !== null).toBe(expected !== false);
  },
);

test('whoever has the hash alone finds the state in each of them', () => {
  let found = 0;
  for (const { header, chain } of vectors) {
    const rlp = encodeHeader(header as Json);
    if (rlp === null) continue;
    const { number, hash, timestamp, stateRoot } = header as Record<string, string>;
    const block = { number: Number(number), hash: hash as Bytes32, timestamp: Number(timestamp) };
    expect([chain, stateRootOf(hexOf(rlp), block, block.hash)]).toEqual([chain, stateRoot as Bytes32]);
    found++;
  }
  expect(found).toBeGreaterThan(20);
});

describe('extra data', () => {
  const [root, empty] = [`0x${'11'.repeat(32)}`, new Uint8Array(32)];
  const fields = { parentHash: root, sha3Uncles: root, miner: `0x${'22'.repeat(20)}`, stateRoot: root };
  const bytesOf = (hex: string) => Uint8Array.fromHex(hex.slice(2));
  /** A header whose time is in milliseconds, or one as most chains have. */
  const withExtra = (bytes: number, isUsual: boolean) => {
    const block = { ...fields, transactionsRoot: root, receiptsRoot: root, logsBloom: `0x${'00'.repeat(256)}` };
    const [extraData, nonce] = [`0x${'33'.repeat(bytes)}`, '0x0000000000000000'];
    const numbers = [0, 7, 30_000_000, 0, isUsual ? 1_700_000_000 : 1_700_000_000_123].map(toQuantity);
    const hashed = [...Object.values(block).map(bytesOf), ...numbers, bytesOf(extraData), empty, bytesOf(nonce)];
    const shown = { difficulty: '0x0', number: '0x7', gasLimit: '0x1c9c380', gasUsed: '0x0', timestamp: '0x6553f100' };
    const mix = isUsual ? { mixHash: `0x${'00'.repeat(32)}` } : {};
    return { ...block, ...shown, ...mix, extraData, nonce, hash: keccak(encodeRlp(hashed)) };
  };
  test.each([
    ['a header of the kind that is tried a thousand times', 32, false],
    ['a header', 100_000, true],
  ] as const)('%s comes out with %d bytes, and not with more', (_, most, isUsual) => {
    expect([most, most + 1].map((bytes) => encodeHeader(withExtra(bytes, isUsual)) !== null)).toEqual([true, false]);
  });
});
