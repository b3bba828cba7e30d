// What a list reads of each span, and how it decodes it.

import type { Version } from '../../registry/versions.ts';
import type { Dialect, Row } from '../engine.ts';
import { type At, ofTable } from '../rows/columns.ts';
import { KEY, type KeyColumn, keyDecoder } from '../rows/key-columns.ts';
import { PACKED_SQL } from '../rows/packed.ts';
import type { HeldDelegation, ListSide, PackedDelegation } from '../store.ts';
import type { HeldColumn, HeldColumns } from './held-columns.ts';

type ListColumn = KeyColumn | HeldColumn | 'packed';

/** The columns of a span `s`, and the decoder of a row. */
export interface ListRows<D> {
  readonly names: readonly ListColumn[];
  expressions(side: ListSide): Readonly<Partial<Record<ListColumn, string>>>;
  readonly joins: string;
  decoder(at: At<ListColumn>, version: Version): (row: Row, side: ListSide) => D;
}

export const decodedRows = <D extends HeldDelegation>(held: HeldColumns<D>): ListRows<D> => ({
  names: [...KEY.names, ...held.names],
  expressions: () => ({ ...ofTable('s', KEY.names), ...held.expressions }),
  joins: held.joins,
  decoder(at, version) {
    const decodeKey = keyDecoder(at);
    const decodeHeld = held.decoder(at);
    return (row) => decodeHeld(decodeKey(version, row), row);
  },
});

/** The bytes of each, for a list that is only written. */
export const packedRows = (dialect: Dialect['name']): ListRows<PackedDelegation> => ({
  names: ['packed', 'since_block', 'since_log'],
  expressions: (side) => ({
    packed: PACKED_SQL[dialect].one(side),
    since_block: 's.since_block',
    since_log: 's.since_log',
  }),
  joins: '',
  decoder:
    ({ packed }) =>
    (row, side) => ({ side, bytes: row[packed] as Uint8Array }),
});
