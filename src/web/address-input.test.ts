import { expect, test } from 'bun:test';
import { addressFault, findAddress } from './address-input.ts';

const GOOD = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

test.each([
  [GOOD, null],
  [GOOD.toLowerCase(), null],
  [GOOD.slice(0, -1), 'This has 39: 1 too few.'],
  [`${GOOD}00`, 'This has 42: 2 too many.'],
  ['0x', 'This has 0: 40 too few.'],
  [GOOD.replace('aad', 'aOd'), 'The character “O” at position 13 is not a hex digit.'],
  [GOOD.replace('F6F4', 'f6F4'), 'do not match the checksum'],
  [GOOD.slice(2), null],
  [`0x${'ab'.repeat(32)}`, 'This is the hash of a transaction'],
  [`https://etherscan.io/tx/0x${'ab'.repeat(32)}`, 'This is the hash of a transaction'],
  [`https://etherscan.io/token/${GOOD}?a=0x${'12'.repeat(20)}`, 'There are 2 addresses in this'],
  ['vitalik.eth', 'This is a name'],
  ['<script>', 'begins with 0x'],
])('%p is told what is wrong with it', (text, words) => {
  const fault = addressFault(text);
  if (words === null) expect(fault).toBeNull();
  else expect(fault).toContain(words);
});

test.each([
  [`eth:${GOOD}`],
  [`https://etherscan.io/address/${GOOD}#tokentxns`],
  [`https://etherscan.io/token/${GOOD}?a=${GOOD.toLowerCase()}`],
  [`${GOOD},`],
  [`  "${GOOD}" `],
  [GOOD.slice(2)],
  [GOOD.replace('0x', '0X')],
])('the one address in %p is found', (text) => {
  expect(findAddress(text)).toBe(GOOD);
  expect(addressFault(text)).toBeNull();
});

test.each([
  [''],
  [GOOD],
  [`${GOOD}0`],
  [`0x${'ab'.repeat(32)}`],
  [`${GOOD} 0x${'12'.repeat(20)}`],
  // A wrong character must not be left out.
  [`${GOOD.slice(0, -1)}g ${GOOD.slice(2, 20)}`],
])('%p stays as it is', (text) => {
  expect(findAddress(text)).toBe(text);
});

test('a wrong checksum is not repaired', () => {
  const wrong = GOOD.replace('F6F4', 'f6F4');
  expect(addressFault(findAddress(`eth:${wrong}`))).toContain('do not match the checksum');
  expect(addressFault(findAddress(wrong.slice(2)))).toContain('do not match the checksum');
});
