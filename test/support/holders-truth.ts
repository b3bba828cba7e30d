// What a token gate must answer, from direct calls of the token and of both registries at a block.

import { decodeAnswer, encodeCheck } from '../../src/chain/audit/registry-answers.ts';
import type { Rpc } from '../../src/chain/rpc/rpc.ts';
import { encodeBalanceOf, encodeOwnerOf } from '../../src/chain/tokens/token-reader.ts';
import { type AnyQuestion, partsOf } from '../../src/registry/check.ts';
import { type Address, type Bytes32, MAX_UINT256 } from '../../src/registry/delegation.ts';
import { MAINNET } from './vectors.ts';

export interface Asked {
  readonly wallet: Address;
  readonly contract: Address;
  readonly tokenId?: bigint;
  readonly standard?: 'ERC721' | 'ERC1155' | 'ERC20';
  readonly rights: Bytes32;
}

/** The body of an answer. */
export interface Holders {
  readonly holds: boolean | null;
  readonly block: { readonly number: number; readonly hash: Bytes32 };
  readonly holders: readonly {
    readonly owner: string;
    readonly balance: string;
    readonly delegations: readonly { readonly version: number }[];
  }[];
  readonly next: string | null;
}

/** Each holder with its balance, sorted. `people` are all that can own or delegate something. */
export async function holdersAt(
  rpc: Rpc,
  { wallet, contract, tokenId, standard, rights }: Asked,
  people: readonly Address[],
  blockHash: Bytes32,
): Promise<string[]> {
  const call = (to: string, data: string) => rpc.call('eth_call', [{ to, data }, { blockHash }]) as Promise<string>;
  const scope =
    standard === 'ERC20' ? 'erc20' : standard === 'ERC1155' ? 'erc1155' : tokenId === undefined ? 'contract' : 'erc721';
  /** The most that either registry says the wallet may use. */
  const granted = async (from: Address): Promise<bigint> => {
    if (from === wallet) return MAX_UINT256;
    const target = { scope, contract, rights, ...(tokenId === undefined ? {} : { tokenId }) };
    const question = { version: 'any', from, to: wallet, ...target } as AnyQuestion;
    const answers = await Promise.all(
      partsOf(question).map(async (part) =>
        decodeAnswer(part, await call(MAINNET.registries[part.version] as string, encodeCheck(part))),
      ),
    );
    const amounts = answers.map((one) => (typeof one === 'bigint' ? one : one === true ? MAX_UINT256 : 0n));
    return amounts.reduce((most, one) => (one > most ? one : most), 0n);
  };
  const balanceOf = async (owner: Address): Promise<bigint> => {
    if (scope !== 'erc721') return BigInt(await call(contract, encodeBalanceOf(owner, tokenId ?? null)));
    const found = await call(contract, encodeOwnerOf(tokenId ?? 0n)).catch(() => '0x0');
    return BigInt(found) === BigInt(owner) ? 1n : 0n;
  };
  const rows = await Promise.all(
    people.map(async (owner) => {
      const [balance, most] = await Promise.all([balanceOf(owner), granted(owner)]);
      return { owner, balance: balance < most ? balance : most };
    }),
  );
  return rows
    .filter(({ balance }) => balance > 0n)
    .map(({ owner, balance }) => `${owner} ${balance}`)
    .sort();
}
