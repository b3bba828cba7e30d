// The wallets of simulated chains, what they delegate, and every call that they can make.

import type { Address, Bytes32 } from '../../src/registry/delegation.ts';

export const WALLETS = ['a1', 'b2', 'c3'].map((byte): Address => `0x${byte.repeat(20)}`) as [Address, Address, Address];
export const CONTRACTS = ['00', 'cc'].map((byte): Address => `0x${byte.repeat(20)}`);
export const IDS = ['0', String(2n ** 256n - 1n)];
export const RIGHTS = [`0x${'0'.repeat(64)}`, `0x${'766f7465'.padEnd(64, '0')}`] as Bytes32[];

export type Argument = 'wallet' | 'contract' | 'id' | 'rights' | 'flag' | 'erc20' | 'erc1155';

/** With the arguments of each. One that revokes a delegate without naming it is there twice, because it is the hardest to index. */
export const CALLS: readonly (readonly [registry: 'v1' | 'v2', name: string, ...Argument[]])[] = [
  ['v1', 'delegateForAll', 'wallet', 'flag'],
  ['v1', 'delegateForContract', 'wallet', 'contract', 'flag'],
  ['v1', 'delegateForToken', 'wallet', 'contract', 'id', 'flag'],
  ['v1', 'revokeAllDelegates'],
  ['v1', 'revokeDelegate', 'wallet'],
  ['v1', 'revokeDelegate', 'wallet'],
  ['v1', 'revokeSelf', 'wallet'],
  ['v2', 'delegateAll', 'wallet', 'rights', 'flag'],
  ['v2', 'delegateContract', 'wallet', 'contract', 'rights', 'flag'],
  ['v2', 'delegateERC721', 'wallet', 'contract', 'id', 'rights', 'flag'],
  ['v2', 'delegateERC20', 'wallet', 'contract', 'rights', 'erc20'],
  ['v2', 'delegateERC1155', 'wallet', 'contract', 'id', 'rights', 'erc1155'],
];
