// What a delegation is. One vocabulary for both registries: `from` is the cold wallet that grants (v1: the vault),
// `to` is the hot wallet that may act (v1: the delegate).

import { hasRights, type Version } from './versions.ts';

/** `0x` and 40 lower-case hex digits. */
export type Address = `0x${string}`;

export const ZERO_ADDRESS: Address = `0x${'0'.repeat(40)}`;
/** `0x` and 64 lower-case hex digits. */
export type Bytes32 = `0x${string}`;

export type Kind = 'ALL' | 'CONTRACT' | 'TOKEN' | 'ERC721' | 'ERC20' | 'ERC1155';

/** What makes two grants the same delegation. Which fields are null is decided by version and kind, never by value. */
export interface DelegationKey {
  readonly version: Version;
  readonly kind: Kind;
  readonly from: Address;
  readonly to: Address;
  /** Null for ALL. The zero address is a real contract. */
  readonly contract: Address | null;
  /** Null but for TOKEN, ERC721 and ERC1155. Zero is a real id. */
  readonly tokenId: bigint | null;
  /** Null in a version without rights. */
  readonly rights: Bytes32 | null;
}

export interface Delegation extends DelegationKey {
  /** How much of an ERC20 or ERC1155 is delegated, never 0; null for every other kind. */
  readonly amount: bigint | null;
}

export const MAX_UINT256 = 2n ** 256n - 1n;
/** The rights of an unrestricted v2 delegation. */
export const NO_RIGHTS: Bytes32 = `0x${'0'.repeat(64)}`;

/** The kinds of each version. */
export const KINDS_OF: { readonly [V in Version]: readonly Kind[] } = {
  1: ['ALL', 'CONTRACT', 'TOKEN'],
  2: ['ALL', 'CONTRACT', 'ERC721', 'ERC20', 'ERC1155'],
};

/** The fields that a kind has. */
export const KINDS: Readonly<Record<Kind, KindShape>> = {
  ALL: { code: 1, contract: false, tokenId: false, amount: false },
  CONTRACT: { code: 2, contract: true, tokenId: false, amount: false },
  TOKEN: { code: 6, contract: true, tokenId: true, amount: false },
  ERC721: { code: 3, contract: true, tokenId: true, amount: false },
  ERC20: { code: 4, contract: true, tokenId: false, amount: true },
  ERC1155: { code: 5, contract: true, tokenId: true, amount: true },
};

interface KindShape {
  /** The v2 contract's own number, and 6 for the token of v1. The store has it too. */
  readonly code: number;
  readonly contract: boolean;
  readonly tokenId: boolean;
  readonly amount: boolean;
}

export const sameDelegation = (a: DelegationKey, b: DelegationKey): boolean =>
  a.kind === b.kind &&
  a.from === b.from &&
  a.to === b.to &&
  a.contract === b.contract &&
  a.tokenId === b.tokenId &&
  a.rights === b.rights &&
  a.version === b.version;

/** A text that two keys share exactly when they name the same delegation. */
export const delegationId = (key: DelegationKey): string =>
  `${key.version}${key.kind}${key.from}${key.to}${key.contract}:${key.tokenId?.toString(36)}:${key.rights}`;

/** 1 for the code of each lower-case hex digit. */
const IS_DIGIT = Uint8Array.from({ length: 128 }, (_, code) => Number(/[0-9a-f]/.test(String.fromCharCode(code))));

/** `0x` and so many lower-case hex digits. A regular expression takes twice as long, for half of what reading a question takes. */
function isHex(value: unknown, digits: number): boolean {
  if (typeof value !== 'string' || value.length !== 2 + digits || !value.startsWith('0x')) return false;
  let all = 1;
  for (let at = 2; at < value.length; at++) all &= IS_DIGIT[value.charCodeAt(at)] ?? 0;
  return all === 1;
}

export const isAddress = (value: unknown): value is Address => isHex(value, 40);
export const isBytes32 = (value: unknown): value is Bytes32 => isHex(value, 64);
export const isUint256 = (value: unknown): value is bigint =>
  typeof value === 'bigint' && value >= 0n && value <= MAX_UINT256;

/** What is wrong with a key, in words, or null for a good one. */
export function faultOfKey(key: DelegationKey): string | null {
  if (!Object.hasOwn(KINDS, key.kind)) return `kind ${key.kind} is unknown`;
  const shape = KINDS[key.kind];
  if (!KINDS_OF[key.version]?.includes(key.kind)) return `kind ${key.kind} is not of version ${key.version}`;
  if (!isAddress(key.from)) return `from ${key.from} is not a lower-case address`;
  if (!isAddress(key.to)) return `to ${key.to} is not a lower-case address`;
  if (shape.contract ? !isAddress(key.contract) : key.contract !== null) return `contract ${key.contract} is wrong`;
  if (shape.tokenId ? !isUint256(key.tokenId) : key.tokenId !== null) return `tokenId ${key.tokenId} is wrong`;
  if (hasRights(key.version) ? !isBytes32(key.rights) : key.rights !== null) return `rights ${key.rights} is wrong`;
  return null;
}

/** What is wrong with a delegation, in words, or null for a good one. */
export function faultOfDelegation(delegation: Delegation): string | null {
  const fault = faultOfKey(delegation);
  if (fault !== null) return fault;
  const { kind, amount } = delegation;
  const isWrong = KINDS[kind].amount ? !isUint256(amount) || amount === 0n : amount !== null;
  return isWrong ? `amount ${amount} is wrong for ${kind}` : null;
}
