// Reads the v1 registry's state at a block: which pairs were revoked in it, and what a wallet has delegated.

import { createKeccak } from 'hash-wasm';
import { questionFor } from '../registry/check.ts';
import type { Address, Bytes32, DelegationKey } from '../registry/delegation.ts';
import type { Network } from '../registry/network.ts';
import { decodeVaultState } from '../registry/v1-revocation.ts';
import type { BlockId, Node } from './node.ts';
import { decodeAnswer, encodeCheck } from './registry-calls.ts';

const keccak = await createKeccak(256);
const hash = (hex: string) => keccak.init().update(Uint8Array.fromHex(hex)).digest('hex');
const word = (hex: string) => hex.slice(2).padStart(64, '0');
const DELEGATE_VERSION_SLOT = '2'.padStart(64, '0');

/** The slot of `delegateVersion[vault][delegate]`. It changes exactly when all grants of the pair are revoked at once. */
const versionSlot = (vault: Address, delegate: Address): Bytes32 =>
  `0x${hash(word(delegate) + hash(word(vault) + DELEGATE_VERSION_SLOT))}`;

export interface Pair {
  readonly vault: Address;
  readonly delegate: Address;
}

/** For each pair, whether it was revoked in the block. Null if the node does not have the state. */
export async function readRevokedPairs(
  network: Network,
  node: Node,
  block: BlockId,
  pairs: readonly Pair[],
): Promise<boolean[] | null> {
  const registry = network.registries[1] as Address;
  const slots = pairs.map(({ vault, delegate }) => versionSlot(vault, delegate));
  const header = await node.header(block.number);
  if (header?.hash !== block.hash) return null;
  const parent = { number: block.number - 1, hash: header.parentHash };
  const [after, before] = await Promise.all([
    node.storageAt(registry, slots, block),
    node.storageAt(registry, slots, parent),
  ]);
  const isWord = (text: string | undefined) => text !== undefined && /^0x[0-9a-f]{1,64}$/.test(text);
  if (![...after, ...before].every(isWord)) return null;
  return after.map((value, position) => BigInt(value) !== BigInt(before[position] as string));
}

/** getDelegatesForAll, getContractLevelDelegations, getTokenLevelDelegations. */
const GETTERS = ['0x1b61f675', '0xf956cf94', '0x6f007d87'];

/** All delegations of a wallet at the end of a block. Fails if the lists are too long for the node: anyone can make them so. */
export async function readVaultState(
  network: Network,
  node: Node,
  vault: Address,
  block: BlockId,
): Promise<DelegationKey[]> {
  const calls = GETTERS.map((selector) => selector + word(vault));
  const [all = '', contracts = '', tokens = ''] = await node.ethCall(network.registries[1] as Address, calls, block);
  return decodeVaultState(vault, {
    getDelegatesForAll: all,
    getContractLevelDelegations: contracts,
    getTokenLevelDelegations: tokens,
  });
}

/** The registry's check of a delegation at the end of a block. Null if the answer is malformed. */
export async function checkDelegation(
  network: Network,
  node: Node,
  key: DelegationKey,
  block: BlockId,
): Promise<boolean | null> {
  const question = questionFor(key);
  const [data = ''] = await node.ethCall(network.registries[1] as Address, [encodeCheck(question)], block);
  return decodeAnswer(question, data) as boolean | null;
}
