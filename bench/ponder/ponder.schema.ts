import { onchainTable, primaryKey } from 'ponder';

/** Delegations without a contract or token have the zero address or 0: columns of a primary key cannot be null. */
export const delegation = onchainTable(
  'delegation',
  (t) => ({
    from: t.hex().notNull(),
    to: t.hex().notNull(),
    type: t.text().notNull(),
    contract: t.hex().notNull(),
    tokenId: t.bigint().notNull(),
    rights: t.hex().notNull(),
    amount: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.from, table.to, table.type, table.contract, table.tokenId, table.rights] }),
  }),
);
