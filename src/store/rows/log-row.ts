// A row of the log table: the event, where it is, and its transaction.

import { KINDS } from '../../registry/delegation.ts';
import type { RegistryEvent } from '../../registry/event.ts';
import type { Version } from '../../registry/versions.ts';
import type { Row } from '../engine.ts';
import type { LogInput, LogPosition } from '../store.ts';
import { decodeHex, decodeHexOrNull, decodeNumber, decodeUint, EMPTY, encodeAmount, encodeHex } from './cells.ts';
import { type Cols, type ColumnTypes, columnsOf } from './columns.ts';
import { encodeKey, KEY_TYPES, type KeyCells, type KeyColumn, keyDecoder } from './key-columns.ts';

/** In the order in which a log is inserted. */
export const LOG_TYPES = {
  block: 'bigint',
  log_index: 'bigint',
  version: 'smallint',
  ...KEY_TYPES,
  amount: 'bytea',
  transaction_hash: 'bytea',
  revoked: 'bytea',
} as const satisfies ColumnTypes;

export const LOG = columnsOf(LOG_TYPES);

export type StoredLog = Required<LogInput> & LogPosition;

/** Codes of `kind` beyond those of delegations. */
const VAULT_REVOKED = 7;
const DELEGATE_REVOKED = 8;
/** The amount of a grant of a kind that has none. The amount of an end is empty. */
const ONE = new Uint8Array([1]);

/** In the order of `LOG_TYPES`, from `version` to `amount`. */
export function encodeEvent(event: RegistryEvent): [version: Version, ...key: KeyCells, amount: Uint8Array] {
  switch (event.type) {
    case 'granted':
      return [event.delegation.version, ...encodeKey(event.delegation), encodeAmount(event.delegation.amount) ?? ONE];
    case 'ended':
      return [event.delegation.version, ...encodeKey(event.delegation), EMPTY];
    case 'vaultRevoked':
      return [1, VAULT_REVOKED, encodeHex(event.from), EMPTY, EMPTY, EMPTY, EMPTY, EMPTY];
    case 'delegateRevoked':
      return [1, DELEGATE_REVOKED, encodeHex(event.from), encodeHex(event.to), EMPTY, EMPTY, EMPTY, EMPTY];
    case 'unknownRevoked':
      return [1, DELEGATE_REVOKED, encodeHex(event.from), encodeHex(event.from), EMPTY, EMPTY, EMPTY, EMPTY];
  }
}

export function eventDecoder(col: Cols<'version' | KeyColumn | 'amount'>) {
  const decodeKey = keyDecoder(col);
  const { version, kind, from_addr, to_addr, amount } = col;
  return (row: Row): RegistryEvent => {
    const code = decodeNumber(row[kind]);
    if (code === VAULT_REVOKED) return { type: 'vaultRevoked', from: decodeHex(row[from_addr]) };
    if (code === DELEGATE_REVOKED) {
      const [from, to] = [decodeHex(row[from_addr]), decodeHex(row[to_addr])];
      return from === to ? { type: 'unknownRevoked', from } : { type: 'delegateRevoked', from, to };
    }
    const key = decodeKey(decodeNumber(row[version]) as Version, row);
    const granted = decodeUint(row[amount]);
    if (granted === 0n) return { type: 'ended', delegation: key };
    return { type: 'granted', delegation: { ...key, amount: KINDS[key.kind].amount ? granted : null } };
  };
}

export function logDecoder(col: typeof LOG.col) {
  const decodeEvent = eventDecoder(col);
  const { block, log_index, transaction_hash, revoked } = col;
  return (row: Row): StoredLog => ({
    block: decodeNumber(row[block]),
    logIndex: decodeNumber(row[log_index]),
    event: decodeEvent(row),
    transactionHash: decodeHex(row[transaction_hash]),
    revoked: decodeHexOrNull(row[revoked]),
  });
}

/** Decodes a row of `SELECT ${LOG.sql}`. */
export const decodeLog = logDecoder(LOG.col);

/** The v1 revocations of the wallet in $2, of the chain in $1, that name no delegate. */
export const REVOCATION_LOGS = `FROM log WHERE chain = $1 AND version = 1 AND kind = ${DELEGATE_REVOKED}
  AND from_addr = $2 AND to_addr = $2 AND revoked IS NULL`;
