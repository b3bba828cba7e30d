// How values stand in the store's columns: bytes as short as they go, so that an index entry stays small.

import {
  type Bytes32,
  type Delegation,
  type DelegationKey,
  KINDS,
  type Kind,
  NO_RIGHTS,
} from '../registry/delegation.ts';
import type { RegistryEvent } from '../registry/event.ts';
import type { Version } from '../registry/versions.ts';
import type { Cell, Row } from './engine.ts';

const EMPTY = new Uint8Array(0);
const ONE = new Uint8Array([1]);

export const bytesOf = (hex: string): Uint8Array => Uint8Array.fromHex(hex.slice(2));
export const hexOf = (cell: Cell): `0x${string}` => `0x${(cell as Uint8Array).toHex()}`;
export const numberOf = (cell: Cell): number => Number(cell);
export const numberOrNull = (cell: Cell): number | null => (cell === null ? null : Number(cell));

/** Big-endian without leading zeros; 0 is empty. */
export function uintBytes(value: bigint): Uint8Array {
  if (value === 0n) return EMPTY;
  const hex = value.toString(16);
  return Uint8Array.fromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
}

export function uintOf(cell: Cell): bigint {
  const bytes = cell as Uint8Array;
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toHex()}`);
}

/** Without trailing zeros, for rights are mostly short texts; unrestricted is empty. */
export function rightsBytes(rights: Bytes32): Uint8Array {
  let end = rights.length;
  while (end > 2 && rights[end - 1] === '0' && rights[end - 2] === '0') end -= 2;
  return end === 2 ? EMPTY : Uint8Array.fromHex(rights.slice(2, end));
}

export const rightsOf = (cell: Cell): Bytes32 => `0x${(cell as Uint8Array).toHex().padEnd(64, '0')}`;

/** The contract's own numbers, and one more for the token of v1. */
const KIND_CODES: Readonly<Record<Kind, number>> = { ALL: 1, CONTRACT: 2, ERC721: 3, ERC20: 4, ERC1155: 5, TOKEN: 6 };
const KIND_OF_CODE = new Map(Object.entries(KIND_CODES).map(([kind, code]) => [code, kind as Kind]));
const VAULT_REVOKED = 7;
export const DELEGATE_REVOKED = 8;

/** A delegation is encoded for its log, for its lookup and for its span: once for all of them. */
function memoized<T>(encode: (key: DelegationKey) => T): (key: DelegationKey) => T {
  const known = new WeakMap<DelegationKey, T>();
  return (key) => {
    let cells = known.get(key);
    if (cells === undefined) {
      cells = encode(key);
      known.set(key, cells);
    }
    return cells;
  };
}

/** kind, from, to, contract, token id, rights: the columns that name a delegation within its version. */
export type KeyCells = [number, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];

export const keyCells = memoized((key: DelegationKey) => cellsBetween(key, bytesOf(key.from), bytesOf(key.to)));

/** The same, where the wallets' bytes are known. */
export const cellsBetween = (key: DelegationKey, from: Uint8Array, to: Uint8Array): KeyCells => [
  KIND_CODES[key.kind],
  from,
  to,
  key.contract === null ? EMPTY : bytesOf(key.contract),
  key.tokenId === null ? EMPTY : uintBytes(key.tokenId),
  key.rights === null || key.rights === NO_RIGHTS ? EMPTY : rightsBytes(key.rights),
];

/** Reads the columns of `keyCells` from a row, from the given position on. */
export function keyOf(version: Version, row: Row, at: number): DelegationKey {
  const kind = KIND_OF_CODE.get(Number(row[at])) as Kind;
  const { contract, tokenId } = KINDS[kind];
  return {
    version,
    kind,
    from: hexOf(row[at + 1]),
    to: hexOf(row[at + 2]),
    contract: contract ? hexOf(row[at + 3]) : null,
    tokenId: tokenId ? uintOf(row[at + 4]) : null,
    rights: version === 1 ? null : rightsOf(row[at + 5]),
  };
}

export const amountCell = ({ amount }: Delegation): Uint8Array | null => (amount === null ? null : uintBytes(amount));
export const amountOf = (cell: Cell): bigint | null => (cell === null ? null : uintOf(cell));

/** version, then the key's columns, then the amount: 1 for a plain yes, nothing for an end. */
export function eventCells(event: RegistryEvent): [Version, ...KeyCells, Uint8Array] {
  switch (event.type) {
    case 'granted':
      return [event.delegation.version, ...keyCells(event.delegation), amountCell(event.delegation) ?? ONE];
    case 'ended':
      return [event.delegation.version, ...keyCells(event.delegation), EMPTY];
    case 'vaultRevoked':
      return [1, VAULT_REVOKED, bytesOf(event.from), EMPTY, EMPTY, EMPTY, EMPTY, EMPTY];
    case 'delegateRevoked':
      return [1, DELEGATE_REVOKED, bytesOf(event.from), bytesOf(event.to), EMPTY, EMPTY, EMPTY, EMPTY];
    case 'unknownRevoked':
      return [1, DELEGATE_REVOKED, bytesOf(event.from), bytesOf(event.from), EMPTY, EMPTY, EMPTY, EMPTY];
  }
}

/** Reads the columns of `eventCells` from a row, from the given position on. */
export function eventOf(row: Row, at: number): RegistryEvent {
  const code = Number(row[at + 1]);
  if (code === VAULT_REVOKED) return { type: 'vaultRevoked', from: hexOf(row[at + 2]) };
  if (code === DELEGATE_REVOKED) {
    const [from, to] = [hexOf(row[at + 2]), hexOf(row[at + 3])];
    return from === to ? { type: 'unknownRevoked', from } : { type: 'delegateRevoked', from, to };
  }
  const key = keyOf(Number(row[at]) as Version, row, at + 1);
  const amount = uintOf(row[at + 7]);
  if (amount === 0n) return { type: 'ended', delegation: key };
  return { type: 'granted', delegation: { ...key, amount: KINDS[key.kind].amount ? amount : null } };
}
