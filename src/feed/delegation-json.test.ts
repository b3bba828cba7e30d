import { describe, expect, test } from 'bun:test';
import { address, COLD, delegation, HOT } from '../../test/support/fixtures.ts';
import { type RecordFormat, recordBytes, walletBytes } from '../http/answers/record-bytes.ts';
import { checksummed } from '../registry/checksum.ts';
import type { Delegation } from '../registry/delegation.ts';
import { encodeKey } from '../store/rows/key-columns.ts';
import { encodeCasing, pack } from '../store/rows/packed.ts';
import { detailedRecordText, uint256Text } from './delegation-json.ts';

const FORMAT = { mode: 'number', hasStandardTypes: false } as const;

/** A record as the list of one of its wallets has it, from the bytes that are stored. */
function recordText(of: Delegation, format: Omit<RecordFormat, 'version' | 'wallet'>): string {
  const [incoming, outgoing] = (['incoming', 'outgoing'] as const).map((side) => {
    const wallet = walletBytes(side === 'incoming' ? of.to : of.from);
    const bytes = recordBytes([{ side, count: 1, bytes: pack(of, side) }], { ...format, wallet, version: of.version });
    return Buffer.from(bytes).toString();
  }) as [string, string];
  expect(incoming).toBe(outgoing);
  return outgoing;
}

const MOST = 2n ** 256n - 1n;

describe('JSON on the wire', () => {
  test('numbers have every digit, or stand in quotes on request', () => {
    expect<string>(uint256Text(MOST, 'number')).toBe(
      '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    );
    expect<string>(uint256Text(9_007_199_254_740_993n, 'number')).toBe('9007199254740993');
    expect<string>(uint256Text(0n, 'string')).toBe('"0"');
  });

  test('a v2 record has exactly its five fields, and every token is a TOKEN', () => {
    const text = recordText(delegation('ERC1155', { contract: address(0), tokenId: 0n }), FORMAT);
    expect(JSON.parse(text)).toEqual({
      type: 'TOKEN',
      from: checksummed(COLD),
      to: checksummed(HOT),
      contract: address(0),
      tokenId: 0,
    });
  });

  test('contract and token id are null by type, never by value', () => {
    const fields = (text: string) => [JSON.parse(text).type, JSON.parse(text).contract, JSON.parse(text).tokenId];
    expect(fields(recordText(delegation('ALL'), FORMAT))).toEqual(['ALL', null, null]);
    expect(fields(recordText(delegation('CONTRACT', { contract: address(0) }), FORMAT))).toEqual([
      'CONTRACT',
      address(0),
      null,
    ]);
    expect(fields(recordText(delegation('ERC20', { contract: address(0) }), FORMAT))).toEqual([
      'TOKEN',
      address(0),
      null,
    ]);
  });

  test('a v1 record names delegate and vault', () => {
    expect(Object.keys(JSON.parse(recordText(delegation('TOKEN'), FORMAT)))).toEqual([
      'type',
      'delegate',
      'vault',
      'contract',
      'tokenId',
    ]);
  });

  test('in full detail it says what limits it and since when it holds', () => {
    const since = { block: 5, logIndex: 1, timestamp: 1_700_000_000, transactionHash: `0x${'1'.repeat(64)}` } as const;
    const held = (of: Delegation) => ({ ...of, since, casing: encodeCasing(encodeKey(of)) });
    const token = held(delegation('ERC20', { from: COLD, to: HOT, amount: MOST }));
    const full = JSON.parse(detailedRecordText(token, { mode: 'string', chainId: 137 }));
    expect(full).toMatchObject({
      standard: 'ERC20',
      amount: String(MOST),
      chainId: 137,
      rights: `0x${'0'.repeat(64)}`,
      since,
    });
    expect(JSON.parse(detailedRecordText(held(delegation('TOKEN')), { ...FORMAT, chainId: 1 }))).toMatchObject({
      standard: null,
      rights: null,
      amount: null,
    });
  });
});
