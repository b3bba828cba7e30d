// Whether a v1 revocation that names no delegate ended what a wallet had granted another, by the registry's state.

import { createKeccak } from 'hash-wasm';
import { questionFor } from '../registry/check.ts';
import { type Address, type Bytes32, type DelegationKey, delegationId } from '../registry/delegation.ts';
import type { Network } from '../registry/network.ts';
import { decodeVaultState } from '../registry/v1-revocation.ts';
import type { HeldDelegation, LogPosition } from '../store/store.ts';
import type { BlockId, Node } from './node.ts';
import { answerOf, callOf } from './registry-calls.ts';

const keccak = await createKeccak(256);
const hashOf = (hex: string) => keccak.init().update(Uint8Array.fromHex(hex)).digest('hex');
const word = (hex: string) => hex.slice(2).padStart(64, '0');
const DELEGATE_VERSION_SLOT = '2'.padStart(64, '0');

/** The storage slot of the registry that changes exactly when a wallet's grants to a delegate are revoked together. */
export const versionSlot = (vault: Address, delegate: Address): Bytes32 =>
  `0x${hashOf(word(delegate) + hashOf(word(vault) + DELEGATE_VERSION_SLOT))}`;

export interface Pair {
  readonly vault: Address;
  readonly delegate: Address;
}

/** For each pair, whether the wallet's grants were revoked together in a block. Null where the node has no such state. */
export async function revokedIn(
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
    node.storage(registry, slots, block),
    node.storage(registry, slots, parent),
  ]);
  const isWord = (text: string | undefined) => text !== undefined && /^0x[0-9a-f]{1,64}$/.test(text);
  if (![...after, ...before].every(isWord)) return null;
  return after.map((value, position) => BigInt(value) !== BigInt(before[position] as string));
}

/** The three getters that tell all that a wallet has left in the v1 registry. */
const GETTERS = ['0x1b61f675', '0xf956cf94', '0x6f007d87'];

/** Everything that the registry has of a wallet at the end of a block. Anyone can make a wallet of which that is too much. */
export async function vaultState(
  network: Network,
  node: Node,
  vault: Address,
  block: BlockId,
): Promise<DelegationKey[]> {
  const calls = GETTERS.map((selector) => selector + word(vault));
  const [all = '', contracts = '', tokens = ''] = await node.read(network.registries[1] as Address, calls, block);
  return decodeVaultState(vault, {
    getDelegatesForAll: all,
    getContractLevelDelegations: contracts,
    getTokenLevelDelegations: tokens,
  });
}

/** The registry's own check of a delegation at the end of a block; null where the node cannot tell. */
export async function checkOf(
  network: Network,
  node: Node,
  key: DelegationKey,
  block: BlockId,
): Promise<boolean | null> {
  const question = questionFor(key);
  const [data = ''] = await node.read(network.registries[1] as Address, [callOf(question)], block);
  return answerOf(question, data) as boolean | null;
}

/** Whether the registry has a delegation, as far as can be told. */
export interface Oracle {
  isHeld(key: DelegationKey): Promise<boolean | null>;
  /** False where something wider gives the same answer. */
  readonly isExact: boolean;
}

/** A delegation of the pair that held by the logs, with the newest log that granted it. */
export type PairKey = HeldDelegation & { readonly granted: LogPosition };

export const isBefore = (a: LogPosition, b: LogPosition): boolean =>
  a.block < b.block || (a.block === b.block && a.logIndex < b.logIndex);

/**
 * The newest of some revocations, in order, that ended everything between two wallets; null for none, undefined where it
 * cannot be told. A key that was granted again after a revocation holds in any case: what was granted before and is gone, or
 * is still there, tells.
 */
export async function endedAt(
  keys: readonly PairKey[],
  revocations: readonly LogPosition[],
  { isHeld, isExact }: Oracle,
): Promise<LogPosition | null | undefined> {
  let surely: LogPosition | null = null;
  for (const revocation of revocations.toReversed()) {
    const older = keys.filter(({ since }) => isBefore(since, revocation));
    const telling = older.filter(({ granted }) => isBefore(granted, revocation));
    const [widest] = telling;
    if (older.length === 0) continue;
    if (widest === undefined) {
      // All of it was granted again: only since when it holds is in question. Since then it surely does.
      surely ??= revocation;
      continue;
    }
    const isThere = await isHeld(widest);
    if (isThere === false) return revocation;
    // Something wider that was granted later gives the same answer.
    const isHidden = !isExact && keys.some((key) => !telling.includes(key) && covers(key, widest));
    if (isThere === null || isHidden) return undefined;
  }
  return surely;
}

const covers = (wide: DelegationKey, narrow: DelegationKey): boolean =>
  wide.kind === 'ALL' || (wide.kind === 'CONTRACT' && narrow.kind === 'TOKEN' && wide.contract === narrow.contract);

/** What a list of the registry's says about each key: exact, whatever hides it from a check. */
export function heldIn(state: readonly DelegationKey[]): Oracle {
  const ids = new Set(state.map(delegationId));
  return { isHeld: async (key) => ids.has(delegationId(key)), isExact: true };
}
