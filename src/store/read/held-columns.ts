// The columns of a span `s` that say what it grants and which log began it.

import type { DelegationKey } from '../../registry/delegation.ts';
import type { Row } from '../engine.ts';
import { decodeAmount, decodeHex, decodeNumber } from '../rows/cells.ts';
import type { At } from '../rows/columns.ts';
import type { DetailedDelegation, HeldDelegation } from '../store.ts';

/** How much a statement reads of the log that began a span: its position, or its time and transaction too. */
export interface HeldColumns<D extends HeldDelegation> {
  readonly names: readonly HeldColumn[];
  readonly expressions: Readonly<Partial<Record<HeldColumn, string>>>;
  readonly joins: string;
  decoder(at: At<HeldColumn>): (key: DelegationKey, row: Row) => D;
}

export type HeldColumn = 'amount' | 'since_block' | 'since_log' | 'since_time' | 'since_transaction';

export const PLAIN: HeldColumns<HeldDelegation> = {
  names: ['amount', 'since_block', 'since_log'],
  expressions: { amount: 's.amount', since_block: 's.since_block', since_log: 's.since_log' },
  joins: '',
  decoder:
    ({ amount, since_block, since_log }) =>
    (key, row) => ({
      ...key,
      amount: decodeAmount(row[amount]),
      since: { block: decodeNumber(row[since_block]), logIndex: decodeNumber(row[since_log]) },
    }),
};

export const DETAILED: HeldColumns<DetailedDelegation> = {
  names: [...PLAIN.names, 'since_time', 'since_transaction'],
  expressions: { ...PLAIN.expressions, since_time: 'o.timestamp', since_transaction: 'g.transaction_hash' },
  joins: `LEFT JOIN block o ON o.chain = s.chain AND o.number = s.since_block
    LEFT JOIN log g ON g.chain = s.chain AND g.block = s.since_block AND g.log_index = s.since_log`,
  decoder:
    ({ amount, since_block, since_log, since_time, since_transaction }) =>
    (key, row) => ({
      ...key,
      amount: decodeAmount(row[amount]),
      since: {
        block: decodeNumber(row[since_block]),
        logIndex: decodeNumber(row[since_log]),
        timestamp: decodeNumber(row[since_time]),
        transactionHash: decodeHex(row[since_transaction]),
      },
    }),
};
