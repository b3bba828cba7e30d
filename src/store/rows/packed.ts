// A delegation of a wallet as one run of bytes, for lists that are only written: kind, length of the token id, the other wallet, letter
// case, contract if it has one, token id. The database joins many of them into one cell, which costs far less than as many rows.

import { CASING_BYTES, writeCasing } from '../../registry/checksum.ts';
import { type DelegationKey, KINDS } from '../../registry/delegation.ts';
import type { Dialect } from '../engine.ts';
import type { ListSide } from '../store.ts';
import { decodeKind, encodeKey, type KeyCells } from './key-columns.ts';

/** Where the letter case of each address begins: of both wallets, and of the contract if there is one. */
export const CASING_AT = { from: 0, to: CASING_BYTES, contract: 2 * CASING_BYTES } as const;

export function encodeCasing([, from, to, contract]: KeyCells): Uint8Array {
  const casing = new Uint8Array(contract.length === 0 ? CASING_AT.contract : CASING_AT.contract + CASING_BYTES);
  writeCasing(from, casing, CASING_AT.from);
  writeCasing(to, casing, CASING_AT.to);
  if (contract.length > 0) writeCasing(contract, casing, CASING_AT.contract);
  return casing;
}

const ADDRESS_BYTES = 20;
const OTHER = 2;
const CASING = OTHER + ADDRESS_BYTES;

/** The column of the other wallet. */
export const OTHER_WALLET = { incoming: 'from_addr', outgoing: 'to_addr' } as const;

/** What the bytes are made of, as columns of a span `s`. */
const bytesOf = (side: ListSide) => [OTHER_WALLET[side], 'casing', 'contract', 'token_id'].map((name) => `s.${name}`);
export const packedColumns = (side: ListSide) => ['s.kind', ...bytesOf(side)].join(', ');

/** The bytes of a span `s`, and those of all spans `s` of a select, in an order. */
interface PackedSql {
  one(side: ListSide): string;
  all(side: ListSide, order: string): string;
}

const sqlite = (side: ListSide) => ['char(s.kind, length(s.token_id))', ...bytesOf(side)].join(' || ');
const postgres = (side: ListSide) =>
  ['int2send((256 * s.kind + length(s.token_id))::int2)', ...bytesOf(side)].join(' || ');
export const PACKED_SQL: Readonly<Record<Dialect['name'], PackedSql>> = {
  // What || and group_concat make is called a text, and has the same bytes. The rows are joined as they come.
  sqlite: {
    one: (side) => `CAST(${sqlite(side)} AS BLOB)`,
    all: (side) => `CAST(group_concat(${sqlite(side)}, '') AS BLOB)`,
  },
  postgres: { one: postgres, all: (side, order) => `string_agg(${postgres(side)}, ''::bytea ORDER BY ${order})` },
};

export function pack(key: DelegationKey, side: ListSide): Uint8Array {
  const cells = encodeKey(key);
  const [kind, from, to, contract, tokenId] = cells;
  const other = side === 'incoming' ? from : to;
  return Buffer.concat([Uint8Array.of(kind, tokenId.length), other, encodeCasing(cells), contract, tokenId]);
}

export type Unpacked = ReturnType<typeof unpack>;

/** Where the parts of a packed delegation begin. */
export function unpack(bytes: Uint8Array, start: number) {
  const kind = decodeKind(bytes[start]);
  const has = KINDS[kind];
  const casing = start + CASING;
  const contract = casing + CASING_AT.contract + (has.contract ? CASING_BYTES : 0);
  const tokenId = contract + (has.contract ? ADDRESS_BYTES : 0);
  return {
    kind,
    other: start + OTHER,
    /** The letter case of its addresses: see `CASING_AT`. */
    casing,
    /** Null if the kind has none, as the token id. */
    contract: has.contract ? contract : null,
    tokenId: has.tokenId ? tokenId : null,
    end: tokenId + (bytes[start + 1] as number),
  };
}
