// Encodes the registries' checks and lists as `eth_call` data, and decodes the answers.

import { asksBalance, type Question } from '../../registry/check.ts';
import type { Address } from '../../registry/delegation.ts';
import { selectorOf } from '../../registry/scopes.ts';

const word = (hex: string) => hex.slice(2).padStart(64, '0');

/** The call data of a check. */
export function encodeCheck(question: Question): string {
  const words = [word(question.to), word(question.from)];
  if ('contract' in question) words.push(word(question.contract));
  if ('tokenId' in question) words.push(question.tokenId.toString(16).padStart(64, '0'));
  if ('rights' in question) words.push(word(question.rights));
  return `0x${selectorOf(question.version, question.scope)}${words.join('')}`;
}

const LIST_SELECTORS = { incoming: '42f87c25', outgoing: '51525e9a' } as const;

/** The call data of a v2 list. */
export const encodeList = (list: { wallet: Address; direction: 'incoming' | 'outgoing' }): string =>
  `0x${LIST_SELECTORS[list.direction]}${word(list.wallet)}`;

/** Null if the return data is malformed. */
export function decodeAnswer(question: Question, data: string): boolean | bigint | null {
  if (!/^0x[0-9a-f]{64}$/.test(data)) return null;
  const value = BigInt(data);
  if (asksBalance(question)) return value;
  return value > 1n ? null : value === 1n;
}
