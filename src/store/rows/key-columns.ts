// The columns that identify a delegation within its version.

import { type DelegationKey, KINDS, type Kind, NO_RIGHTS } from '../../registry/delegation.ts';
import { hasRights, type Version } from '../../registry/versions.ts';
import type { Cell, Row } from '../engine.ts';
import { decodeHex, decodeRights, decodeUint, EMPTY, encodeHex, encodeRights, encodeUint } from './cells.ts';
import { type Cols, type ColumnTypes, columnsOf } from './columns.ts';

/** In the order of `KeyCells`. */
export const KEY_TYPES = {
  kind: 'smallint',
  from_addr: 'bytea',
  to_addr: 'bytea',
  contract: 'bytea',
  token_id: 'bytea',
  rights: 'bytea',
} as const satisfies ColumnTypes;

export const KEY = columnsOf(KEY_TYPES);
/** What a delegation is looked up by: the index hashes of its delegate and its key, and all of the key itself. */
export const LOOKUP_TYPES = { hot: 'bigint', key: 'bigint', version: 'smallint', ...KEY_TYPES } as const;
export type KeyColumn = keyof typeof KEY_TYPES;

type Bytes = Uint8Array;
export type KeyCells = [kind: number, from: Bytes, to: Bytes, contract: Bytes, tokenId: Bytes, rights: Bytes];

const KIND_OF_CODE: Readonly<Record<number, Kind>> = Object.fromEntries(
  Object.entries(KINDS).map(([kind, { code }]) => [code, kind as Kind]),
);

/** The kind of a code that the store has written. */
export const decodeKind = (cell: Cell): Kind => KIND_OF_CODE[Number(cell)] as Kind;

const encoded = new WeakMap<DelegationKey, KeyCells>();

/** Encodes a key once for its log, its lookup and its span. */
export const encodeKey = (key: DelegationKey): KeyCells =>
  encoded.getOrInsertComputed(key, () => encodeKeyBetween(key, encodeHex(key.from), encodeHex(key.to)));

/** The same, where the bytes of both wallets are known. */
export const encodeKeyBetween = (key: DelegationKey, from: Uint8Array, to: Uint8Array): KeyCells => [
  KINDS[key.kind].code,
  from,
  to,
  key.contract === null ? EMPTY : encodeHex(key.contract),
  key.tokenId === null ? EMPTY : encodeUint(key.tokenId),
  key.rights === null || key.rights === NO_RIGHTS ? EMPTY : encodeRights(key.rights),
];

export function keyDecoder(col: Cols<KeyColumn>) {
  const { kind, from_addr, to_addr, contract, token_id, rights } = col;
  return (version: Version, row: Row): DelegationKey => {
    const name = decodeKind(row[kind]);
    const has = KINDS[name];
    return {
      version,
      kind: name,
      from: decodeHex(row[from_addr]),
      to: decodeHex(row[to_addr]),
      contract: has.contract ? decodeHex(row[contract]) : null,
      tokenId: has.tokenId ? decodeUint(row[token_id]) : null,
      rights: hasRights(version) ? decodeRights(row[rights]) : null,
    };
  };
}
