import { expect, test } from 'bun:test';
import { addressFault } from './address-fault.ts';

const GOOD = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

test.each([
  [GOOD, null],
  [GOOD.toLowerCase(), null],
  [GOOD.slice(0, -1), 'This has 39: 1 too few.'],
  [`${GOOD}00`, 'This has 42: 2 too many.'],
  ['0x', 'This has 0: 40 too few.'],
  [GOOD.replace('aad', 'aOd'), 'The character “O” at position 13 is not a hex digit.'],
  [GOOD.replace('F6F4', 'f6F4'), 'do not match the checksum'],
  [GOOD.slice(2), 'begins with 0x'],
  ['vitalik.eth', 'Names are not looked up here'],
  ['<script>', 'begins with 0x'],
])('%p is told what is wrong with it', (text, words) => {
  const fault = addressFault(text);
  if (words === null) expect(fault).toBeNull();
  else expect(fault).toContain(words);
});
