// What a list reads of each span, and how it decodes it.

import { KINDS } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import type { Row } from '../engine.ts';
import type { At } from '../rows/columns.ts';
import { decodeKind, type KeyColumn, keyDecoder } from '../rows/key-columns.ts';
import type { HeldDelegation, PackedDelegation } from '../store.ts';
import type { HeldColumn, HeldColumns } from './held-columns.ts';

type ListColumn = HeldColumn | 'casing';

/** The columns of a span `s` beside those of its key, and the decoder of a row. */
export interface ListRows<D> {
  readonly names: readonly ListColumn[];
  readonly expressions: Readonly<Partial<Record<ListColumn, string>>>;
  readonly joins: string;
  decoder(at: At<KeyColumn | ListColumn>, version: Version): (row: Row) => D;
}

export const decodedRows = <D extends HeldDelegation>(held: HeldColumns<D>): ListRows<D> => ({
  ...held,
  decoder(at, version) {
    const decodeKey = keyDecoder(at);
    const decodeHeld = held.decoder(at);
    return (row) => decodeHeld(decodeKey(version, row), row);
  },
});

/** The bytes as they are stored, for a list that is only written. */
export const PACKED: ListRows<PackedDelegation> = {
  names: ['casing', 'since_block', 'since_log'],
  expressions: { casing: 's.casing', since_block: 's.since_block', since_log: 's.since_log' },
  joins: '',
  decoder: ({ kind, from_addr, to_addr, contract, token_id, casing }) => {
    return (row) => {
      const name = decodeKind(row[kind]);
      const has = KINDS[name];
      return {
        kind: name,
        from: row[from_addr] as Uint8Array,
        to: row[to_addr] as Uint8Array,
        contract: has.contract ? (row[contract] as Uint8Array) : null,
        tokenId: has.tokenId ? (row[token_id] as Uint8Array) : null,
        casing: row[casing] as Uint8Array,
      };
    };
  },
};
