// Expressions that look up a block or a log of the chain $1. PostgreSQL might read the whole table for a join.

const inTable = (table: string, column: string, condition: string) =>
  `(SELECT t.${column} FROM ${table} t WHERE t.chain = $1 AND ${condition})`;

export const hashOf = (block: string) => inTable('block', 'hash', `t.number = ${block}`);
export const timeOf = (block: string) => inTable('block', 'timestamp', `t.number = ${block}`);
export const transactionOf = (block: string, log: string) =>
  inTable('log', 'transaction_hash', `t.block = ${block} AND t.log_index = ${log}`);

/** The columns of a span `s` that `DETAILED` decodes. */
export const LOOKED_UP = {
  amount: 's.amount',
  since_block: 's.since_block',
  since_log: 's.since_log',
  since_time: timeOf('s.since_block'),
  since_transaction: transactionOf('s.since_block', 's.since_log'),
} as const;
