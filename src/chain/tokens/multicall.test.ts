// Many calls as one, against an encoder of its own: what is not exactly one word for each call is no answer.

import { describe, expect, test } from 'bun:test';
import { decodeFunctionData, encodeFunctionResult, multicall3Abi, pad } from 'viem';
import { address, CONTRACT } from '../../../test/support/fixtures.ts';
import { decodeAggregate, encodeAggregate } from './multicall.ts';
import { encodeBalanceOf } from './token-reader.ts';

const calls = [1, 2, 3].map((owner) => encodeBalanceOf(address(owner), null) as `0x${string}`);
const WORDS = ['0x05', '0x', `0x${'f'.repeat(64)}`].map((value) => pad(value as `0x${string}`));
const resultOf = (rows: readonly { success: boolean; returnData: `0x${string}` }[]) =>
  encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: rows });
const succeeded = WORDS.map((returnData) => ({ success: true, returnData }));

describe('aggregate3', () => {
  test('is called as its interface says, and each call may fail', () => {
    const { functionName, args } = decodeFunctionData({
      abi: multicall3Abi,
      data: encodeAggregate(CONTRACT, calls) as `0x${string}`,
    });
    expect(functionName).toBe('aggregate3');
    expect(args).toEqual([calls.map((callData) => ({ target: CONTRACT, allowFailure: true, callData }))]);
  });

  test('gives the word of each call', () => {
    expect(decodeAggregate(resultOf(succeeded), 3)).toEqual(WORDS);
  });

  test('gives nothing if a call failed, returned something else, or the rows are not those of the calls', () => {
    const [first, second, third] = succeeded as [(typeof succeeded)[0], (typeof succeeded)[0], (typeof succeeded)[0]];
    const others = [
      [first, { ...second, success: false }, third],
      [first, { ...second, returnData: '0x' as const }, third],
      [first, { ...second, returnData: pad('0x01', { size: 64 }) }, third],
      [first, { ...second, returnData: pad('0x01', { size: 31 }) }, third],
      [first, second],
      [first, second, third, third],
    ];
    for (const rows of others) expect(decodeAggregate(resultOf(rows), 3)).toBeNull();
    const data = resultOf(succeeded);
    for (const changed of ['0x', data.slice(0, -2), `${data}00`, data.replace(/^(0x.{63})0/, '$14')])
      expect(decodeAggregate(changed, 3)).toBeNull();
    // A row that begins elsewhere.
    expect(
      decodeAggregate(`${data.slice(0, 2 + 64 * 3)}${data.slice(2 + 64 * 2, 2 + 64 * 3)}${data.slice(2 + 64 * 4)}`, 3),
    ).toBeNull();
  });
});
