import { expect, test } from 'bun:test';
import vectors from '../../../test/vectors/headers.json' with { type: 'json' };
import { type BlockJson, comesOut } from './header.ts';
import { keccak } from './keccak.ts';
import { encodeRlp, toQuantity } from './rlp.ts';

test.each(vectors.map((one) => [`${one.chain} ${one.number}`, one] as const))(
  '%s',
  (_, { header, comesOut: expected }) => {
    expect(comesOut(header as BlockJson)).toBe(expected !== false);
  },
);

test('a header of the kind that is tried a thousand times comes out only with little extra data', () => {
  const [root, empty] = [`0x${'11'.repeat(32)}`, new Uint8Array(32)];
  const fields = { parentHash: root, sha3Uncles: root, miner: `0x${'22'.repeat(20)}`, stateRoot: root };
  const bytesOf = (hex: string) => Uint8Array.fromHex(hex.slice(2));
  const withExtra = (bytes: number) => {
    const block = { ...fields, transactionsRoot: root, receiptsRoot: root, logsBloom: `0x${'00'.repeat(256)}` };
    const [extraData, nonce] = [`0x${'33'.repeat(bytes)}`, '0x0000000000000000'];
    const numbers = [0, 7, 30_000_000, 0, 1_700_000_000_123].map(toQuantity);
    const hashed = [...Object.values(block).map(bytesOf), ...numbers, bytesOf(extraData), empty, bytesOf(nonce)];
    const shown = { difficulty: '0x0', number: '0x7', gasLimit: '0x1c9c380', gasUsed: '0x0', timestamp: '0x6553f100' };
    return { ...block, ...shown, extraData, nonce, hash: keccak(encodeRlp(hashed)) };
  };
  expect(comesOut(withExtra(32))).toBe(true);
  expect(comesOut(withExtra(33))).toBe(false);
});
