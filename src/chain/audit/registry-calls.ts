// Asks the registries for checks and lists by `eth_call`: encodes the calls, and decodes the answers.

import { asksBalance, type Question } from '../../registry/check.ts';
import type { Address } from '../../registry/delegation.ts';
import type { Network } from '../../registry/network.ts';
import { word } from '../../registry/registry-call.ts';
import { decodeVaultState } from '../../registry/return-data.ts';
import { selectorOf } from '../../registry/scopes.ts';
import type { BlockId, Node } from '../rpc/node.ts';

/** The call data of a check. */
export function encodeCheck(question: Question): string {
  const words = [word(question.to), word(question.from)];
  if ('contract' in question) words.push(word(question.contract));
  if ('tokenId' in question) words.push(word(String(question.tokenId)));
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

/** getDelegatesForAll, getContractLevelDelegations, getTokenLevelDelegations. */
const GETTERS = ['0x1b61f675', '0xf956cf94', '0x6f007d87'];

/** All delegations of a wallet at the end of a block. Fails if the lists are too long for the node: anyone can make them so. */
export async function readVaultState(network: Network, node: Node, vault: Address, block: BlockId) {
  const calls = GETTERS.map((selector) => selector + word(vault));
  const [all = '', contracts = '', tokens = ''] = await node.ethCall(network.registries[1] as Address, calls, block);
  return decodeVaultState(vault, {
    getDelegatesForAll: all,
    getContractLevelDelegations: contracts,
    getTokenLevelDelegations: tokens,
  });
}
