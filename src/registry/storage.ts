// Where the registries keep delegations in their storage, and what a check answers by those words. A delegation of v1 holds if its
// hash, which contains how often its wallet and its pair were revoked, is in the set of its wallet. One of v2 has five words at its hash.

import { type AnyQuestion, answer, grantingKeys, partsOf, type Question } from './check.ts';
import { type Address, type Bytes32, type Delegation, type DelegationKey, KINDS, NO_RIGHTS } from './delegation.ts';
import { keccakHex } from './keccak.ts';
import { word } from './registry-call.ts';
import type { Version } from './versions.ts';

const number = (value: bigint) => word(String(value));
/** A mapping's value is at the hash of its key and the mapping's own place. */
const at = (key: string, mapping: string) => keccakHex(key + mapping);
const after = (place: string, words: bigint): Bytes32 => `0x${number((BigInt(`0x${place}`) + words) % 2n ** 256n)}`;

const [SETS, VAULT_VERSIONS, DELEGATE_VERSIONS] = [0n, 1n, 2n].map(number) as [string, string, string];

/** v1: how often the vault has revoked all its delegates. */
export const vaultVersionSlot = (vault: Address): Bytes32 => `0x${at(word(vault), VAULT_VERSIONS)}`;

/** v1: how often everything from the vault to the delegate was revoked. */
export const delegateVersionSlot = (vault: Address, delegate: Address): Bytes32 =>
  `0x${at(word(delegate), at(word(vault), DELEGATE_VERSIONS))}`;

/** v1: not zero if the delegation holds, at versions that the two words above have. */
export function membershipSlot(key: DelegationKey, vaultVersion: bigint, delegateVersion: bigint): Bytes32 {
  const parts = [word(key.to), word(key.from)];
  if (key.contract !== null) parts.push(word(key.contract));
  if (key.tokenId !== null) parts.push(number(key.tokenId));
  const hash = keccakHex([...parts, number(vaultVersion), number(delegateVersion)].join(''));
  const set = at(number(vaultVersion), at(word(key.from), SETS));
  return `0x${at(hash, after(set, 1n).slice(2))}`;
}

/** v2: the contract's own id of a delegation, which ends with its type. */
export function delegationHash({ kind, from, to, contract, tokenId, rights }: DelegationKey): Bytes32 {
  const parts = [rights ?? NO_RIGHTS, from, to, contract ?? '0x'].map((part) => part.slice(2));
  const hash = keccakHex(parts.join('') + (tokenId === null ? '' : number(tokenId)));
  return `0x${hash.slice(2)}${KINDS[kind].code.toString(16).padStart(2, '0')}`;
}

const [DELEGATIONS, OUTGOING, INCOMING] = [0n, 1n, 2n].map(number) as [string, string, string];
/** The word of the amount. That of the wallet that granted is the first. */
const AMOUNT = 4n;

/** v2: the word that says whether a delegation holds, or its amount if it has one. */
export function grantSlot(key: DelegationKey): Bytes32 {
  const place = at(delegationHash(key).slice(2), DELEGATIONS);
  return after(place, KINDS[key.kind].amount ? AMOUNT : 0n);
}

/** v2: how many delegations a wallet has ever granted, or was ever granted, each counted once. */
export const listLengthSlot = (wallet: Address, direction: 'outgoing' | 'incoming'): Bytes32 =>
  `0x${at(word(wallet), direction === 'outgoing' ? OUTGOING : INCOMING)}`;

const ADDRESS = 2n ** 160n;

/** Reads a word of a registry. `means` says what it is, for people. */
export type ReadWord = (version: Version, slot: Bytes32, means: string) => bigint;

type Held = readonly Pick<Delegation, 'amount'>[];

/** Those of the delegations of one pair that a registry's words say hold. */
const HELD: { readonly [V in Version]: (keys: readonly DelegationKey[], read: ReadWord) => Held } = {
  1(keys, read) {
    const [first] = keys;
    if (first === undefined) return [];
    const { from, to } = first;
    const vaultVersion = read(1, vaultVersionSlot(from), `revocations of everything by ${from}`);
    const delegateVersion = read(1, delegateVersionSlot(from, to), `revocations of ${to} by ${from}`);
    const isHeld = (key: DelegationKey) =>
      read(1, membershipSlot(key, vaultVersion, delegateVersion), describe(key)) !== 0n;
    return keys.filter(isHeld).map(() => ({ amount: null }));
  },
  2: (keys, read) =>
    keys.flatMap((key): Held => {
      const found = read(2, grantSlot(key), describe(key));
      if (KINDS[key.kind].amount) return found === 0n ? [] : [{ amount: found }];
      return found % ADDRESS === BigInt(key.from) ? [{ amount: null }] : [];
    }),
};

function describe({ kind, from, to, contract, tokenId, rights }: DelegationKey): string {
  const token = tokenId === null ? '' : ` ${tokenId}`;
  const target = contract === null ? '' : `${token} of ${contract}`;
  const limit = rights === null || rights === NO_RIGHTS ? '' : `, rights ${rights}`;
  return `${kind}${target} from ${from} to ${to}${limit}`;
}

/** The answer of the registries, by their words: nine delegations at most, and two words more of v1. */
export const storedAnswer = (question: Question | AnyQuestion, read: ReadWord): boolean | bigint =>
  answer(
    question,
    partsOf(question).flatMap((part) => HELD[part.version](grantingKeys(part), read)),
  );
