// Puts our token contracts on a real EVM, and sends their transactions.

import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import type { Rpc } from '../../src/chain/rpc/rpc.ts';
import type { Address, Bytes32 } from '../../src/registry/delegation.ts';
import { OWNER } from './evm-wallets.ts';

export const TOKENS = {
  Collection: `0x${'71'.repeat(20)}`,
  Cards: `0x${'72'.repeat(20)}`,
  Coin: `0x${'73'.repeat(20)}`,
  BadToken: `0x${'74'.repeat(20)}`,
} as const satisfies Record<string, Address>;

/** The ways of BadToken.sol, in its order. */
export const BAD_WAYS = [
  'reverts',
  'reverts with many bytes',
  'invalid opcode',
  'endless loop',
  'returns nothing',
  'returns 31 bytes',
  'returns 33 bytes',
  'returns 64 bytes',
  'returns many bytes',
  'returns all ones',
] as const;
export type BadWay = (typeof BAD_WAYS)[number];

export async function deployTokens(rpc: Rpc): Promise<void> {
  for (const name of ['Collection', 'Cards', 'Coin', 'BadToken'] as const)
    await rpc.call('hardhat_setCode', [TOKENS[name], artifacts[name].code]);
}

const SELECTORS = {
  mint721: '40c10f19',
  burn: '42966c68',
  transferFrom: '23b872dd',
  mint1155: '156e29f6',
  mint20: '40c10f19',
  transfer: 'a9059cbb',
  safeTransferFrom: 'f242432a',
} as const;

const word = (value: bigint | string) =>
  typeof value === 'string' ? value.slice(2).padStart(64, '0') : value.toString(16).padStart(64, '0');

/** Sends a transaction to a token contract; `from` must be funded. */
export const sendToken = (
  rpc: Rpc,
  token: keyof typeof TOKENS,
  name: keyof typeof SELECTORS,
  args: readonly (bigint | string)[],
  from: Address = OWNER,
) => {
  const tail = name === 'safeTransferFrom' ? [160n, 0n] : [];
  const data = `0x${SELECTORS[name]}${[...args, ...tail].map(word).join('')}`;
  return rpc.call('eth_sendTransaction', [{ from, to: TOKENS[token], data, gas: '0x2dc6c0' }]);
};

/** Chooses how BadToken answers, from the next block on. */
export async function setBadWay(rpc: Rpc, way: BadWay): Promise<void> {
  const value = `0x${BAD_WAYS.indexOf(way).toString(16).padStart(64, '0')}`;
  await rpc.call('hardhat_setStorageAt', [TOKENS.BadToken, '0x0', value]);
  await rpc.call('evm_mine', []);
}

export async function headHash(rpc: Rpc): Promise<Bytes32> {
  const { hash } = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { hash: Bytes32 };
  return hash;
}
