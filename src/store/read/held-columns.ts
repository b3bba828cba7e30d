// The columns of a span `s` that say what it grants and which log began it.

import type { DelegationKey } from '../../registry/delegation.ts';
import type { Row } from '../engine.ts';
import { decodeAmount, decodeHex, decodeNumber } from '../rows/cells.ts';
import type { Cols } from '../rows/columns.ts';
import type { DetailedDelegation, HeldDelegation } from '../store.ts';

/** Looks up a block or a log of the chain $1. PostgreSQL might read the whole table for a join. */
const inTable = (table: string, column: string, condition: string) =>
  `(SELECT t.${column} FROM ${table} t WHERE t.chain = $1 AND ${condition})`;
export const hashOf = (block: string) => inTable('block', 'hash', `t.number = ${block}`);
export const timeOf = (block: string) => inTable('block', 'timestamp', `t.number = ${block}`);
export const transactionOf = (block: string, log: string) =>
  inTable('log', 'transaction_hash', `t.block = ${block} AND t.log_index = ${log}`);

export type HeldColumn = 'amount' | 'since_block' | 'since_log' | 'since_time' | 'since_transaction' | 'casing';

/** How much a statement reads of the log that began a span: its position, or its time and transaction too. */
export interface HeldColumns<D extends HeldDelegation> {
  readonly expressions: Readonly<Partial<Record<HeldColumn, string>>>;
  readonly joins?: string;
  decoder(col: Cols<HeldColumn>): (key: DelegationKey, row: Row) => D;
}

export const PLAIN: HeldColumns<HeldDelegation> = {
  expressions: { amount: 's.amount', since_block: 's.since_block', since_log: 's.since_log' },
  decoder:
    ({ amount, since_block, since_log }) =>
    (key, row) => ({
      ...key,
      amount: decodeAmount(row[amount]),
      since: { block: decodeNumber(row[since_block]), logIndex: decodeNumber(row[since_log]) },
    }),
};

export const DETAILED = {
  expressions: {
    ...PLAIN.expressions,
    since_time: timeOf('s.since_block'),
    since_transaction: transactionOf('s.since_block', 's.since_log'),
    casing: 's.casing',
  },
  decoder:
    ({ amount, since_block, since_log, since_time, since_transaction, casing }) =>
    (key, row) => ({
      ...key,
      amount: decodeAmount(row[amount]),
      since: {
        block: decodeNumber(row[since_block]),
        logIndex: decodeNumber(row[since_log]),
        timestamp: decodeNumber(row[since_time]),
        transactionHash: decodeHex(row[since_transaction]),
      },
      casing: row[casing] as Uint8Array,
    }),
} as const satisfies HeldColumns<DetailedDelegation>;

/** The same by joins, which cost a list on SQLite a twentieth less. */
export const JOINED: HeldColumns<DetailedDelegation> = {
  ...DETAILED,
  expressions: { ...DETAILED.expressions, since_time: 'o.timestamp', since_transaction: 'g.transaction_hash' },
  joins: `LEFT JOIN block o ON o.chain = s.chain AND o.number = s.since_block
    LEFT JOIN log g ON g.chain = s.chain AND g.block = s.since_block AND g.log_index = s.since_log`,
};
