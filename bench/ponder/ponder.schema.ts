import { onchainTable, primaryKey } from 'ponder';

/** What has no contract or token has the zero address or 0 there: columns of a primary key are never null. */
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
